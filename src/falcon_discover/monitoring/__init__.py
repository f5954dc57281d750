"""Life after the audit: unlabelled batches, drift, labels that arrive later."""
