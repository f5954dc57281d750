"""The paper's benchmark: its printed values, and the means to recompute them."""
