"""The numbers behind every figure, as frames; plots and reports draw them."""

from falcon_discover.evaluation.curves.capture import capture_curve, missed_curve, random_band
from falcon_discover.evaluation.curves.confidence import confidence_histogram, reliability
from falcon_discover.evaluation.curves.signals import signal_strength

__all__ = [
    "capture_curve",
    "confidence_histogram",
    "missed_curve",
    "random_band",
    "reliability",
    "signal_strength",
]
