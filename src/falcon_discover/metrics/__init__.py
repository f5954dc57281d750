"""The paper's finite-sample quantities and their neighbours: arrays in, numbers out.

A score is always a suspicion: higher is reviewed first. Where a quantity is not defined (no
event, no eligible row) it is NaN, never 0 and never an exception.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from falcon_discover.exceptions import InputError, check_number
from falcon_discover.metrics.ordering import Ranking
from falcon_discover.runtime.types import BoolArray, FloatArray, UInt64Array
from falcon_discover.settings import PAPER

# Thresholds of the severe events by which a ranking made for a lower one is also judged.
SEVERE_TAUS = (0.95, 0.99)

__all__ = [
    "aurc",
    "brier",
    "capture_at",
    "captured_surprise",
    "confidence",
    "ece",
    "eligible_auroc",
    "eligible_average_precision",
    "errors_among_surest",
    "false_confidence",
    "fc_auroc",
    "fc_count_at",
    "gated",
    "gated_confidence",
    "nll",
    "review_order",
    "review_size",
    "surprise",
]


def confidence(p: npt.ArrayLike) -> FloatArray:
    """Return `max(p, 1 - p)` (eq:confidence).

    Examples
    --------
    >>> confidence([0.5, 0.1, 1.0])
    array([0.5, 0.9, 1. ])
    """
    p = _probabilities(p)
    return np.maximum(p, 1.0 - p)


def false_confidence(y: npt.ArrayLike, p: npt.ArrayLike, tau: float = PAPER.tau) -> BoolArray:
    """Return which rows are wrong although the confidence is at least `tau`.

    Parameters
    ----------
    y : array of 0/1
    p : array of positive-class scores
    tau : confidence threshold

    Examples
    --------
    >>> false_confidence([1, 1, 0], [0.05, 0.95, 0.60], tau=0.90)
    array([ True, False, False])
    """
    p = _probabilities(p)
    wrong = (p >= PAPER.decision_threshold) != _binary(y, "y")
    _same_length(wrong, p)
    return wrong & (confidence(p) >= tau)


def review_size(n: int, budget: float) -> int:
    """Return the number of rows a review budget covers, `ceil(budget * n)`.

    Examples
    --------
    >>> review_size(9769, 0.20)
    1954
    """
    must = "it must be a share of the rows, above 0 and up to 1"
    check_number("budget", budget, lambda share: 0 < share <= 1, must)
    # 0.07 * 100 is 7.000000000000001 in floating point; its ceiling must be 7.
    return min(n, math.ceil(round(budget * n, 9)))


def review_order(score: npt.ArrayLike, ties: UInt64Array | None = None) -> npt.NDArray[np.intp]:
    """Return row positions by descending score.

    Parameters
    ----------
    ties : what orders rows of equal score, as `ordering.tie_keys` gives it; rows that are equal
        in it too, or all without it, keep their original order

    Examples
    --------
    >>> review_order([0.1, 0.7, 0.7])
    array([1, 2, 0])
    """
    return Ranking.of(_scores(score), ties).order


def gated_confidence(confidence: npt.ArrayLike, tau: float = PAPER.tau) -> FloatArray:
    """Return the suspicion that puts eligible rows first, least confident leading.

    Eligible rows score from 1 to 1.5; the others follow with their confidence, those
    closest to the threshold first.

    Examples
    --------
    >>> gated_confidence([0.91, 0.99, 0.6], tau=0.90)
    array([1.09, 1.01, 0.6 ])
    """
    values = np.asarray(confidence, dtype=np.float64)
    return np.where(values >= tau, 2.0 - values, values)


def gated(values: npt.ArrayLike, confidence: npt.ArrayLike, tau: float = PAPER.tau) -> FloatArray:
    """Return the suspicion that puts eligible rows first, those with large values leading.

    `values` lie from 0 to 1, so eligible rows score from 1 to 2 and the others below 0.

    Examples
    --------
    >>> gated([0.2, 0.7, 0.9], [0.95, 0.95, 0.6], tau=0.90)
    array([ 1.2,  1.7, -0.4])
    """
    sure = np.asarray(confidence, dtype=np.float64)
    return np.where(sure >= tau, 1.0 + np.asarray(values, dtype=np.float64), sure - 1.0)


def surprise(confidence: npt.ArrayLike) -> FloatArray:
    """Return `-log(1 - confidence)`: how surprising it is that a prediction is wrong.

    Examples
    --------
    >>> surprise([0.5, 0.99]).round(2)
    array([0.69, 4.61])
    """
    doubt = np.maximum(1.0 - np.asarray(confidence, dtype=np.float64), PAPER.logit_clip)
    return np.asarray(-np.log(doubt))


def captured_surprise(
    fc: npt.ArrayLike, score: npt.ArrayLike, confidence: npt.ArrayLike, budget: float
) -> float:
    """Return the share of the events' total surprise that the top `budget` finds.

    Rows of equal score count as in `fc_count_at`. NaN where there is no event.

    Examples
    --------
    >>> round(captured_surprise([1, 1, 0], [0.9, 0.1, 0.5], [0.9, 0.99, 0.99], budget=1 / 3), 3)
    0.333
    """
    events, scores = _binary(fc, "fc"), _scores(score)
    _same_length(events, scores)
    if not events.any():
        return float("nan")
    weights = np.where(events, surprise(confidence), 0.0)
    return Ranking.of(scores).found(weights).share(review_size(len(events), budget))


def fc_count_at(fc: npt.ArrayLike, score: npt.ArrayLike, budget: float) -> float:
    """Return how many events the review of the top `budget` finds (eq:fccount_appendix).

    Where the cut lies among rows of equal score it is the expected number over their random
    orders, which may be a fraction.

    Examples
    --------
    >>> fc_count_at([1, 0, 1, 0], [0.9, 0.8, 0.1, 0.2], budget=0.5)
    1
    >>> fc_count_at([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.2], budget=0.5)
    1.5
    """
    events, scores = _binary(fc, "fc"), _scores(score)
    _same_length(events, scores)
    return Ranking.of(scores).top(events, review_size(len(events), budget))


def capture_at(fc: npt.ArrayLike, score: npt.ArrayLike, budget: float) -> float:
    """Return the share of events found in the top `budget` (eq:capture_appendix_explicit).

    Examples
    --------
    >>> capture_at([1, 0, 1, 0], [0.9, 0.8, 0.1, 0.2], budget=0.5)
    0.5
    """
    found, events = fc_count_at(fc, score, budget), int(_binary(fc, "fc").sum())
    return found / events if events else math.nan


def fc_auroc(fc: npt.ArrayLike, score: npt.ArrayLike) -> float:
    """Return the AUROC of the score for the events, ties half (eq:falseconf_auroc_appendix).

    Examples
    --------
    >>> fc_auroc([1, 0, 0], [0.5, 0.5, 0.1])
    0.75
    """
    events, scores = _binary(fc, "fc"), _scores(score)
    _same_length(events, scores)
    positives = int(events.sum())
    negatives = len(events) - positives
    if not positives or not negatives:
        return math.nan
    ranks = rankdata(scores)[events].sum()
    return float((ranks - positives * (positives + 1) / 2) / (positives * negatives))


def eligible_auroc(
    fc: npt.ArrayLike, score: npt.ArrayLike, confidence: npt.ArrayLike, tau: float = PAPER.tau
) -> float:
    """Return the AUROC among rows with confidence of at least `tau` only.

    Only these rows can be events, and that is known without labels, so this is the one
    figure that putting them first cannot inflate.

    Examples
    --------
    >>> eligible_auroc([1, 0, 0], [0.3, 0.1, 0.9], confidence=[0.95, 0.99, 0.6])
    1.0
    """
    eligible = np.asarray(confidence, dtype=np.float64) >= tau
    return fc_auroc(np.asarray(fc)[eligible], np.asarray(score)[eligible])


def eligible_average_precision(
    fc: npt.ArrayLike, score: npt.ArrayLike, confidence: npt.ArrayLike, tau: float = PAPER.tau
) -> float:
    """Return the average precision among eligible rows; tied rows count as one group.

    Examples
    --------
    >>> eligible_average_precision([1, 0, 1], [0.9, 0.8, 0.7], confidence=[1, 1, 1])
    0.8333333333333333
    """
    eligible = np.asarray(confidence, dtype=np.float64) >= tau
    events, scores = _binary(fc, "fc")[eligible], _scores(score)[eligible]
    if not events.any():
        return math.nan
    order = review_order(scores)
    last_of_group = np.append(np.diff(scores[order]) != 0, True)
    found = np.cumsum(events[order])[last_of_group]
    reviewed = np.flatnonzero(last_of_group) + 1
    return float((np.diff(found, prepend=0) * found / reviewed).sum() / events.sum())


def aurc(error: npt.ArrayLike, score: npt.ArrayLike) -> float:
    """Return the area under the risk-coverage curve; lower is better.

    Rows are accepted from the least suspicious on; the area is the mean, over all coverages
    1/n ... n/n, of the error rate among the accepted. Tied rows share their errors evenly, so
    the value does not depend on the order of rows.

    Examples
    --------
    >>> aurc([0, 0, 1], [0.1, 0.2, 0.9])
    0.1111111111111111
    """
    errors, scores = _binary(error, "error").astype(np.float64), _scores(score)
    _same_length(errors, scores)
    if not len(errors):
        return math.nan
    _, group = np.unique(scores, return_inverse=True)
    shared = (np.bincount(group, errors) / np.bincount(group))[group]
    risks = np.cumsum(shared[np.argsort(scores, kind="stable")])
    return float((risks / np.arange(1, len(errors) + 1)).mean())


def ece(y: npt.ArrayLike, p: npt.ArrayLike, n_bins: int = PAPER.ece_bins) -> float:
    """Return the expected calibration error on equal-width bins of confidence.

    The bins divide [0, 1] and are closed on the right, as in Guo et al. (2017).

    Examples
    --------
    >>> round(ece([1, 1, 0, 1], [0.75, 0.75, 0.75, 0.75]), 3)
    0.0
    """
    conf, gap = _confidence_gaps(y, p)
    if not len(conf):
        return math.nan
    bins = np.digitize(conf, np.linspace(0, 1, n_bins + 1)[1:-1], right=True)
    return float(np.abs(np.bincount(bins, gap, minlength=n_bins)).sum() / len(conf))


def cumulative_calibration_error(y: npt.ArrayLike, p: npt.ArrayLike) -> float:
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
    conf, gap = _confidence_gaps(y, p)
    if not len(conf):
        return math.nan
    _, place = np.unique(conf, return_inverse=True)
    return float(np.abs(np.cumsum(np.bincount(place, gap))).max() / len(conf))


def _confidence_gaps(
    y: npt.ArrayLike, p: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the confidence of each row, and correct (0 or 1) minus confident."""
    p = _probabilities(p)
    conf = confidence(p)
    right = (p >= PAPER.decision_threshold) == _binary(y, "y")
    _same_length(right, p)
    return conf, right - conf


def errors_among_surest(y: npt.ArrayLike, p: npt.ArrayLike, k: int) -> float:
    """Return how many of the `k` most confident predictions are wrong.

    So two sets of scores are compared at the same coverage: one that is sure of fewer rows has
    fewer confident errors for that reason alone. Where rows of equal confidence compete for the
    last places, it is the expected number over a random choice among them.

    Examples
    --------
    >>> errors_among_surest([0, 1, 1, 1], [0.99, 0.95, 0.05, 0.6], k=2)
    1.5
    """
    wrong, conf = false_confidence(y, p, tau=0.5), confidence(p)
    if not 0 <= k <= len(conf):
        raise InputError(f"k is {k}: give a number of rows from 0 to {len(conf)}.")
    return float(Ranking.of(conf).top(wrong, k))


def brier(y: npt.ArrayLike, p: npt.ArrayLike) -> float:
    """Return the mean squared difference between score and label.

    Examples
    --------
    >>> brier([1, 0], [0.5, 0.5])
    0.25
    """
    p = _probabilities(p)
    return float(np.mean((p - _binary(y, "y")) ** 2)) if len(p) else math.nan


def nll(y: npt.ArrayLike, p: npt.ArrayLike) -> float:
    """Return the mean negative log-likelihood; scores are clipped to be finite.

    Examples
    --------
    >>> round(nll([1, 0], [0.5, 0.5]), 4)
    0.6931
    """
    tiny = np.finfo(np.float64).eps
    p = np.clip(_probabilities(p), tiny, 1 - tiny)
    if not len(p):
        return math.nan
    return float(-np.log(np.where(_binary(y, "y"), p, 1 - p)).mean())


def _probabilities(p: npt.ArrayLike) -> FloatArray:
    values = np.asarray(p, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        bad = int(np.flatnonzero(~((values >= 0) & (values <= 1)))[0])
        raise InputError(f"p holds {values[bad]} in row {bad}: a probability lies between 0 and 1.")
    return values


def _scores(score: npt.ArrayLike) -> FloatArray:
    values = np.asarray(score, dtype=np.float64)
    if np.isnan(values).any():
        raise InputError(f"score is NaN in {int(np.isnan(values).sum())} row(s).")
    return values


def _binary(values: npt.ArrayLike, name: str) -> BoolArray:
    array = np.asarray(values)
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} must hold 0/1 or booleans only.")
    return array.astype(np.bool_)


def _same_length(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> None:
    if len(a) != len(b):
        raise InputError(f"the arrays have {len(a)} and {len(b)} rows: they must match.")
