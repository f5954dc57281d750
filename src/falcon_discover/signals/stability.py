"""Stability: how the model's score moves when a row is mixed with its neighbours."""

from __future__ import annotations

import numpy as np

from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.runtime.types import BoolArray, FloatArray


def stability_signals(p: FloatArray, p_mixed: FloatArray, same: BoolArray) -> dict[str, FloatArray]:
    """Return drift, label consistency and logit variance over the mixes of each row.

    Parameters
    ----------
    p : score of each row: the probability of the positive class, or of its decided class
    p_mixed : scores of its mixes, one row per row (eq:mean_drift to eq:logit_var)
    same : which of the mixes are decided as the row is

    Examples
    --------
    >>> signals = stability_signals(
    ...     np.array([0.6]), np.array([[0.4, 0.6]]), np.array([[False, True]])
    ... )
    >>> {name: values.round(2).tolist() for name, values in signals.items()}
    {'mean_drift': [0.1], 'max_drift': [0.2], 'label_consistency': [0.5], 'logit_variance': [0.16]}
    """
    drift = np.abs(p_mixed - p[:, None])
    return {
        "mean_drift": drift.mean(axis=1),
        "max_drift": drift.max(axis=1),
        "label_consistency": same.mean(axis=1),
        "logit_variance": clipped_logit(p_mixed).var(axis=1),
    }
