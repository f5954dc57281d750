"""How sure a figure is: intervals for shares and for AUROC."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from scipy.stats import binomtest, norm, rankdata

from falcon_discover.metrics import fc_auroc
from falcon_discover.settings import PAPER

Interval = tuple[float, float]


def share_interval(count: int, n: int, level: float = PAPER.interval_level) -> Interval:
    """Return the exact (Clopper-Pearson) interval of a share; NaN where n is 0.

    Examples
    --------
    >>> low, high = share_interval(0, 120)
    >>> low, round(high, 4)
    (0.0, 0.0303)
    """
    if n == 0:
        return math.nan, math.nan
    interval = binomtest(count, n).proportion_ci(level, method="exact")
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
    ranks = rankdata(scores)
    # Share of the other class that each row beats, ties half.
    above = (ranks[event] - rankdata(scores[event])) / n
    below = 1.0 - (ranks[~event] - rankdata(scores[~event])) / m
    spread = math.sqrt(above.var(ddof=1) / m + below.var(ddof=1) / n)
    area = fc_auroc(event, scores)
    if area in (0.0, 1.0) or spread == 0.0:
        return area, area
    reach = float(norm.ppf((1 + level) / 2)) * spread / (area * (1 - area))
    return float(expit(logit(area) - reach)), float(expit(logit(area) + reach))
