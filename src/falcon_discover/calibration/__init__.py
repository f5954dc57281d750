"""Calibration that acts on the finding: weights, and calibrators that may use the state."""

from falcon_discover.calibration.discrepancy import Discrepancy
from falcon_discover.calibration.model import METHODS, CalibratedModel, fitted_calibrator
from falcon_discover.calibration.weights import calibration_weights, training_weights

__all__ = [
    "METHODS",
    "CalibratedModel",
    "Discrepancy",
    "calibration_weights",
    "fitted_calibrator",
    "training_weights",
]
