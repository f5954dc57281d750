"""What a ranking by suspicion finds, and how well it tells events from other rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from falcon_discover.exceptions import check_number
from falcon_discover.metrics.decisions import (
    array_of,
    confidence,
    eligible_rows,
    events_with_scores,
    false_confidence,
    numbers_of,
    scores_of,
    surprise,
    weights_of,
)
from falcon_discover.metrics.design import Design
from falcon_discover.metrics.intervals import share_interval
from falcon_discover.metrics.ordering import Found, Ranking
from falcon_discover.metrics.weighted import (
    WeightedRanking,
    is_whole,
    weighted_aurc,
    weighted_auroc,
    weighted_average_precision,
)
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray, UInt64Array
from falcon_discover.runtime.words import is_count
from falcon_discover.settings import PAPER

# Thresholds of the severe events by which a ranking made for a lower one is also judged.
SEVERE_TAUS = (0.95, 0.99)
# What a review budget must be, in words.
BUDGET = (
    "give a share of the rows as a fraction above 0 and up to 1.0, such as 0.2, or a number of "
    "rows as a whole number, such as 50"
)


class Captured(NamedTuple):
    """What the review of a budget finds: events, their share of all, and its interval.

    Of weighted rows, `reviewed`, `events` and `captured` are what they stand for.
    """

    budget: float
    reviewed: float
    events: float
    captured: float
    capture: float
    low: float
    high: float


def is_budget(value: Any) -> bool:
    """Return whether a number is a review budget: a number of rows, or a share of them."""
    return value >= 1 if is_count(value) else 0 < value <= 1


def review_size(n: int, budget: float) -> int:
    """Return the number of rows a review budget covers.

    Parameters
    ----------
    budget : a whole number (an int) is a number of rows, at most all there are; a fraction (a
        float) a share of the rows, `ceil(budget * n)` of them

    Examples
    --------
    >>> review_size(9769, 0.20), review_size(9769, 50), review_size(9769, 1.0)
    (1954, 50, 9769)
    """
    check_number("budget", budget, is_budget, BUDGET)
    if is_count(budget):
        return min(n, int(budget))
    # 0.07 * 100 is 7.000000000000001 in floating point; its ceiling must be 7.
    return min(n, math.ceil(round(budget * n, 9)))


def review_weight(weight: FloatArray, budget: float) -> float:
    """Return the weight that a review budget covers: its share, or number, of what rows stand for.

    Whole weights count as repeated rows, so the last of these is reviewed whole.

    Examples
    --------
    >>> review_weight(np.array([2.0, 3.0, 2.0]), 0.5), review_weight(np.array([0.5, 1.5]), 0.5)
    (4, 1.0)
    """
    total = float(weight.sum())
    whole_rows = review_size(math.floor(total), budget)
    if is_whole(weight):
        return whole_rows
    return min(total, budget) if is_count(budget) else budget * total


def review_order(score: npt.ArrayLike, ties: UInt64Array | None = None) -> IntArray:
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
    return Ranking.of(scores_of(score), ties).order


def captures(found: Found, budgets: Sequence[float]) -> Iterator[Captured]:
    """Yield what each budget finds of the events of a ranking.

    Examples
    --------
    >>> found = Ranking.of(np.array([0.9, 0.8, 0.7])).found(np.array([True, False, True]))
    >>> [line.captured for line in captures(found, [1 / 3, 1.0])]
    [1, 2]
    """
    total = found.top(len(found.ranked))
    for budget in budgets:
        size = review_size(len(found.ranked), budget)
        captured = found.top(size)
        share = captured / total if total else math.nan
        yield Captured(budget, size, int(total), captured, share, *share_interval(captured, total))


def drawn_captures(
    events: BoolArray, ranking: WeightedRanking, design: Design, budgets: Sequence[float]
) -> Iterator[Captured]:
    """Yield what each budget finds of events where rows have weights or come in groups.

    Parameters
    ----------
    events, design : of the rows in their own order
    """
    total, hits = design.total(events), events[ranking.order]
    among = design.take(ranking.order).take(hits)
    for budget in budgets:
        size = review_weight(design.weight, budget)
        captured = ranking.top(events, size)
        share = captured / total if total else math.nan
        interval = among.share_interval(ranking.inside(size)[hits])
        yield Captured(budget, size, total, captured, share, *interval)


def captured_surprise(
    fc: npt.ArrayLike,
    score: npt.ArrayLike,
    confidence: npt.ArrayLike,
    budget: float,
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the share of the events' total surprise that the top `budget` finds.

    Rows of equal score count as in `fc_count_at`. NaN where there is no event.

    Examples
    --------
    >>> round(captured_surprise([1, 1, 0], [0.9, 0.1, 0.5], [0.9, 0.99, 0.99], budget=1 / 3), 3)
    0.333
    """
    events, scores = events_with_scores(fc, score)
    if not events.any():
        return math.nan
    weights = np.where(events, surprise(confidence), 0.0)
    counts = weights_of(sample_weight, len(events))
    if counts is not None:
        return _weighted_share(weights, scores, counts, budget)
    return Ranking.of(scores).found(weights).share(review_size(len(events), budget))


def _weighted_share(
    values: BoolArray | FloatArray, scores: FloatArray, weight: FloatArray, budget: float
) -> float:
    total = float(weight @ values)
    found = WeightedRanking.of(scores, weight).top(values, review_weight(weight, budget))
    return found / total if total else math.nan


def fc_count_at(
    fc: npt.ArrayLike,
    score: npt.ArrayLike,
    budget: float,
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
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
    events, scores = events_with_scores(fc, score)
    weight = weights_of(sample_weight, len(events))
    if weight is not None:
        return WeightedRanking.of(scores, weight).top(events, review_weight(weight, budget))
    return Ranking.of(scores).top(events, review_size(len(events), budget))


def capture_at(
    fc: npt.ArrayLike,
    score: npt.ArrayLike,
    budget: float,
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the share of events found in the top `budget` (eq:capture_appendix_explicit).

    Parameters
    ----------
    sample_weight : how many rows each row stands for; the budget is a share of these

    Examples
    --------
    >>> capture_at([1, 0, 1, 0], [0.9, 0.8, 0.1, 0.2], budget=0.5)
    0.5
    """
    events, scores = events_with_scores(fc, score)
    if not events.any():
        return math.nan
    weight = weights_of(sample_weight, len(events))
    if weight is not None:
        return _weighted_share(events, scores, weight, budget)
    return Ranking.of(scores).found(events).share(review_size(len(events), budget))


def fc_auroc(
    fc: npt.ArrayLike, score: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Return the AUROC of the score for the events, ties half (eq:falseconf_auroc_appendix).

    Examples
    --------
    >>> fc_auroc([1, 0, 0], [0.5, 0.5, 0.1])
    0.75
    """
    events, scores = events_with_scores(fc, score)
    weight = weights_of(sample_weight, len(events))
    if weight is not None:
        return weighted_auroc(events, scores, weight)
    positives = int(events.sum())
    negatives = len(events) - positives
    if not positives or not negatives:
        return math.nan
    ranks = rankdata(scores)[events].sum()
    return float((ranks - positives * (positives + 1) / 2) / (positives * negatives))


def label_auroc(
    y: npt.ArrayLike, p: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Return how well scores tell the labels apart: of more than two classes, each from the rest.

    The mean over the classes that are there, and not alone.

    Parameters
    ----------
    y : labels as positions among the classes
    p : positive-class scores, or one column for each class

    Examples
    --------
    >>> label_auroc([0, 1, 1], [0.1, 0.9, 0.1]), label_auroc([0, 1, 2], np.eye(3))
    (0.75, 1.0)
    """
    codes, scores = array_of(y, "y"), numbers_of(p, "p")
    if scores.ndim == 1:
        return fc_auroc(codes, scores, sample_weight=sample_weight)
    areas = [
        fc_auroc(codes == c, scores[:, c], sample_weight=sample_weight)
        for c in range(scores.shape[1])
    ]
    known = [area for area in areas if not math.isnan(area)]
    return float(np.mean(known)) if known else math.nan


def eligible_auroc(
    fc: npt.ArrayLike,
    score: npt.ArrayLike,
    confidence: npt.ArrayLike,
    tau: float = PAPER.tau,
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the AUROC among rows with confidence of at least `tau` only.

    Only these rows can be events, and that is known without labels, so this is the one
    figure that putting them first cannot inflate.

    Examples
    --------
    >>> eligible_auroc([1, 0, 0], [0.3, 0.1, 0.9], confidence=[0.95, 0.99, 0.6])
    1.0
    """
    events, scores, eligible = eligible_rows(fc, score, confidence, tau)
    weight = weights_of(sample_weight, len(eligible))
    return fc_auroc(events, scores, sample_weight=None if weight is None else weight[eligible])


def eligible_average_precision(
    fc: npt.ArrayLike,
    score: npt.ArrayLike,
    confidence: npt.ArrayLike,
    tau: float = PAPER.tau,
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the average precision among eligible rows; tied rows count as one group.

    Examples
    --------
    >>> eligible_average_precision([1, 0, 1], [0.9, 0.8, 0.7], confidence=[1, 1, 1])
    0.8333333333333333
    """
    events, scores, eligible = eligible_rows(fc, score, confidence, tau)
    weight = weights_of(sample_weight, len(eligible))
    if weight is not None:
        return weighted_average_precision(events, scores, weight[eligible])
    if not events.any():
        return math.nan
    order = review_order(scores)
    last_of_group = np.append(np.diff(scores[order]) != 0, True)
    found = np.cumsum(events[order])[last_of_group]
    reviewed = np.flatnonzero(last_of_group) + 1
    return float((np.diff(found, prepend=0) * found / reviewed).sum() / events.sum())


def aurc(
    error: npt.ArrayLike, score: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Return the area under the risk-coverage curve; lower is better.

    Rows are accepted from the least suspicious on; the area is the mean, over all coverages
    1/n ... n/n, of the error rate among the accepted. Tied rows share their errors evenly, so
    the value does not depend on the order of rows.

    Examples
    --------
    >>> aurc([0, 0, 1], [0.1, 0.2, 0.9])
    0.1111111111111111
    """
    errors, scores = events_with_scores(error, score, "error")
    weight = weights_of(sample_weight, len(errors))
    if weight is not None:
        return weighted_aurc(errors, scores, weight)
    if not len(errors):
        return math.nan
    _, group = np.unique(scores, return_inverse=True)
    shared = (np.bincount(group, errors) / np.bincount(group))[group]
    risks = np.cumsum(shared[np.argsort(scores, kind="stable")])
    return float((risks / np.arange(1, len(errors) + 1)).mean())


def errors_among_surest(
    y: npt.ArrayLike, p: npt.ArrayLike, k: float, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Return how many of the `k` most confident predictions are wrong.

    So two sets of scores are compared at the same coverage: one that is sure of fewer rows has
    fewer confident errors for that reason alone. Where rows of equal confidence compete for the
    last places, it is the expected number over a random choice among them.

    Examples
    --------
    >>> errors_among_surest([0, 1, 1, 1], [0.99, 0.95, 0.05, 0.6], k=2)
    1.5
    """
    wrong, conf = false_confidence(y, p, tau=0.0), confidence(p)
    weight = weights_of(sample_weight, len(conf))
    rows = len(conf) if weight is None else float(weight.sum())
    check_number(
        "k", k, lambda value: 0 <= value <= rows, f"give a number of rows from 0 to {rows:g}"
    )
    if weight is not None:
        return float(WeightedRanking.of(conf, weight).top(wrong, k))
    return float(Ranking.of(conf).top(wrong, int(k)))
