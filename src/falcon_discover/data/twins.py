"""Twins: rows with the same values and the same label, as copies and repeated exports leave them.

A copy is no new evidence, but nobody can tell it from a row that is equal by chance. So a test or
a bound that rests on independent rows is made twice, with all rows and with one of each set of
twins, and the more cautious of the two counts: it holds in either case.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.metrics.ordering import scramble, tie_keys
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import FloatArray, IntArray, UInt64Array

# Share of labelled rows with a twin from which a warning says so.
MANY = 0.01


def twin_sets(hashes: UInt64Array, codes: npt.ArrayLike) -> IntArray:
    """Return the number of each row's set of twins, by the hash of its values and its label.

    Examples
    --------
    >>> twin_sets(np.array([7, 9, 7, 7], dtype=np.uint64), [0, 0, 0, 1]).tolist()
    [0, 1, 0, 2]
    """
    label = np.asarray(codes).astype(np.uint64)
    return pd.factorize(hashes ^ scramble(label))[0].astype(np.intp)


def rows_with_twins(sets: IntArray) -> int:
    """Return how many rows have a twin.

    Examples
    --------
    >>> rows_with_twins(np.array([0, 2, 0, 1]))
    2
    """
    size = np.bincount(sets)
    return int(size[size > 1].sum())


def one_of_each(sets: IntArray, key: npt.ArrayLike) -> IntArray:
    """Return the positions of one row of each set, in ascending order: the one with the least key.

    Twins may be scored by different fold models. By the key, not by position: which row stands
    for its set must not depend on the order of the rows. Rows of equal key stand for each other.

    Examples
    --------
    >>> one_of_each(np.array([0, 2, 0, 1]), [0.9, 0.2, 0.8, 0.5]).tolist()
    [1, 2, 3]
    """
    order = np.lexsort((np.asarray(key), sets))
    first = np.append(True, np.diff(sets[order]) != 0)[: len(order)]
    return np.sort(order[first])


@dataclass(frozen=True, eq=False)
class Content:
    """What labelled rows hold, as far as their order and bounds depend on it.

    `ties` orders rows of equal score, `sets` numbers their sets of twins, and by their scores `p`
    one of a set stands for it; `distinct` rows differ in their values, labels aside.
    """

    ties: UInt64Array
    sets: IntArray
    p: FloatArray
    distinct: int

    @classmethod
    def of(cls, hashes: UInt64Array, seed: int, codes: npt.ArrayLike, p: FloatArray) -> Content:
        """Return the content of rows, by the hashes of their values and their labels."""
        sets = twin_sets(hashes, codes)
        return cls(tie_keys(hashes, seed), sets, p, len(np.unique(hashes)))

    @property
    def twins(self) -> int:
        """How many rows have a twin."""
        return rows_with_twins(self.sets)

    def one_of_each(self, score: FloatArray) -> IntArray:
        """Return the positions of one row of each set, by `p` and then by the score."""
        place = np.empty(len(score), dtype=np.intp)
        place[np.lexsort((score, self.p))] = np.arange(len(score))
        return one_of_each(self.sets, place)


def warn_twins(twins: int, rows: int) -> None:
    """Warn where many labelled rows have a twin: bounds and tests rest on independent rows."""
    if twins > MANY * rows:
        notices.warn(
            f"{twins:,} of {rows:,} labelled rows have a twin with the same values and label. "
            "Copies add no evidence, so budgets and bounds are computed both with all rows and "
            "with one of each, and the more cautious result is used; all other figures count "
            "every row. If these are copies, remove them (drop_duplicates on features and label) "
            "and audit again."
        )
