"""Which rows find regions and which confirm them: by the rows' values, not by their order."""

from __future__ import annotations

import numpy as np
import pandas as pd

from falcon_discover.data.twins import twin_sets
from falcon_discover.metrics.ordering import STEP, scramble
from falcon_discover.runtime.types import BoolArray, IntArray, UInt64Array

HashArray = UInt64Array


def twins_of(frame: pd.DataFrame, events: BoolArray, eligible: BoolArray) -> IntArray:
    """Return the number of each row's set of twins.

    Of confident rows with the same values those with the same label are all errors, or none is.
    """
    return twin_sets(_hashes(frame), _kind(events, eligible))


def halves(
    frame: pd.DataFrame,
    events: BoolArray,
    eligible: BoolArray,
    seed: int,
    group: IntArray | None = None,
) -> BoolArray:
    """Return two rows of marks, each of one random half; what is found on one the other confirms.

    Each half has half of the events and of the eligible rows. Rows of the same values and kind
    are in one half, and the order of rows and columns does not matter.

    Parameters
    ----------
    group : the number of each row's group; then each half has half of the groups with events, and
        of those with eligible rows, and no group is in both

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [1.0, 2.0, 1.0, 3.0, 4.0]})
    >>> events = np.zeros(5, dtype=bool)
    >>> first, second = halves(frame, events, ~events, seed=0)
    >>> bool(first[0] == first[2]), frame[first].nunique().item(), bool((first ^ second).all())
    (True, 2, True)
    """
    keys = scramble(_hashes(frame) + np.uint64(seed * STEP % 2**64))
    kind = _kind(events, eligible)
    if group is not None:
        keys, kind = _of_groups(keys, kind, group)
    first = np.zeros(len(frame), dtype=bool)
    for value in np.unique(kind):
        own = kind == value
        different = np.unique(keys[own])
        first[own] = keys[own] < different[len(different) // 2]
    return np.array([first, ~first])


def _of_groups(keys: HashArray, kind: IntArray, group: IntArray) -> tuple[HashArray, IntArray]:
    """Return one key and one kind for all rows of a group: of all its rows, and its highest."""
    _, place = np.unique(group, return_inverse=True)
    joined = np.zeros(place.max(initial=-1) + 1, dtype=np.uint64)
    np.add.at(joined, place, keys)
    highest = np.zeros(len(joined), dtype=np.intp)
    np.maximum.at(highest, place, kind)
    return scramble(joined)[place], highest[place]


def _kind(events: BoolArray, eligible: BoolArray) -> IntArray:
    return np.asarray(events & eligible, dtype=np.intp) + eligible


def _hashes(frame: pd.DataFrame) -> HashArray:
    by_name = sorted(range(frame.shape[1]), key=lambda i: str(frame.columns[i]))
    hashes = pd.util.hash_pandas_object(frame.iloc[:, by_name], index=False)
    return np.asarray(hashes, dtype=np.uint64)
