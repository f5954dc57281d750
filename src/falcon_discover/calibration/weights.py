"""Calibration weights: emphasis on confident errors and on states that warn of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import State


def calibration_weights(state: State, false_confidence: npt.ArrayLike) -> FloatArray:
    """Return w_cal of each calibration row (eq:cal_weight)."""
    weights, psi = PAPER.calibration_weights, state.signals
    return np.asarray(
        weights["confidence"] * psi["confidence"]
        + weights["missing_support"] * (1.0 - psi["support"])
        + weights["label_disagreement"] * (1.0 - psi["label_agreement"])
        + weights["mean_drift"] * psi["mean_drift"]
        + weights["label_inconsistency"] * (1.0 - psi["label_consistency"])
        + weights["false_confidence"] * np.asarray(false_confidence, dtype=np.float64),
        dtype=np.float64,
    )


def training_weights(weights: FloatArray) -> FloatArray:
    """Return weights clipped for calibration training: at least 0.5, at most the 98th percentile.

    Examples
    --------
    >>> training_weights(np.array([0.1, 1.0, 9.0])).round(2).tolist()
    [0.5, 1.0, 8.68]
    """
    low = PAPER.calibration_weight_floor
    high = float(np.quantile(weights, PAPER.calibration_weight_quantile))
    return np.clip(weights, low, max(high, low))
