"""Evidence once more, without one other fold: what a model of evidence learns from.

The label of a row sits in the evidence of its neighbours, and theirs in its own. A model that
learned from the neighbours' evidence would meet the same pairs of labels again when it scores the
row. So it learns from evidence that was measured without the fold it is to score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.neighbours import Neighbours
from falcon_discover.signals.extended import opinion_signals, trust_signals
from falcon_discover.tables import BoolArray, FloatArray, IntArray

# Neighbours searched for each one that is needed: a fold of five takes a quarter of them away.
SPARE = 1.6


@dataclass(frozen=True, eq=False)
class Apart:
    """The evidence of labelled rows, measured without their own fold and without one more.

    Attributes
    ----------
    names : columns of the evidence that depend on labels
    numbers : rows x folds x names; not a number where there is nothing to measure without
    """

    names: tuple[str, ...]
    numbers: npt.NDArray[np.float32]

    def take(self, rows: IntArray | BoolArray) -> Apart:
        """Return the given rows."""
        return Apart(self.names, self.numbers[rows])

    def evidence(self, fold: int, ordinary: pd.DataFrame) -> pd.DataFrame:
        """Return the evidence without a fold; the ordinary one where that is all there is."""
        known = self.numbers[:, fold].astype(np.float64)
        changed = {
            name: np.where(np.isnan(known[:, i]), ordinary[name], known[:, i])
            for i, name in enumerate(self.names)
        }
        return ordinary.assign(**changed)

    def followed_by(self, rows: int) -> Apart:
        """Return the same with further rows, which have nothing apart."""
        more = np.full((rows, *self.numbers.shape[1:]), np.nan, dtype=np.float32)
        return Apart(self.names, np.concatenate([self.numbers, more]))

    def frame(self, prefix: str = "") -> pd.DataFrame:
        """Return one column per fold and name, to be stored."""
        folds = range(self.numbers.shape[1])
        names = [f"{prefix}{fold}:{name}" for fold in folds for name in self.names]
        return pd.DataFrame(self.numbers.reshape(len(self.numbers), -1), columns=names)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Apart | None:
        """Return what `frame()` gave; None where it has no columns."""
        if not frame.shape[1]:
            return None
        names = [str(name).split(":", 1)[1] for name in frame.columns]
        names = list(dict.fromkeys(names))
        values = frame.to_numpy(dtype=np.float32).reshape(len(frame), -1, len(names))
        return cls(tuple(names), values)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Apart:
        """Return the rows of several parts one after another."""
        return cls(parts[0].names, np.concatenate([part.numbers for part in parts]))


def spared(k: int) -> int:
    """Return how many neighbours to search for so that k are left without one fold.

    Examples
    --------
    >>> spared(25)
    40
    """
    return round(SPARE * k)


def neighbour_evidence(
    decision: BoolArray, by_class: Sequence[Neighbours | None], used: BoolArray, k: int
) -> dict[str, FloatArray]:
    """Return how the k nearest of some reference rows are labelled, and how near each class is.

    Parameters
    ----------
    by_class : the nearest reference rows of each class, `spared(k)` of them where there are
    used : which reference rows to look at

    Examples
    --------
    >>> near = [
    ...     Neighbours(np.array([[0, 2]]), np.array([[1.0, 3.0]], dtype=np.float32)),
    ...     Neighbours(np.array([[1]]), np.array([[2.0]], dtype=np.float32)),
    ... ]
    >>> found = neighbour_evidence(np.array([True]), near, np.array([False, True, True]), k=2)
    >>> found["neighbours"], found["labelled_as_predicted"]
    (array([2.]), array([0.5]))
    """
    nearest = np.full((len(decision), 2, k), np.inf, dtype=np.float32)
    for label, found in enumerate(by_class):
        if found is None:
            continue
        there = used[found.rows]
        far = np.sort(np.where(there, found.distances, np.inf), axis=1)[:, :k]
        if found.rows.shape[1] >= spared(k):
            # A list that may end too soon: the rows beyond it are at least as far as its last.
            far = np.where(np.isinf(far), found.distances[:, -1:], far)
        nearest[:, label, : far.shape[1]] = far
    both = nearest.reshape(len(decision), -1)
    first = np.argsort(both, axis=1, kind="stable")[:, :k]
    there = np.isfinite(np.take_along_axis(both, first, axis=1))
    positive = ((first >= k) & there).sum(axis=1)
    count = there.sum(axis=1)
    share = np.where(decision, positive, count - positive) / np.maximum(count, 1)
    return {
        "neighbours": count.astype(np.float64),
        "labelled_as_predicted": share.astype(np.float64),
        **trust_signals(decision, nearest),
    }


def pair_evidence(
    decision: BoolArray,
    by_class: Sequence[Neighbours | None],
    fold_of_reference: IntArray,
    said: tuple[list[str], npt.NDArray[np.float64]] | None,
    k: int,
    n_folds: int,
) -> Apart:
    """Return the evidence of a fold's rows without each of the other folds.

    Parameters
    ----------
    fold_of_reference : the fold of each reference row
    said : names of the second opinions, and what those said that saw neither fold:
        folds x rows x opinions; None without opinions
    """
    names: tuple[str, ...] = ()
    values = np.empty((0, 0, 0), dtype=np.float32)
    for fold in np.unique(fold_of_reference):
        columns = neighbour_evidence(decision, by_class, fold_of_reference != fold, k)
        if said is not None:
            columns |= opinion_signals(decision, said[0], said[1][fold])
        if not names:
            names = tuple(columns)
            values = np.full((len(decision), n_folds, len(names)), np.nan, dtype=np.float32)
        values[:, fold] = np.column_stack(list(columns.values()))
    return Apart(names, values)
