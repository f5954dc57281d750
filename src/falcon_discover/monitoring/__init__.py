"""After the audit: what later rows hold, which labels to doubt, what reviewers teach."""
