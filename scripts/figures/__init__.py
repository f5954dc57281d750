"""Committed results as Markdown, a file for each group of pages."""
