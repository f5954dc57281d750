"""Whether probabilities are what they say."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from sklearn.metrics import log_loss

from falcon_discover.exceptions import check_number
from falcon_discover.metrics.decisions import (
    confidence,
    decided,
    labels_with_probabilities,
    weights_of,
)
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

MOST_BINS = 100_000


def ece(
    y: npt.ArrayLike,
    p: npt.ArrayLike,
    n_bins: int = PAPER.ece_bins,
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the expected calibration error on equal-width bins of confidence.

    The bins divide [0, 1] and are closed on the right, as in Guo et al. (2017).

    Parameters
    ----------
    sample_weight : how many rows each row stands for; here and in all figures

    Examples
    --------
    >>> round(ece([1, 1, 0, 1], [0.75, 0.75, 0.75, 0.75]), 3)
    0.0
    """
    check_number("n_bins", n_bins, _is_count, f"give a whole number from 1 to {MOST_BINS}")
    conf, gap, total = _confidence_gaps(y, p, sample_weight)
    if not total:
        return math.nan
    bins = np.digitize(conf, np.linspace(0, 1, n_bins + 1)[1:-1], right=True)
    return float(np.abs(np.bincount(bins, gap, minlength=n_bins)).sum() / total)


def cumulative_calibration_error(
    y: npt.ArrayLike, p: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Return the largest cumulative gap between confidence and correctness; it needs no bins.

    Rows are sorted by confidence; the gap up to each is the sum of correct minus confident so
    far, as a share of all rows (Arrieta-Ibarra et al., 2022: ECCE-MAD). Rows of equal confidence
    enter together.

    Examples
    --------
    >>> round(cumulative_calibration_error([1, 1, 0, 1], [0.75, 0.75, 0.75, 0.75]), 3)
    0.0
    >>> round(cumulative_calibration_error([1, 0], [0.9, 0.8]), 3)
    0.4
    """
    conf, gap, total = _confidence_gaps(y, p, sample_weight)
    if not total:
        return math.nan
    _, place = np.unique(conf, return_inverse=True)
    return float(np.abs(np.cumsum(np.bincount(place, gap))).max() / total)


def brier(
    y: npt.ArrayLike, p: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Return the mean squared difference between score and label.

    Of more than two classes it is half the sum over the classes, which is the same for two.

    Examples
    --------
    >>> brier([1, 0], [0.5, 0.5])
    0.25
    """
    labels, scores = labels_with_probabilities(y, p)
    weight = weights_of(sample_weight, len(scores))
    if not len(scores) or (weight is not None and not weight.any()):
        return math.nan
    if weight is not None:
        own = scores if scores.ndim == 2 else np.column_stack([1.0 - scores, scores])
        gaps = ((own - np.eye(own.shape[1])[labels]) ** 2).sum(axis=1) / 2
        return float(weight @ gaps / weight.sum())
    if scores.ndim == 2:
        gaps = scores - np.eye(scores.shape[1])[labels]
        return float(np.mean((gaps**2).sum(axis=1)) / 2)
    return float(np.mean((scores - labels) ** 2))


def nll(y: npt.ArrayLike, p: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None) -> float:
    """Return the mean negative log-likelihood; scores are clipped to be finite.

    Examples
    --------
    >>> round(nll([1, 0], [0.5, 0.5]), 4)
    0.6931
    """
    labels, scores = labels_with_probabilities(y, p)
    weight = weights_of(sample_weight, len(scores))
    if not len(scores) or (weight is not None and not weight.any()):
        return math.nan
    classes = np.arange(2 if scores.ndim == 1 else scores.shape[1])
    # Columns that a model has rounded sum to one only nearly.
    whole = scores if scores.ndim == 1 else scores / scores.sum(axis=1, keepdims=True)
    return float(log_loss(labels, whole, labels=classes, sample_weight=weight))


def _is_count(value: float) -> bool:
    return 1 <= value <= MOST_BINS and value == int(value)


def _confidence_gaps(
    y: npt.ArrayLike, p: npt.ArrayLike, sample_weight: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray, float]:
    """Return the confidence of each row, correct (0 or 1) minus confident, and the rows."""
    labels, scores = labels_with_probabilities(y, p)
    conf = confidence(scores)
    gap = (decided(scores) == labels) - conf
    weight = weights_of(sample_weight, len(conf))
    if weight is None:
        return conf, gap, len(conf)
    return conf, weight * gap, float(weight.sum())
