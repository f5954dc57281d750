"""Signals beyond the paper's ten: signed by the prediction, so that each has a direction.

None of them uses the label of the row it describes. The catalogue says each in a sentence.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import OPINIONS

# Distances to the 1st, 5th and 25th nearest row of each class: trust near by and further out.
TRUST_RANKS = (1, 5, 25)
# A twin in one class makes the ratio infinite; beyond e^4 = 55 times as far it says no more.
TRUST_LIMIT = 4.0
# Opinions that are surer than this are all alike.
OPINION_CLIP = 1e-3
TINY = 1e-6


def trust_signals(
    decision: BoolArray, class_distances: npt.NDArray[np.float32]
) -> dict[str, FloatArray]:
    """Return log ratios of other-class to predicted-class distance at three ranks.

    Parameters
    ----------
    class_distances : rows x 2 x k, as `LabelledIndex.query` gives them

    Examples
    --------
    >>> trust_signals(np.array([True]), np.array([[[2.0], [1.0]]]))["log_trust_1"].round(2)
    array([0.69])
    """
    signals = {}
    for rank in TRUST_RANKS:
        at = class_distances[:, :, min(rank, class_distances.shape[2]) - 1].astype(np.float64)
        # A class with fewer rows than the rank is as far as can be; two such are equal.
        far = np.log(np.minimum(at, 1e12) + TINY)
        towards = far[:, 0] - far[:, 1]
        ratio = np.where(decision, towards, -towards)
        signals[f"log_trust_{rank}"] = np.clip(ratio, -TRUST_LIMIT, TRUST_LIMIT)
    return signals


def drift_signals(p: FloatArray, p_mixed: FloatArray) -> dict[str, FloatArray]:
    """Return how mixing moves the log-odds of the predicted class: on average and at worst.

    Examples
    --------
    >>> moves = drift_signals(np.array([0.5]), np.array([[0.5, 0.25]]))
    >>> {name: values.round(2).tolist() for name, values in moves.items()}
    {'signed_drift': [-0.55], 'worst_drift': [-1.1]}
    """
    sign = np.where(p >= PAPER.decision_threshold, 1.0, -1.0)[:, None]
    moves = sign * (clipped_logit(p_mixed) - clipped_logit(p)[:, None])
    return {"signed_drift": moves.mean(axis=1), "worst_drift": moves.min(axis=1)}


def opinion_signals(
    decision: BoolArray, names: list[str], opinions: FloatArray
) -> dict[str, FloatArray]:
    """Return the log-odds other models give to the predicted class, and their summary.

    Examples
    --------
    >>> said = opinion_signals(np.array([True]), ["forest"], np.array([[0.2]]))
    >>> said["opinion_worst"].round(2)
    array([-1.39])
    """
    if not names:
        return {}
    views = np.where(decision[:, None], 1.0, -1.0) * clipped_logit(opinions, OPINION_CLIP)
    signals = {OPINIONS[name]: views[:, i] for i, name in enumerate(names)}
    return signals | {
        "opinion_mean": views.mean(axis=1),
        "opinion_spread": views.std(axis=1),
        "opinion_worst": views.min(axis=1),
    }
