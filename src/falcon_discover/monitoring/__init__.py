"""Life after the audit: unlabelled batches, drift, doubtful labels, learning from reviewers."""
