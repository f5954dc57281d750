"""Sums of numbers that do not depend on the order in which they are added.

Adding floats in another order gives other last digits. Whole multiples of a small unit add up
exactly, so parts may be added in any order, on any machine.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from falcon_discover.runtime.types import FloatArray

UNIT = 2.0**-32
WholeArray = npt.NDArray[np.int64]


def whole(values: FloatArray) -> WholeArray:
    """Return values as multiples of the unit.

    Examples
    --------
    >>> int(whole(np.full(10, 0.1)).sum()) == 10 * int(whole(np.array([0.1]))[0])
    True
    """
    return np.rint(values / UNIT).astype(np.int64)


def total(values: FloatArray) -> WholeArray:
    """Return the exact sums of the columns, in units."""
    return np.asarray(whole(values).sum(axis=0), dtype=np.int64)


def number(units: WholeArray) -> FloatArray:
    """Return sums of units as numbers."""
    return np.asarray(units * UNIT, dtype=np.float64)
