"""Figures of rows that stand for different numbers of rows.

With whole weights each is what it is with every row repeated so many times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from falcon_discover.metrics.ordering import Ranking, whole
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray, UInt64Array


def is_whole(weight: FloatArray) -> bool:
    """Return whether each row stands for a whole number of rows."""
    return bool((weight == np.floor(weight)).all())


@dataclass(frozen=True, eq=False)
class WeightedRanking:
    """Rows in review order with their weights, and which of them it does not tell apart.

    Attributes
    ----------
    order, starts : as in `Ranking`
    weight : of the rows, in review order
    """

    order: IntArray
    starts: IntArray
    weight: FloatArray

    @classmethod
    def of(
        cls, score: FloatArray, weight: FloatArray, ties: UInt64Array | None = None
    ) -> WeightedRanking:
        """Return the ranking by descending score, and among equal scores by `ties`."""
        ranking = Ranking.of(score, ties)
        return cls(ranking.order, ranking.starts, weight[ranking.order])

    def inside(self, size: float) -> FloatArray:
        """Return the part of each row, in review order, that the first `size` of weight holds.

        Rows that nothing tells apart share the cut.

        Examples
        --------
        >>> ranking = WeightedRanking.of(np.array([0.9, 0.5, 0.5]), np.array([1.0, 1.0, 3.0]))
        >>> ranking.inside(2.0)
        array([1.  , 0.25, 0.25])
        """
        reached = np.append(0.0, np.cumsum(self.weight))
        ends = np.append(self.starts[1:], len(self.weight))
        before, after = reached[self.starts], reached[ends]
        span = np.where(after > before, after - before, 1.0)
        part = np.clip((size - before) / span, 0.0, 1.0)
        return np.repeat(part, ends - self.starts)

    def top(self, values: BoolArray | FloatArray, size: float) -> float:
        """Return the weighted sum of values of the first `size`; a whole one as an int.

        Parameters
        ----------
        values : of the rows, in their own order
        """
        return whole(float((self.weight * self.inside(size)) @ values[self.order]))


def share_below(values: FloatArray, weight: FloatArray, at: FloatArray) -> FloatArray:
    """Return the weighted share of values below each of some points, ties half.

    Examples
    --------
    >>> share_below(np.array([1.0, 2.0]), np.array([1.0, 3.0]), np.array([1.5, 2.0]))
    array([0.25 , 0.625])
    """
    order = np.argsort(values, kind="stable")
    ordered, reached = values[order], np.append(0.0, np.cumsum(weight[order]))
    below = reached[np.searchsorted(ordered, at, side="left")]
    up_to = reached[np.searchsorted(ordered, at, side="right")]
    return np.asarray((below + up_to) / (2 * reached[-1]))


def weighted_auroc(events: BoolArray, scores: FloatArray, weight: FloatArray) -> float:
    """Return the AUROC of the score for the events, ties half; NaN where one kind is absent."""
    own, other = weight[events], weight[~events]
    if not own.sum() or not other.sum():
        return math.nan
    return float(own @ share_below(scores[~events], other, scores[events]) / own.sum())


def weighted_average_precision(events: BoolArray, scores: FloatArray, weight: FloatArray) -> float:
    """Return the average precision; tied rows count as one group. NaN where there is no event."""
    if not weight[events].sum():
        return math.nan
    ranking = WeightedRanking.of(scores, weight)
    last = np.append(ranking.starts[1:], len(weight)) - 1
    found = np.cumsum(ranking.weight * events[ranking.order])[last]
    reviewed = np.cumsum(ranking.weight)[last]
    gained = np.diff(found, prepend=0.0)
    seen = reviewed > 0
    return float((gained[seen] * found[seen] / reviewed[seen]).sum() / found[-1])


def weighted_aurc(errors: BoolArray, scores: FloatArray, weight: FloatArray) -> float:
    """Return the area under the risk-coverage curve, tied rows sharing their errors evenly.

    Of whole weights it is the mean over coverages of one row, two rows and so on; of others over
    all coverages.
    """
    total = float(weight.sum())
    if not total:
        return math.nan
    _, block = np.unique(scores, return_inverse=True)
    span, wrong = np.bincount(block, weight), np.bincount(block, weight * errors)
    span, wrong = span[span > 0], wrong[span > 0]
    after, rate = np.cumsum(span), wrong / span
    before = after - span
    # Errors among the first k rows of a block are `missed + rate * (k - before)`.
    missed = np.cumsum(wrong) - wrong
    with np.errstate(divide="ignore", invalid="ignore"):
        if is_whole(weight):
            harmonic = digamma(after + 1) - digamma(before + 1)
        else:
            harmonic = np.log(after / before)
        rest = np.where(before > 0, (missed - rate * before) * harmonic, 0.0)
    return float((rate * span + rest).sum() / total)
