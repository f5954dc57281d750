"""Signals beyond the paper's ten: signed by the prediction, so that each has a direction.

None of them uses the label of the row it describes. The catalogue says each in a sentence.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from falcon_discover.metrics.decisions import of_class
from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.signals.catalogue import OPINIONS

# Distances to the 1st, 5th and 25th nearest row of each class: trust near by and further out.
TRUST_RANKS = (1, 5, 25)
# A twin in one class makes the ratio infinite; beyond e^4 = 55 times as far it says no more.
TRUST_LIMIT = 4.0
# Opinions that are surer than this are all alike.
OPINION_CLIP = 1e-3
TINY = 1e-6


def trust_signals(
    decision: IntArray, class_distances: npt.NDArray[np.float32]
) -> dict[str, FloatArray]:
    """Return log ratios of other-class to predicted-class distance at three ranks.

    Parameters
    ----------
    class_distances : rows x classes x k, as `LabelledIndex.query` gives them

    Examples
    --------
    >>> trust_signals(np.array([1]), np.array([[[2.0], [1.0]]]))["log_trust_1"].round(2)
    array([0.69])
    """
    own, other = of_class(class_distances, decision), _of_others(decision, class_distances)
    signals = {}
    for rank in TRUST_RANKS:
        place = min(rank, class_distances.shape[2]) - 1
        # A class with fewer rows than the rank is as far as can be; two such are equal.
        here, there = (
            np.log(np.minimum(distances[:, place].astype(np.float64), 1e12) + TINY)
            for distances in (own, other)
        )
        # Equal distances give the zero, of either sign, that they have always given.
        ratio = np.where(decision == 0, -(here - there), there - here)
        signals[f"log_trust_{rank}"] = np.clip(ratio, -TRUST_LIMIT, TRUST_LIMIT)
    return signals


def _of_others(
    decision: IntArray, class_distances: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Return the distances to the nearest rows of any class but the decided one."""
    n, n_classes, k = class_distances.shape
    if n_classes == 2:
        return of_class(class_distances, 1 - decision)
    others = class_distances.copy()
    others[np.arange(n), decision] = np.inf
    return np.sort(others.reshape(n, -1), axis=1)[:, :k]


def drift_signals(p: FloatArray, p_mixed: FloatArray, sign: FloatArray) -> dict[str, FloatArray]:
    """Return how mixing moves the log-odds of the predicted class: on average and at worst.

    Parameters
    ----------
    p, p_mixed : as in `stability_signals`
    sign : 1 where these are probabilities of the decided class, -1 where of the other one

    Examples
    --------
    >>> moves = drift_signals(np.array([0.5]), np.array([[0.5, 0.25]]), np.array([1.0]))
    >>> {name: values.round(2).tolist() for name, values in moves.items()}
    {'signed_drift': [-0.55], 'worst_drift': [-1.1]}
    """
    moves = sign[:, None] * (clipped_logit(p_mixed) - clipped_logit(p)[:, None])
    return {"signed_drift": moves.mean(axis=1), "worst_drift": moves.min(axis=1)}


def opinion_signals(
    decision: IntArray, names: list[str], opinions: FloatArray
) -> dict[str, FloatArray]:
    """Return the log-odds other models give to the predicted class, and their summary.

    Parameters
    ----------
    opinions : rows x opinions, the probability of the second of two classes; or of each class,
        rows x opinions x classes

    Examples
    --------
    >>> said = opinion_signals(np.array([1]), ["forest"], np.array([[0.2]]))
    >>> said["opinion_worst"].round(2)
    array([-1.39])
    """
    if not names:
        return {}
    if opinions.ndim == 3:
        of_decided = np.take_along_axis(opinions, decision[:, None, None], axis=2)[:, :, 0]
        views = clipped_logit(of_decided, OPINION_CLIP)
    else:
        views = np.where(decision[:, None], 1.0, -1.0) * clipped_logit(opinions, OPINION_CLIP)
    signals = {OPINIONS[name]: views[:, i] for i, name in enumerate(names)}
    return signals | {
        "opinion_mean": views.mean(axis=1),
        "opinion_spread": views.std(axis=1),
        "opinion_worst": views.min(axis=1),
    }
