"""Every statistical claim of the package, checked by simulation with known truth."""
