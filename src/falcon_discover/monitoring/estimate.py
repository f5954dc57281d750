"""How many confident errors there are among rows without labels, and how sure that is."""

from __future__ import annotations

import math

from scipy.stats import nbinom, poisson


def count_interval(
    expected: float, error: float, confidence_level: float, at_most: int
) -> tuple[int, int]:
    """Return between which numbers a count of errors lies.

    A count of independent errors varies like a Poisson count, or a little less; and its mean is
    known only up to a standard error. Together these are a negative binomial count.

    Parameters
    ----------
    expected : the mean
    error : the standard error of the mean
    at_most : how many errors there can be

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
    if not error > 0 or math.isnan(error):
        count = poisson(expected)
    else:
        shape = (expected / error) ** 2
        count = nbinom(shape, shape / (shape + expected))
    return min(int(count.ppf(low)), at_most), min(int(count.ppf(high)), at_most)
