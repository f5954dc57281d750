"""The ten signals of the discrepancy state."""
