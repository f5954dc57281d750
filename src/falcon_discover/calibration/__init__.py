"""Calibration that acts on the finding: weights, and calibrators that may use the state."""

from falcon_discover.calibration.discrepancy import Discrepancy
from falcon_discover.calibration.model import CalibratedModel, fitted_calibrator
from falcon_discover.calibration.weights import calibration_weights, training_weights

__all__ = [
    "CalibratedModel",
    "Discrepancy",
    "calibration_weights",
    "fitted_calibrator",
    "training_weights",
]
