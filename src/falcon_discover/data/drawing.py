"""How rows were drawn: groups whose rows depend on each other, and what each row stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import StratifiedGroupKFold

from falcon_discover.data.labels import label_repr
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.runtime.words import number_of, shortened

# Squares of weights are added up, and must neither overflow nor vanish.
HEAVIEST, LIGHTEST = 1e50, 1e-50
# Values of a column that boosted trees tell apart.
STEPS = 255


def given_weights(sample_weight: Any, n: int, name: str = "sample_weight") -> FloatArray | None:
    """Return how many rows each row stands for; None where each stands for itself.

    Examples
    --------
    >>> given_weights([1, 2.5], 2), given_weights([1, 1], 2)
    (array([1. , 2.5]), None)
    """
    if sample_weight is None:
        return None
    values = _column(sample_weight, n, name)
    if values.dtype.kind not in "biuf":
        # Numbers that came as objects, as tables with gaps hold them.
        try:
            if values.dtype.kind in "cmM":
                raise TypeError(f"they are of the type {values.dtype}")
            values = pd.to_numeric(pd.Series(values)).to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{name} must contain numbers: {shortened(error)}.") from error
    weight = values.astype(np.float64)
    for fault, bad in (
        ("contains NaN or infinity", ~np.isfinite(weight)),
        ("is negative", weight < 0),
        ("is too large", weight > HEAVIEST),
        ("is too small", (weight > 0) & (weight < LIGHTEST)),
    ):
        if bad.any():
            where = int(np.flatnonzero(bad)[0])
            raise InputError(
                f"{name} {fault} in {number_of(int(bad.sum()), 'row')}, first in row {where}: "
                f"give each row {_numbers(fault)}."
            )
    if not weight.any():
        raise InputError(f"{name} is zero in every row: give some rows a weight.")
    return None if (weight == 1.0).all() else weight


def given_groups(
    groups: Any, n: int, name: str = "groups"
) -> tuple[IntArray | None, npt.NDArray[Any]]:
    """Return the number of each row's group, and the groups; None where each row is its own.

    Examples
    --------
    >>> given_groups(["b", "a", "b"], 3)
    (array([0, 1, 0]), array(['b', 'a'], dtype=object))
    >>> given_groups([7, 8, 9], 3)[0] is None
    True
    """
    if groups is None:
        return None, np.empty(0, dtype=object)
    values = _column(groups, n, name)
    missing = np.flatnonzero(pd.isna(values))
    if len(missing):
        raise InputError(
            f"{name} is missing in {number_of(len(missing), 'row')}, first in row {missing[0]}: "
            "give each row a group; a row that belongs to none is its own group."
        )
    try:
        codes, known = pd.factorize(values.astype(object))
    except TypeError as error:
        raise InputError(f"{name} must contain names or numbers: {shortened(error)}.") from error
    return (None if len(known) == n else codes.astype(np.intp)), known


def joined_groups(
    group: IntArray | None,
    known: npt.NDArray[Any],
    other: IntArray | None,
    other_known: npt.NDArray[Any],
) -> IntArray | None:
    """Return the numbers of further groups, told apart from those there are.

    Raises where a group is on both sides: it would be learned from and checked by.
    """
    both = set(known.tolist()) & set(other_known.tolist())
    if both:
        raise InputError(
            f"the group {label_repr(min(both, key=str))} has rows in both X and X_cal: keep all "
            "rows of a group on one side."
        )
    if group is None and other is None:
        return None
    first = len(known)
    return first + (np.arange(len(other_known)) if other is None else other)


def group_folds(
    kind: npt.NDArray[Any], group: IntArray, count: int, seed: int
) -> list[tuple[IntArray, IntArray]]:
    """Return folds that split no group and have about the same share of each kind of row.

    Folds that would hold no row are left out.
    """
    splitter = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
    with notices.ignoring(UserWarning, "The least populated class"):
        folds = list(splitter.split(np.zeros(len(kind)), kind, group))
    return [(others, held_out) for others, held_out in folds if len(held_out)]


def coarse(rows: npt.NDArray[Any], weight: FloatArray) -> npt.NDArray[Any]:
    """Return numbers in so many steps of equal weight as boosted trees tell apart.

    These would find the same steps by themselves, and take a second for it with weights.

    Examples
    --------
    >>> rows = np.arange(1_000.0)[:, None]
    >>> len(np.unique(coarse(rows, np.ones(1_000))))
    255
    """
    found = rows.copy()
    for column in found.T:
        known = ~np.isnan(column)
        values, place = np.unique(column[known], return_inverse=True)
        if len(values) <= STEPS:
            continue
        held = np.bincount(place, weight[known])
        middle = np.cumsum(held) - held / 2
        step = np.minimum((middle / held.sum() * STEPS).astype(np.intp), STEPS - 1)
        sums, counts = np.bincount(step, values), np.bincount(step)
        column[known] = (sums / np.maximum(counts, 1))[step][place]
    return found


def _numbers(fault: str) -> str:
    extreme = fault.startswith("is too")
    return (
        f"0, or a number from {LIGHTEST:g} to {HEAVIEST:g}" if extreme else "a number of 0 or more"
    )


def _column(values: Any, n: int, name: str) -> npt.NDArray[Any]:
    if np.ma.is_masked(values):
        raise InputError(f"{name} contains masked values: give one value for each row.")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} cannot be read, one value for each row: {error}.") from error
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{name} has the shape {array.shape}: give one value for each row.")
    if len(array) != n:
        raise InputError(f"{name} has {len(array):,} values for {n:,} rows: give one for each row.")
    return array
