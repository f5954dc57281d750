"""An upper bound on a rate for rows in groups, or of different weight: a bet against the rate.

Groups are drawn independently, the rows of one are not. Let a group leave `U` of weight unread,
of which `M` are confident errors. The rate is the ratio of their means over groups, E[M] / E[U].
If it is `r` or more, then E[M - r U] >= 0. A capital that is multiplied by `1 - b (M - r U)` for
each group, with a stake `b` fixed beforehand, is then not expected to grow, whatever the
dependence within groups; nor is the mean capital of several stakes. By Markov's inequality it
reaches `1 / delta` with a chance of at most `delta`, and a rate at which it does is ruled out. The
capital grows with `r`, so these are all the rates from one on: the bound.

A capital must not fall below zero: a stake is at most `1 / ((1 - r) B)`, where no group can hold
more than `B` confident errors. `B` is the most confident predictions that a group has. It is
taken from the rows, so the statement is about groups no larger than the largest that was seen.
"""

from __future__ import annotations

import numpy as np

from falcon_discover.runtime.types import FloatArray

# Stakes as parts of the largest one; the more is missed, the smaller the best one is.
STAKES = np.array([0.25, 0.5, 0.75, 1.0])
# Groups are told apart by so many steps of the largest; rounding is to the safe side.
STEPS = 512
HALVINGS = 32


def betting_bound(
    missed: FloatArray, unread: FloatArray, largest: float, confidence_level: float
) -> float:
    """Return the upper bound on the ratio of missed to unread; 0 where nothing is unread.

    Parameters
    ----------
    missed, unread : by group: the weight of confident errors, and of rows, that are not reviewed
    largest : what a group can miss at most

    Examples
    --------
    >>> nothing, ten = np.zeros(300), np.full(300, 10.0)
    >>> round(betting_bound(nothing, ten, largest=10, confidence_level=0.95), 3)
    0.013
    """
    if not largest or not unread.any():
        return 0.0
    groups = _alike(missed, unread, largest)
    wanted = -np.log1p(-confidence_level)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _capital(*groups, middle) >= wanted:
            high = middle
        else:
            low = middle
    return high


def _alike(
    missed: FloatArray, unread: FloatArray, largest: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return missed and unread parts of the largest, and how many groups have them."""
    # Whole numbers, as of rows that count alike, stay what they are.
    step = largest / STEPS if largest > STEPS or largest != int(largest) else 1.0
    lost = np.ceil(missed / step - 1e-9).astype(np.int64)
    left = np.floor(unread / step + 1e-9).astype(np.int64)
    width = int(left.max()) + 1
    kinds, counts = np.unique(lost * width + left, return_counts=True)
    unit = step / largest
    return kinds // width * unit, kinds % width * unit, counts.astype(np.float64)


def _capital(missed: FloatArray, unread: FloatArray, groups: FloatArray, rate: float) -> float:
    """Return the log of the mean capital of all stakes."""
    lost = (np.minimum(missed, 1.0) - rate * unread) / (1.0 - rate)
    with np.errstate(divide="ignore"):
        growth = np.log(np.maximum(1.0 - np.outer(STAKES, lost), 0.0)) @ groups
    return float(np.logaddexp.reduce(growth) - np.log(len(STAKES)))


def fewest_groups(max_residual_rate: float, confidence_level: float) -> int:
    """Return how many equal groups without an event are needed for the bound to reach a rate.

    Examples
    --------
    >>> fewest_groups(0.01, 0.95)
    392
    """

    def enough(groups: int) -> bool:
        one = np.full(groups, 1.0)
        return betting_bound(0.0 * one, one, 1.0, confidence_level) <= max_residual_rate

    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
