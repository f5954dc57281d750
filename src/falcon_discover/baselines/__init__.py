"""What the paper compares with: calibrators, TrustScore, a failure predictor."""
