"""Columns of a file that are no features: times, costs, groups and weights of the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from falcon_discover.data.drawing import given_groups, given_weights
from falcon_discover.data.times import Times
from falcon_discover.exceptions import InputError
from falcon_discover.runtime.records import scalar
from falcon_discover.runtime.types import FloatArray, IntArray

# The share of the rows, in the order of time, that is audited against the earlier ones.
LATEST = 0.30
# Columns of groups and weights, by the name of the argument they go into.
DrawnColumns = dict[str, pd.Series]


def by_time(times: Times, name: str) -> tuple[IntArray, IntArray]:
    """Return the earlier rows in order, and the latest; rows of one moment are never parted."""
    order = np.argsort(times, kind="stable")
    ranked = times[order]
    cut = int(np.searchsorted(ranked, ranked[int((1 - LATEST) * len(ranked))], side="left"))
    if not cut:
        cut = int(np.searchsorted(ranked, ranked[0], side="right"))
    if cut == len(ranked):
        raise InputError(
            f"--time names the column {name!r}, which has the same value in every row: name a "
            "column with times."
        )
    return order[:cut], order[cut:]


def column_costs(column: pd.Series) -> FloatArray:
    """Return the costs of a column, or say which one cannot be."""
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(bad):
        value = column.iloc[bad[0]]
        held = "nothing" if pd.isna(value) else repr(scalar(value))
        raise InputError(
            f"--cost names the column {column.name!r}, which holds {held} in row "
            f"{column.index[bad[0]]} ({len(bad):,} such row{'s' if len(bad) > 1 else ''}): give "
            "numbers of 0 or more."
        )
    return numbers


def drawn_columns(data: pd.DataFrame, group: str | None, weight: str | None) -> DrawnColumns:
    """Return the columns of groups and weights that were named, checked."""
    given: DrawnColumns = {}
    if group is not None:
        given["groups"] = data[group]
        given_groups(given["groups"], len(data), f"the column {group!r} (--group)")
    if weight is not None:
        given["sample_weight"] = data[weight]
        given_weights(given["sample_weight"], len(data), f"the column {weight!r} (--weight)")
    return given
