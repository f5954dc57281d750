"""Figures, each from plain results; matplotlib is only needed here."""

from falcon_discover.plots.regions import conflict_map
from falcon_discover.plots.weights import weight_profile

__all__ = ["conflict_map", "weight_profile"]
