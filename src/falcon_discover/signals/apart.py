"""Evidence once more, without one other fold: what a model of evidence learns from.

The label of a row sits in the evidence of its neighbours, and theirs in its own. A model that
learned from the neighbours' evidence would meet the same pairs of labels again when it scores the
row. So it learns from evidence that was measured without the fold it is to score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from falcon_discover.models.folds import NO_FOLD
from falcon_discover.runtime.types import BoolArray, Float32Array, FloatArray, IntArray
from falcon_discover.signals.extended import opinion_signals, trust_signals
from falcon_discover.signals.neighbours.index import LabelledIndex, Neighbours

# How many more neighbours a fold may take away than it does on average, in standard deviations.
DEVIATIONS = 4.0


@dataclass(frozen=True, eq=False)
class Apart:
    """The evidence of labelled rows, measured without their own fold and without one more.

    `names` are columns of the evidence that depend on labels; `numbers` are rows x folds x names,
    NaN where there is nothing to measure without.
    """

    names: tuple[str, ...]
    numbers: Float32Array

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

    def compared_with(self, rows: BoolArray) -> BoolArray:
        """Return which folds are among what the given rows were compared with."""
        return np.asarray(~np.isnan(self.numbers[rows]).all(axis=(0, 2)))

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


def spared(k: int, n_folds: int) -> int:
    """Return how many neighbours to search for so that k are left without one fold.

    Examples
    --------
    >>> spared(25, n_folds=5)
    47
    """
    if n_folds < 3:
        return k
    kept = 1.0 - 1.0 / (n_folds - 1)
    return math.ceil((k + DEVIATIONS * math.sqrt(k * (1.0 - kept))) / kept)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The neighbours of a fold's rows, more of each class than are needed.

    Attributes
    ----------
    index, rows : what was searched, and the rows it was searched for
    lists : the nearest reference rows of each class, `searched` of them where there are
    k, n_neighbors : how many of each class, and of both, count
    """

    index: LabelledIndex
    rows: Float32Array
    lists: list[Neighbours | None]
    searched: int
    k: int
    n_neighbors: int

    @classmethod
    def of(
        cls, index: LabelledIndex, rows: Float32Array, k: int, n_neighbors: int, folds: int
    ) -> Surroundings:
        """Search for the neighbours of rows."""
        searched = spared(k, folds)
        return cls(index, rows, index.by_class(rows, searched), searched, k, n_neighbors)

    def nearest(self) -> Neighbours:
        """Return the nearest rows of all folds."""
        return self.index.merged(self.lists, self.k)

    def evidence(self, decision: IntArray, used: BoolArray) -> dict[str, FloatArray]:
        """Return how the nearest used reference rows are labelled, and how near each class is."""
        near = np.full((len(self.rows), len(self.lists), self.k), np.inf, dtype=np.float32)
        for label, found in enumerate(self.lists):
            if found is not None:
                far = self._distances(label, found, used)
                near[:, label, : far.shape[1]] = far
        every = near.reshape(len(near), -1)
        first = np.argsort(every, axis=1, kind="stable")[:, : self.n_neighbors]
        there = np.isfinite(np.take_along_axis(every, first, axis=1))
        alike = ((first // self.k == decision[:, None]) & there).sum(axis=1)
        count = there.sum(axis=1)
        share = alike / np.maximum(count, 1)
        return {
            "neighbours": count.astype(np.float64),
            "labelled_as_predicted": share.astype(np.float64),
            **trust_signals(decision, near),
        }

    def _distances(self, label: int, found: Neighbours, used: BoolArray) -> Float32Array:
        there = used[found.rows]
        far = np.sort(np.where(there, found.distances, np.float32(np.inf)), axis=1)[:, : self.k]
        if found.rows.shape[1] == self.searched:
            # A few lists end too soon.
            short = np.flatnonzero(there.sum(axis=1) < self.k)
            if len(short):
                more = self.index.distances_among(self.rows[short], label, used, self.k)
                far[short, : more.shape[1]] = more
        return far


def pair_evidence(
    decision: IntArray,
    around: Surroundings,
    fold_of_reference: IntArray,
    said: tuple[list[str], FloatArray] | None,
    n_folds: int,
) -> Apart:
    """Return the evidence of a fold's rows without each of the other folds.

    Rows in no fold are marked with `NO_FOLD` in `fold_of_reference`. `said` has the names of the
    second opinions, and what those said that saw neither fold: folds x rows x opinions (x classes).
    """
    names: tuple[str, ...] = ()
    numbers = np.empty((0, 0, 0), dtype=np.float32)
    # Without any fold to leave out there are the names alone.
    for fold in np.unique(fold_of_reference[fold_of_reference != NO_FOLD]).tolist() or [NO_FOLD]:
        columns = around.evidence(decision, fold_of_reference != fold)
        if said is not None:
            columns |= opinion_signals(decision, said[0], said[1][fold])
        if not names:
            names = tuple(columns)
            numbers = np.full((len(decision), n_folds, len(names)), np.nan, dtype=np.float32)
        if fold != NO_FOLD:
            numbers[:, fold] = np.column_stack(list(columns.values()))
    return Apart(names, numbers)
