"""The k nearest reference rows, exactly and reproducibly.

Distances are Euclidean between float32 coordinates. They are accumulated in float64 and
compared at float32 precision; rows at the same distance are taken in reference order. So the
answer does not depend on the number of threads, on chunk sizes, or on the search algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.neighbors import NearestNeighbors

# scikit-learn's k-d tree is faster than brute force only on narrow tables.
KD_TREE_MAX_WIDTH = 8
# Extra candidates fetched per query, so that most ties at rank k are settled without a full scan.
TIE_MARGIN = 7

Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


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


@dataclass(frozen=True)
class Neighbours:
    """Positions of the nearest reference rows, nearest first, and their distances.

    `class_distances`, where asked for, are those to the nearest rows of class 0 and of class 1:
    rows x 2 x k, nearest first, infinite where a class has no k-th row.
    """

    rows: IntArray
    distances: Float32Array
    class_distances: Float32Array | None = None


class NeighbourIndex:
    """Exact nearest-neighbour search among fixed reference rows.

    Examples
    --------
    >>> index = NeighbourIndex(np.array([[0.0], [1.0], [1.0]], dtype=np.float32))
    >>> index.query(np.array([[0.9]], dtype=np.float32), k=2).rows
    array([[1, 2]])
    """

    def __init__(self, reference: Float32Array, n_jobs: int | None = None) -> None:
        self.reference = np.ascontiguousarray(reference, dtype=np.float32)
        narrow = self.reference.shape[1] <= KD_TREE_MAX_WIDTH
        self._search = NearestNeighbors(
            algorithm="kd_tree" if narrow else "brute", n_jobs=n_jobs
        ).fit(self.reference)

    def __len__(self) -> int:
        return len(self.reference)

    def query(self, rows: Float32Array, k: int) -> Neighbours:
        """Return the `k` nearest reference rows of each row (fewer if there are fewer)."""
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        k = min(k, len(self))
        wanted = min(k + TIE_MARGIN, len(self))
        positions = np.empty((len(rows), k), dtype=np.intp)
        distances = np.empty((len(rows), k), dtype=np.float32)
        step = rows_within_budget(wanted * rows.shape[1] * 24, at_most=len(rows))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            self._query_part(rows[part], k, wanted, positions[part], distances[part])
        return Neighbours(positions, distances)

    def _query_part(
        self, rows: Float32Array, k: int, wanted: int, positions: IntArray, distances: Float32Array
    ) -> None:
        roughly, candidates = self._search.kneighbors(rows, n_neighbors=wanted)
        positions[:] = candidates[:, :k]
        distances[:] = roughly[:, :k]
        doubtful = np.flatnonzero(self._order_is_open(rows, roughly))
        if not len(doubtful):
            return
        # Sorting by position first makes the stable sort by distance break ties by position.
        close = np.sort(candidates[doubtful], axis=1)
        exact = self._distances(rows[doubtful], close)
        order = np.argsort(exact, axis=1, kind="stable")
        ranked = np.take_along_axis(exact, order, axis=1)
        positions[doubtful] = np.take_along_axis(close, order, axis=1)[:, :k]
        distances[doubtful] = ranked[:, :k]
        if wanted == len(self):
            return
        # The candidates may end inside a group of ties: others of it were never seen.
        open_ended = doubtful[ranked[:, k - 1] >= ranked[:, -1]]
        self._settle_ties(rows, open_ended, k, positions, distances)

    def _order_is_open(self, rows: Float32Array, roughly: npt.NDArray[np.float64]) -> BoolArray:
        """Return for which rows the search's own distances do not settle the order.

        The search may lose digits in proportion to the squared norms, and distances that are
        equal at float32 precision are ties. Rows that may have a duplicate are settled too, so
        that its distance is exactly 0.
        """
        squares = roughly**2
        loss = _lost_digits(rows, squares)
        duplicates = squares[:, 0] <= 1e-9 + loss[:, 0]
        return _near_ties(squares, loss) | duplicates

    def _settle_ties(
        self,
        rows: Float32Array,
        which: IntArray,
        k: int,
        positions: IntArray,
        distances: Float32Array,
    ) -> None:
        """Rank all reference rows as near as the k-th candidate."""
        if not len(which):
            return
        reference = self.reference.astype(np.float64)
        norms = np.einsum("ij,ij->i", reference, reference)
        step = rows_within_budget(len(self) * 24, at_most=len(which))
        for start in range(0, len(which), step):
            block = which[start : start + step]
            query = rows[block].astype(np.float64)
            own = np.einsum("ij,ij->i", query, query)
            squares = norms[None, :] - 2.0 * (query @ reference.T) + own[:, None]
            # The shortcut above loses digits in proportion to the norms: widen by that much,
            # and by the rounding of distances to float32.
            reach = distances[block, -1].astype(np.float64) ** 2 * (1 + 1e-6)
            slack = 1e-13 * (own[:, None] + norms[None, :]) * reference.shape[1]
            near = squares <= reach[:, None] + slack
            for i, row in enumerate(block):
                close = np.flatnonzero(near[i])
                exact = self._distances(rows[row : row + 1], close[None, :])[0]
                first = np.argsort(exact, kind="stable")[:k]
                positions[row], distances[row] = close[first], exact[first]

    def _distances(self, rows: Float32Array, candidates: IntArray) -> Float32Array:
        return _exact_distances(self.reference, rows, candidates)


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
    ) -> None:
        self.reference = np.ascontiguousarray(reference, dtype=np.float32)
        self._n_jobs = n_jobs
        self._positions = [np.flatnonzero(labels == c) for c in (0, 1)]
        self._classes = [
            NeighbourIndex(self.reference[own], n_jobs) if len(own) else None
            for own in self._positions
        ]

    def __len__(self) -> int:
        return len(self.reference)

    @cached_property
    def _all(self) -> NeighbourIndex:
        return NeighbourIndex(self.reference, self._n_jobs)

    def query(self, rows: Float32Array, k: int, *, by_class: bool = False) -> Neighbours:
        """Return the `k` nearest reference rows of each row (fewer if there are fewer)."""
        return self._query_classes(rows, k) if by_class else self._all.query(rows, k)

    def _query_classes(self, rows: Float32Array, k: int) -> Neighbours:
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        by_class = np.full((len(rows), 2, k), np.inf, dtype=np.float32)
        positions, distances = [], []
        for c, (own, index) in enumerate(zip(self._positions, self._classes, strict=True)):
            if index is not None:
                found = index.query(rows, k)
                by_class[:, c, : found.rows.shape[1]] = found.distances
                positions.append(own[found.rows])
                distances.append(found.distances)
        near, far = np.concatenate(positions, axis=1), np.concatenate(distances, axis=1)
        k = min(k, len(self))
        near, far = _ordered(near, far)
        # Rows of two classes at the same distance: their distances must be rounded alike.
        squares = far.astype(np.float64) ** 2
        doubtful = np.flatnonzero(_near_ties(squares, _lost_digits(rows, squares)))
        step = rows_within_budget(near.shape[1] * rows.shape[1] * 24, at_most=max(len(rows), 1))
        for start in range(0, len(doubtful), step):
            part = doubtful[start : start + step]
            exact = _exact_distances(self.reference, rows[part], near[part])
            near[part], far[part] = _ordered(near[part], exact)
        return Neighbours(near[:, :k].copy(), far[:, :k].copy(), by_class)


def _ordered(positions: IntArray, distances: Float32Array) -> tuple[IntArray, Float32Array]:
    """Return candidates by distance, ties by position."""
    order = np.lexsort((positions, distances), axis=1)
    return np.take_along_axis(positions, order, 1), np.take_along_axis(distances, order, 1)


def _lost_digits(rows: Float32Array, squares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    norms = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)[:, None]
    return np.asarray(1e-12 * (norms + squares))


def _near_ties(squares: npt.NDArray[np.float64], loss: npt.NDArray[np.float64]) -> BoolArray:
    """Return which rows have two candidates that are equally far at float32 precision."""
    ties = np.diff(squares, axis=1) <= 5e-7 * squares[:, 1:] + loss[:, 1:]
    return np.asarray(ties.any(axis=1))


def _exact_distances(
    reference: Float32Array, rows: Float32Array, candidates: IntArray
) -> Float32Array:
    gaps = reference[candidates].astype(np.float64) - rows[:, None, :]
    return np.sqrt(np.einsum("ijk,ijk->ij", gaps, gaps)).astype(np.float32)
