"""How many confident errors there are among rows without labels, and how sure that is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.stats import nbinom, poisson

from falcon_discover.monitoring.baseline import Baseline
from falcon_discover.monitoring.statistics import (
    MOVES,
    PROMISED,
    RISK,
    VERSIONS,
    BatchStatistics,
)
from falcon_discover.monitoring.sums import number
from falcon_discover.runtime.types import FloatArray


def count_interval(
    expected: float,
    error: float,
    confidence_level: float,
    at_most: int,
    design_effect: float = 1.0,
) -> tuple[int, int]:
    """Return between which numbers a count of errors lies.

    A count of independent errors varies like a Poisson count, or a little less; and its mean is
    known only up to a standard error. Together these are a negative binomial count.

    Parameters
    ----------
    expected : the mean
    error : the standard error of the mean
    at_most : how many errors there can be
    design_effect : how much more the number varies than that of independent errors; errors of one
        group come together

    Examples
    --------
    >>> count_interval(40.0, 0.0, 0.95, at_most=900)
    (28, 53)
    >>> count_interval(40.0, 8.0, 0.95, at_most=900)
    (22, 62)
    """
    if not expected > 0 or not at_most:
        return 0, 0
    low, high = (1 - confidence_level) / 2, (1 + confidence_level) / 2
    together = math.sqrt(error**2 + (design_effect - 1.0) * expected)
    if not together > 0 or math.isnan(together):
        count = poisson(expected)
    else:
        shape = (expected / together) ** 2
        count = nbinom(shape, shape / (shape + expected))
    return min(int(count.ppf(low)), at_most), min(int(count.ppf(high)), at_most)


def figures_of(
    statistics: BatchStatistics, known: Baseline, group: int, confidence_level: float
) -> dict[str, Any]:
    """Return what is expected of a group of rows; see `BatchStatistics` for their numbers."""
    sums = number(statistics.sums[group])
    errors, eligible = float(sums[RISK]), int(statistics.eligible[group])
    error = _standard_error(known, sums)
    low, high = count_interval(errors, error, confidence_level, eligible, known.design_effect)
    return {
        "rows": int(statistics.rows[group]),
        "eligible": eligible,
        "errors": errors,
        "errors_low": low,
        "errors_high": high,
        "standard_error": error,
        "rate": errors / eligible if eligible else math.nan,
        "rate_low": low / eligible if eligible else math.nan,
        "rate_high": high / eligible if eligible else math.nan,
        "promised": float(sums[PROMISED]),
    }


def _standard_error(known: Baseline, sums: FloatArray) -> float:
    """Return how far the expected number may be off because the risk itself is an estimate.

    Its level and slopes are as sure as their calibration; which rows are risky is as sure as
    versions of the risk agree.
    """
    errors, spread = float(sums[RISK]), known.ranker.later.spread
    if spread:
        moves = sums[MOVES]
        level = math.sqrt(max(float(moves @ np.reshape(spread, (3, 3)) @ moves), 0.0))
    else:
        # Nothing was learned but the level, from so many errors.
        level = errors / math.sqrt(known.events + 1)
    return math.hypot(level, known.replicates.spread(sums[VERSIONS]) * math.sqrt(known.share))
