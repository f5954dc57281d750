"""How sure a figure is: intervals for shares, for AUROC, and for the difference of two."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, expit, logit
from scipy.stats import norm, rankdata
from scipy.stats import t as student

from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER

Interval = tuple[float, float]


def share_interval(count: float, n: float, level: float = PAPER.interval_level) -> Interval:
    """Return the exact (Clopper-Pearson) interval of a share; NaN where n is 0.

    An expected count, which ties make, need not be whole: the same quantiles of the beta
    distribution are defined for it.

    Examples
    --------
    >>> low, high = share_interval(0, 120)
    >>> low, round(high, 4)
    (0.0, 0.0303)
    """
    if n == 0:
        return math.nan, math.nan
    tail = (1 - level) / 2
    low = betaincinv(count, n - count + 1, tail) if count > 0 else 0.0
    return float(low), upper_bound(count, n, 1 - tail)


def upper_bound(count: float, n: float, confidence: float = PAPER.interval_level) -> float:
    """Return the exact one-sided upper bound of a rate; 0 where there is no row.

    Examples
    --------
    >>> round(upper_bound(0, 300), 4)
    0.0099
    """
    if n == 0:
        return 0.0
    return float(betaincinv(count + 1, n - count, confidence)) if count < n else 1.0


def wilson(rate: float, n: float, z: float) -> Interval:
    """Return Wilson's interval of a share of n rows, for a normal quantile.

    Not scipy's: n may be an effective number of rows, which need not be whole, and the quantile may
    be one of a simulated null.

    Examples
    --------
    >>> tuple(round(v, 3) for v in wilson(0.2, 50, 1.96))
    (0.112, 0.33)
    """
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, centre - reach), min(1.0, centre + reach)


def auroc_interval(
    events: npt.ArrayLike, score: npt.ArrayLike, level: float = PAPER.interval_level
) -> Interval:
    """Return the interval of an AUROC: Newcombe's (2006, method 5) and DeLong's, joined.

    Newcombe's keeps its level with few events and near 1, where DeLong's on the logit scale is
    too short; DeLong's covers scores of unusual shape. From two events and two other rows on;
    with fewer no interval keeps its level, and NaN is returned.

    Examples
    --------
    >>> low, high = auroc_interval([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.8, 0.4, 0.7, 0.9])
    >>> round(low, 2), round(high, 2)
    (0.17, 0.98)
    """
    event = np.asarray(events, dtype=bool)
    scores = np.asarray(score, dtype=np.float64)
    m, n = int(event.sum()), int((~event).sum())
    if m < 2 or n < 2:
        return math.nan, math.nan
    above, below = placements(event, scores)
    spread = math.sqrt(above.var(ddof=1) / m + below.var(ddof=1) / n)
    area = float(above.mean())
    low, high = newcombe(area, m, n, level)
    if area in (0.0, 1.0) or spread == 0.0:
        return low, high
    reach = float(norm.ppf((1 + level) / 2)) * spread / (area * (1 - area))
    return (
        min(low, float(expit(logit(area) - reach))),
        max(high, float(expit(logit(area) + reach))),
    )


def auroc_difference(
    events: npt.ArrayLike,
    score: npt.ArrayLike,
    other: npt.ArrayLike,
    level: float = PAPER.interval_level,
) -> tuple[float, float, float]:
    """Return the difference of two AUROCs on the same rows with its paired interval.

    DeLong's interval with a t quantile, joined with one made of the two single intervals and
    the correlation of the scores: with few events the placements of events say too little about
    their own spread. NaN where there are fewer than two events or two other rows. The interval
    is a point only where both scores order the rows alike.

    The scores are taken as given: what another training set would have made of a fitted ranker
    is not in the interval.

    Examples
    --------
    >>> events = [0, 0, 0, 1, 1, 1]
    >>> gain, low, high = auroc_difference(events, [1, 2, 8, 4, 7, 9], [2, 1, 9, 3, 8, 7])
    >>> round(gain, 2), bool(low < 0 < high)
    (0.11, True)
    """
    event = np.asarray(events, dtype=bool)
    pair = [np.asarray(values, dtype=np.float64) for values in (score, other)]
    m, n = int(event.sum()), int((~event).sum())
    if m < 2 or n < 2:
        return math.nan, math.nan, math.nan
    if (rankdata(pair[0]) == rankdata(pair[1])).all():
        return 0.0, 0.0, 0.0
    (above, below), (other_above, other_below) = (placements(event, values) for values in pair)
    areas = [float(above.mean()), float(other_above.mean())]
    gain = areas[0] - areas[1]
    own, shared = _delong(above, below, other_above, other_below)
    fewest = min(m, n)
    quantile = float(student.ppf((1 + level) / 2, fewest + 1))
    reach = quantile * math.sqrt(max(0.0, own.sum() - 2 * shared))
    correlation = rank_correlation(pair[0][~event], pair[1][~event])
    if own.min() > 0:
        correlation = min(correlation, shared / math.sqrt(own.prod()))
    # From few rows no correlation is sure: two events allow none of it, ten 94%, 25 99%.
    correlation *= max(0.0, 1 - 6 / fewest**2)
    down, up = joined_reach(areas, [newcombe(area, m, n, level) for area in areas], correlation)
    return gain, max(-1.0, gain - max(reach, down)), min(1.0, gain + max(reach, up))


def newcombe(area: float, m: float, n: float, level: float) -> Interval:
    """Return the areas that a score test admits, with the variance of exponential scores."""
    z2 = float(norm.ppf((1 + level) / 2)) ** 2
    mean = (m + n) / 2 - 1

    def admitted(a: float) -> bool:
        variance = a * (1 - a) * (1 + mean * ((1 - a) / (2 - a) + a / (1 + a))) / (m * n)
        return (area - a) ** 2 <= z2 * variance

    def end(outside: float) -> float:
        inside = area
        for _ in range(50):
            middle = (outside + inside) / 2
            inside, outside = (middle, outside) if admitted(middle) else (inside, middle)
        return inside

    return end(0.0), end(1.0)


def joined_reach(
    areas: Sequence[float], intervals: Sequence[Interval], correlation: float
) -> tuple[float, float]:
    """Return how far a difference reaches down and up, from the intervals of its two parts.

    Squares add, as in Newcombe's intervals of differences. The share of both that is correlated
    moves both areas the same way, so that only the difference of the two reaches counts.
    """
    (down, up), (other_down, other_up) = (
        (area - low, high - area) for area, (low, high) in zip(areas, intervals, strict=True)
    )
    if correlation < 0:
        return (
            math.sqrt(down**2 + other_up**2 - 2 * correlation * down * other_up),
            math.sqrt(up**2 + other_down**2 - 2 * correlation * up * other_down),
        )
    apart = 1 - correlation
    fall = max(0.0, down - other_down, other_up - up)
    rise = max(0.0, up - other_up, other_down - down)
    return (
        math.sqrt(apart * (down**2 + other_up**2) + correlation * fall**2),
        math.sqrt(apart * (up**2 + other_down**2) + correlation * rise**2),
    )


def _delong(
    above: FloatArray, below: FloatArray, other_above: FloatArray, other_below: FloatArray
) -> tuple[FloatArray, float]:
    """Return DeLong's variances of two AUROCs, and their covariance."""
    together = np.cov(above, other_above) / len(above) + np.cov(below, other_below) / len(below)
    return np.diag(together), float(together[0, 1])


def rank_correlation(score: FloatArray, other: FloatArray) -> float:
    """Return Spearman's correlation; 0 where all scores are equal."""
    first, second = rankdata(score), rankdata(other)
    spread = first.std() * second.std()
    return float(np.cov(first, second, ddof=0)[0, 1] / spread) if spread > 0 else 0.0


def placements(event: BoolArray, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the share of the other class that each event and each other row beats, ties half."""
    own, other = scores[event], scores[~event]
    return _share_below(other, own), 1.0 - _share_below(own, other)


def _share_below(values: FloatArray, at: FloatArray) -> FloatArray:
    """Return the share of values below each of some points, ties half."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, at, side="left") + np.searchsorted(ordered, at, side="right")
    return below / (2 * len(values))
