"""The learned failure predictor: the witness's model with any error as its target."""

from __future__ import annotations

import numpy as np

from falcon_discover.rankers.learned import standardised_logit
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER


def failure_scores(
    signals: FloatArray, wrong: BoolArray, new: FloatArray, counts: FloatArray | None = None
) -> FloatArray:
    """Return the probability of being wrong, learned from rows with known outcome.

    Standardised signals, L2 logistic regression with C = 1, weight 2 on errors.

    Parameters
    ----------
    counts : how many rows each stands for
    """
    if wrong.all() or not wrong.any():
        return np.full(len(new), float(wrong.mean()))
    weight = np.where(wrong, PAPER.failure_weight, 1.0)
    fitted = standardised_logit(signals, wrong, weight, counts)
    return np.asarray(fitted.predict_proba(new)[:, 1], dtype=np.float64)
