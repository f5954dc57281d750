"""The k nearest reference rows, exactly and reproducibly.

Distances are Euclidean between float32 coordinates. They are accumulated in float64 and
compared at float32 precision; rows at the same distance are taken in reference order. So the
answer does not depend on the number of threads, on chunk sizes, or on the search algorithm.
The exception is an inverted file (`search.INVERTED_FILE_FROM` rows and more, with faiss): its
`recall` says how many of the nearest rows it finds.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from sklearn import get_config

from falcon_discover.runtime.threads import one_blas_thread, thread_count
from falcon_discover.runtime.types import BoolArray, Float32Array, FloatArray, IntArray
from falcon_discover.signals.neighbours.backends import Search, searches

# Extra candidates fetched per query, so that most ties at rank k are settled without a full scan.
TIE_MARGIN = 7
# Share of rows left open that is scanned at once; for more, another search is asked before.
FEW_OPEN = 0.05
# Rows whose candidates are measured at once: the differences stay in the processor's cache.
MEASURED_ROWS = 32


def rows_within_budget(bytes_per_row: float, at_most: int) -> int:
    """Return how many rows fit in scikit-learn's `working_memory` setting.

    Examples
    --------
    >>> import sklearn
    >>> with sklearn.config_context(working_memory=1):
    ...     rows_within_budget(bytes_per_row=1024, at_most=10_000)
    1024
    """
    budget = get_config()["working_memory"] * 2**20
    return max(1, min(at_most, int(budget // max(bytes_per_row, 1))))


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Positions of the nearest reference rows, nearest first, and their distances.

    `class_distances`, where asked for, are those to the nearest rows of class 0 and of class 1:
    rows x 2 x k, nearest first, infinite where a class has no k-th row.
    """

    rows: IntArray
    distances: Float32Array
    class_distances: Float32Array | None = None

    def __getitem__(self, part: slice | IntArray) -> Neighbours:
        by_class = None if self.class_distances is None else self.class_distances[part]
        return Neighbours(self.rows[part], self.distances[part], by_class)


class NeighbourIndex:
    """Nearest-neighbour search among fixed reference rows.

    `recall` is the share of the nearest rows that are found, 1.0 unless there are very many.

    Examples
    --------
    >>> index = NeighbourIndex(np.array([[0.0], [1.0], [1.0]], dtype=np.float32))
    >>> index.query(np.array([[0.9]], dtype=np.float32), k=2).rows
    array([[1, 2]])
    """

    def __init__(self, reference: Float32Array, n_jobs: int | None = None) -> None:
        self.reference = np.ascontiguousarray(reference, dtype=np.float32)
        self._threads = thread_count(n_jobs)
        self._searches = searches(self.reference, n_jobs)
        self.recall = min(search.recall for search in self._searches)

    def __len__(self) -> int:
        return len(self.reference)

    def query(self, rows: Float32Array, k: int) -> Neighbours:
        """Return the `k` nearest reference rows of each row (fewer if there are fewer)."""
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        k = min(k, len(self))
        positions = np.empty((len(rows), k), dtype=np.intp)
        distances = np.empty((len(rows), k), dtype=np.float32)
        step = rows_within_budget((k + TIE_MARGIN) * 64, at_most=len(rows))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            self._query_part(rows[part], k, positions[part], distances[part])
        return Neighbours(positions, distances)

    def _query_part(
        self, rows: Float32Array, k: int, positions: IntArray, distances: Float32Array
    ) -> None:
        still_open = np.arange(len(rows))
        for search in self._searches:
            asked = rows if len(still_open) == len(rows) else rows[still_open]
            near, far, settled = self._nearest(search, asked, k)
            positions[still_open], distances[still_open] = near, far
            still_open = still_open[~settled]
            if len(still_open) <= FEW_OPEN * len(rows):
                break
        self._settle_ties(rows, still_open, k, positions, distances)

    def _nearest(
        self, search: Search, rows: Float32Array, k: int
    ) -> tuple[IntArray, Float32Array, BoolArray]:
        """Return a search's candidates, measured and ranked, and for which rows that is final."""
        wanted = min(k + TIE_MARGIN, len(self))
        squares, candidates = search.nearest(rows, wanted)
        near, far = _ordered(candidates, self._measured(rows, candidates))
        near, far = near[:, :k], far[:, :k]
        if wanted == len(self) or not search.complete:
            return near, far, np.ones(len(rows), dtype=bool)
        # Any other row y has a squared distance of at least `beyond`: the search has it at the
        # last candidate's or further, and its error is at most error * (|x| + |y|)^2, where
        # |y| is at most |x| plus the distance. Single precision may also have overflowed.
        error = (rows.shape[1] + 2) * search.unit
        norms = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        beyond = (squares[:, -1] - 8 * error * norms) / (1 + 2 * error)
        return near, far, (_widened(far[:, -1]) < beyond) & np.isfinite(beyond)

    def _measured(self, rows: Float32Array, candidates: IntArray) -> Float32Array:
        """Return the exact distances of candidates, a share of the rows on each thread."""
        if self._threads == 1 or len(rows) < self._threads * MEASURED_ROWS:
            return _exact_distances(self.reference, rows, candidates)
        bounds = np.linspace(0, len(rows), self._threads + 1).astype(int)
        shares = [slice(*pair) for pair in pairwise(bounds)]
        with ThreadPoolExecutor(self._threads) as pool:
            measured = pool.map(
                lambda share: _exact_distances(self.reference, rows[share], candidates[share]),
                shares,
            )
            return np.concatenate(list(measured))

    def _settle_ties(
        self,
        rows: Float32Array,
        which: IntArray,
        k: int,
        positions: IntArray,
        distances: Float32Array,
    ) -> None:
        """Rank all reference rows as near as the k-th candidate."""
        step = rows_within_budget(len(self) * 16, at_most=len(which))
        for start in range(0, len(which), step):
            block = which[start : start + step]
            # More BLAS threads would spin for a while after this, in the way of the next step.
            with one_blas_thread():
                near = self._within(rows[block], distances[block, -1])
            for i, row in enumerate(block):
                close = np.flatnonzero(near[i])
                exact = _exact_distances(self.reference, rows[row : row + 1], close[None, :])[0]
                first = np.argsort(exact, kind="stable")[:k]
                positions[row], distances[row] = close[first], exact[first]

    def _within(self, rows: Float32Array, reach: Float32Array) -> BoolArray:
        """Return which reference rows may be as near as `reach`, a few too many."""
        # The shortcut |x|^2 - 2xy + |y|^2 loses digits in proportion to the norms: so much less.
        kept = np.float32(1 - 4 * (rows.shape[1] + 2) * 2.0**-24)
        with np.errstate(over="ignore", invalid="ignore"):
            own = np.einsum("ij,ij->i", rows, rows)
            limits = (_widened(reach) - own * kept).astype(np.float32)
            squares = (-2 * rows) @ self.reference.T
            squares += self._norms * kept
        # What overflows single precision may be near.
        limits[~np.isfinite(limits)] = np.inf
        return np.asarray(~((squares > limits[:, None]) & (squares < np.inf)))

    @cached_property
    def _norms(self) -> Float32Array:
        return np.einsum("ij,ij->i", self.reference, self.reference)


class LabelledIndex:
    """Nearest reference rows over all and by class, for little more than one search.

    By class, each is searched by itself and the answers are merged, so the rows are the same as
    those of one search over all.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [1.0]], dtype=np.float32)
    >>> found = LabelledIndex(rows, np.array([0, 1, 0])).query(
    ...     np.array([[0.9]]), k=2, by_class=True
    ... )
    >>> found.rows, found.class_distances[0].round(2)
    (array([[1, 2]]), array([[0.1, 0.9],
           [0.1, inf]], dtype=float32))
    """

    def __init__(
        self,
        reference: Float32Array,
        labels: npt.NDArray[np.integer],
        n_jobs: int | None = None,
        n_classes: int = 2,
    ) -> None:
        self.reference = np.ascontiguousarray(reference, dtype=np.float32)
        self._n_jobs = n_jobs
        self._positions = [np.flatnonzero(labels == c) for c in range(n_classes)]
        self._classes = [
            NeighbourIndex(self.reference[own], n_jobs) if len(own) else None
            for own in self._positions
        ]

    def __len__(self) -> int:
        return len(self.reference)

    @property
    def recall(self) -> float:
        """Share of the nearest rows that are found, 1.0 unless there are very many."""
        return min(index.recall for index in self._classes if index is not None)

    @cached_property
    def _all(self) -> NeighbourIndex:
        return NeighbourIndex(self.reference, self._n_jobs)

    def query(self, rows: Float32Array, k: int, *, by_class: bool = False) -> Neighbours:
        """Return the `k` nearest reference rows of each row (fewer if there are fewer)."""
        return self.merged(self.by_class(rows, k), k) if by_class else self._all.query(rows, k)

    def by_class(self, rows: Float32Array, k: int) -> list[Neighbours | None]:
        """Return the `k` nearest reference rows of each class; None for a class without rows."""
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        lists: list[Neighbours | None] = []
        for own, index in zip(self._positions, self._classes, strict=True):
            found = None if index is None else index.query(rows, k)
            lists.append(None if found is None else Neighbours(own[found.rows], found.distances))
        return lists

    def merged(self, lists: list[Neighbours | None], k: int) -> Neighbours:
        """Return the `k` nearest rows over all from lists by class that are at least as long."""
        there = [found for found in lists if found is not None]
        by_class = np.full((len(there[0].rows), len(lists), k), np.inf, dtype=np.float32)
        for c, found in enumerate(lists):
            if found is not None:
                nearest = found.distances[:, :k]
                by_class[:, c, : nearest.shape[1]] = nearest
        near = np.concatenate([found.rows[:, :k] for found in there], axis=1)
        far = np.concatenate([found.distances[:, :k] for found in there], axis=1)
        k = min(k, len(self))
        near, far = _ordered(near, far)
        return Neighbours(near[:, :k].copy(), far[:, :k].copy(), by_class)

    def distances_among(
        self, rows: Float32Array, label: int, used: BoolArray, k: int
    ) -> Float32Array:
        """Return the distances to the `k` nearest rows of a class, among some of the rows."""
        own = self._positions[label]
        left = self.reference[own[used[own]]]
        if not len(left):
            return np.empty((len(rows), 0), dtype=np.float32)
        return NeighbourIndex(left, self._n_jobs).query(rows, k).distances


def _ordered(positions: IntArray, distances: Float32Array) -> tuple[IntArray, Float32Array]:
    """Return candidates by distance, ties by position."""
    here, after = distances[:, :-1], distances[:, 1:]
    in_order = (here < after) | ((here == after) & (positions[:, :-1] < positions[:, 1:]))
    # A search has nearly always got the order right.
    wrong = np.flatnonzero(~in_order.all(axis=1))
    if len(wrong):
        order = np.lexsort((positions[wrong], distances[wrong]), axis=1)
        positions, distances = positions.copy(), distances.copy()
        positions[wrong] = np.take_along_axis(positions[wrong], order, 1)
        distances[wrong] = np.take_along_axis(distances[wrong], order, 1)
    return positions, distances


def _widened(distances: Float32Array) -> FloatArray:
    """Return squares of distances, or more: below are all that round to such a distance."""
    return distances.astype(np.float64) ** 2 * (1 + 1e-6)


def _exact_distances(
    reference: Float32Array, rows: Float32Array, candidates: IntArray
) -> Float32Array:
    exact = np.empty(candidates.shape, dtype=np.float32)
    for start in range(0, len(rows), MEASURED_ROWS):
        part = slice(start, start + MEASURED_ROWS)
        near = reference.take(candidates[part], axis=0)
        gaps = np.subtract(near, rows[part, None, :], dtype=np.float64)
        exact[part] = np.sqrt(np.einsum("ijk,ijk->ij", gaps, gaps))
    return exact
