"""Native certainty: confidence, margin and entropy of the model's own score."""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from falcon_discover.metrics import confidence
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER


def certainty_signals(
    p: FloatArray, threshold: float = PAPER.decision_threshold
) -> dict[str, FloatArray]:
    """Return confidence, margin and entropy (eq:confidence, eq:margin, eq:entropy).

    Of more than two classes, the margin is between the two likeliest, and the entropy is brought
    to the scale of two: its largest value is log 2.

    Parameters
    ----------
    p, threshold : as in `metrics.decided`

    Examples
    --------
    >>> certainty_signals(np.array([0.5]))["entropy"].round(4)
    array([0.6931])
    >>> certainty_signals(np.array([[0.2, 0.3, 0.5]]))["margin"].round(4)
    array([0.2])
    """
    sure = confidence(p, threshold)
    if p.ndim == 2:
        second, first = np.sort(p, axis=1)[:, -2:].T
        scale = np.log(2) / np.log(p.shape[1])
        return {
            "confidence": sure,
            "margin": first - second,
            "entropy": entr(p).sum(axis=1) * scale,
        }
    return {
        "confidence": sure,
        "margin": np.abs(2.0 * p - 1.0),
        "entropy": entr(p) + entr(1.0 - p),
    }
