"""How sure a figure is: intervals for shares, for AUROC, and for the difference of two."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from scipy.stats import beta, binomtest, norm, rankdata

from falcon_discover.metrics import fc_auroc
from falcon_discover.settings import PAPER

Interval = tuple[float, float]


def share_interval(count: float, n: int, level: float = PAPER.interval_level) -> Interval:
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
    if count != int(count):
        tail = (1 - level) / 2
        low = beta.ppf(tail, count, n - count + 1)
        return float(low), float(beta.ppf(1 - tail, count + 1, n - count))
    interval = binomtest(int(count), n).proportion_ci(level, method="exact")
    return float(interval.low), float(interval.high)


def auroc_interval(
    events: npt.ArrayLike, score: npt.ArrayLike, level: float = PAPER.interval_level
) -> Interval:
    """Return DeLong's interval of an AUROC, on the logit scale so that it stays inside 0..1.

    NaN where there are fewer than two events or two other rows.

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
    above, below = _placements(event, scores)
    spread = math.sqrt(above.var(ddof=1) / m + below.var(ddof=1) / n)
    area = fc_auroc(event, scores)
    if area in (0.0, 1.0) or spread == 0.0:
        return area, area
    reach = float(norm.ppf((1 + level) / 2)) * spread / (area * (1 - area))
    return float(expit(logit(area) - reach)), float(expit(logit(area) + reach))


def auroc_difference(
    events: npt.ArrayLike,
    score: npt.ArrayLike,
    other: npt.ArrayLike,
    level: float = PAPER.interval_level,
) -> tuple[float, float, float]:
    """Return the difference of two AUROCs on the same rows with DeLong's paired interval.

    NaN where there are fewer than two events or two other rows.

    Examples
    --------
    >>> events = [0, 0, 0, 1, 1, 1]
    >>> gain, low, high = auroc_difference(events, [1, 2, 8, 4, 7, 9], [2, 1, 9, 3, 8, 7])
    >>> round(gain, 2), bool(low < 0 < high)
    (0.11, True)
    """
    event = np.asarray(events, dtype=bool)
    m, n = int(event.sum()), int((~event).sum())
    if m < 2 or n < 2:
        return math.nan, math.nan, math.nan
    above, below = (
        np.subtract(a, b)
        for a, b in zip(
            _placements(event, np.asarray(score, dtype=np.float64)),
            _placements(event, np.asarray(other, dtype=np.float64)),
            strict=True,
        )
    )
    gain = fc_auroc(event, score) - fc_auroc(event, other)
    spread = math.sqrt(above.var(ddof=1) / m + below.var(ddof=1) / n)
    reach = float(norm.ppf((1 + level) / 2)) * spread
    return gain, gain - reach, gain + reach


def _placements(
    event: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the share of the other class that each event and each other row beats, ties half."""
    m, n = int(event.sum()), int((~event).sum())
    ranks = rankdata(scores)
    above = (ranks[event] - rankdata(scores[event])) / n
    below = 1.0 - (ranks[~event] - rankdata(scores[~event])) / m
    return above, below
