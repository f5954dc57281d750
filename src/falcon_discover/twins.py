"""Twins: rows with the same values and the same label, as copies and repeated exports leave them.

A copy is no new evidence, but nobody can tell it from a row that is equal by chance. So a test or
a bound that rests on independent rows is made twice, with all rows and with one of each set of
twins, and the more cautious of the two counts: it holds in either case.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from falcon_discover.tables import IntArray


def twin_sets(hashes: npt.NDArray[np.uint64], codes: npt.ArrayLike) -> IntArray:
    """Return the number of each row's set of twins.

    Parameters
    ----------
    hashes : of the rows' values, as `Table.row_hashes` gives them
    codes : their labels

    Examples
    --------
    >>> twin_sets(np.array([7, 9, 7, 7], dtype=np.uint64), [0, 0, 0, 1]).tolist()
    [0, 2, 0, 1]
    """
    pairs = np.rec.fromarrays([hashes, np.asarray(codes).astype(np.int64)])
    return np.unique(pairs, return_inverse=True)[1].ravel().astype(np.intp)


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
