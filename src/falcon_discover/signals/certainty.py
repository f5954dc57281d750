"""Native certainty: confidence, margin and entropy of the model's own score."""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from falcon_discover.metrics import confidence
from falcon_discover.runtime.types import FloatArray


def certainty_signals(p: FloatArray) -> dict[str, FloatArray]:
    """Return confidence, margin and entropy (eq:confidence, eq:margin, eq:entropy).

    Examples
    --------
    >>> certainty_signals(np.array([0.5]))["entropy"].round(4)
    array([0.6931])
    """
    return {
        "confidence": confidence(p),
        "margin": np.abs(2.0 * p - 1.0),
        "entropy": entr(p) + entr(1.0 - p),
    }
