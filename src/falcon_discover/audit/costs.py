"""What a confident error costs, and what rows are expected to cost by it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import numbers_of
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.runtime.words import number_of

# Costs are added up.
DEAREST = 1e100
# The name, among rankers, of the order by expected cost.
BY_COST = "by_cost"


def checked_cost(cost: Any, n: int) -> FloatArray:
    """Return one cost for each row, or say which one cannot be.

    Examples
    --------
    >>> checked_cost([0, 250], 2)
    array([  0., 250.])
    """
    values = numbers_of(cost, "cost")
    if values.shape != (n,):
        raise InputError(f"cost has the shape {values.shape}: give one number per row, {n} in all.")
    bad = np.flatnonzero(~((values >= 0) & (values <= DEAREST)))
    if len(bad):
        most = f", at most {DEAREST:g}" if np.isfinite(values[bad[0]]) else ""
        raise InputError(
            f"cost is {values[bad[0]]:g} in row {bad[0]} ({number_of(len(bad), 'such row')}): "
            f"give numbers of 0 or more{most}."
        )
    return values


def expected_cost(
    cost: FloatArray, risk: FloatArray | None, suspicion: FloatArray, eligible: BoolArray
) -> FloatArray:
    """Return what rows are ordered by where errors have a cost: risk times cost.

    Suspicion has no scale of its own. So where no risk is known, the share of the rows that are no
    more suspicious takes its place. A row that is not eligible cannot be a confident error.

    Examples
    --------
    >>> sure = np.array([True, True, False])
    >>> expected_cost(np.array([10.0, 1.0, 99.0]), np.array([0.1, 0.5, 0.0]), np.zeros(3), sure)
    array([1. , 0.5, 0. ])
    """
    if risk is None:
        risk = np.where(eligible, rankdata(suspicion, method="max") / max(len(suspicion), 1), 0.0)
    return risk * cost
