"""Figures, each from plain results; matplotlib is only needed here.

Those that need scikit-learn are in `accessor.py`, `calibration.py` and `signals.py`, which the
benchmark's figures do without.
"""

from falcon_discover.plots.confidence import confidence_plot, reliability_plot
from falcon_discover.plots.regions import conflict_map, region_plot
from falcon_discover.plots.review import capture_plot, guarantee_plot
from falcon_discover.plots.weights import weight_profile

__all__ = [
    "capture_plot",
    "confidence_plot",
    "conflict_map",
    "guarantee_plot",
    "region_plot",
    "reliability_plot",
    "weight_profile",
]
