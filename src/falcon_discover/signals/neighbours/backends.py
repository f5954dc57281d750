"""Who proposes the nearest rows: scikit-learn, its extension, faiss, or faiss's inverted file.

A search proposes candidates and says how near they roughly are, and how much its rounding may
have hidden. `neighbours` measures the candidates exactly and decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from sklearn.neighbors import NearestNeighbors

from falcon_discover.runtime.threads import limited, search_libraries
from falcon_discover.runtime.types import Float32Array, FloatArray, IntArray

# scikit-learn's k-d tree is faster than brute force only on narrow tables.
KD_TREE_MAX_WIDTH = 8
# From here on, and only with faiss, an inverted file is searched instead of all rows.
INVERTED_FILE_FROM = 1_000_000
# An inverted file looks into as many lists as it takes to find this share of the nearest rows.
MIN_RECALL = 0.99
RECALL_ROWS = 256
RECALL_K = 25
FIRST_LISTS = 16
# Rows that the centre of a list is learned from; more make better lists no longer.
POINTS_PER_LIST = 64
SEED = 0


class Search(Protocol):
    """A way to find candidates for the nearest rows.

    `unit` is the relative rounding error of one of its operations; `complete` says whether all rows
    are searched, `recall` which share of the nearest ones it finds.
    """

    unit: float
    complete: bool
    recall: float

    def nearest(self, rows: Float32Array, k: int) -> tuple[FloatArray, IntArray]:
        """Return squared distances, roughly, and positions of `k` candidates, nearest first."""


def searches(reference: Float32Array, n_jobs: int | None = None) -> Sequence[Search]:
    """Return the searches to ask, one after the other, until the nearest rows are settled.

    Examples
    --------
    >>> rows = np.arange(20, dtype=np.float32).reshape(10, 2)
    >>> [type(search).__name__ for search in searches(rows)]
    ['ScikitLearn']
    """
    faiss, intelex = search_libraries()
    plain = ScikitLearn(reference, n_jobs)
    if reference.shape[1] <= KD_TREE_MAX_WIDTH:
        return [plain]
    if faiss is not None and len(reference) >= INVERTED_FILE_FROM:
        return [InvertedFile(reference)]
    if intelex is not None:
        return [Intelex(reference, n_jobs), plain]
    if faiss is not None:
        return [FaissFlat(reference), plain]
    return [plain]


class ScikitLearn:
    """All rows, compared in double precision."""

    unit = 2.0**-53
    complete = True
    recall = 1.0

    def __init__(self, reference: Float32Array, n_jobs: int | None = None) -> None:
        narrow = reference.shape[1] <= KD_TREE_MAX_WIDTH
        algorithm = "kd_tree" if narrow else "brute"
        self._search = NearestNeighbors(algorithm=algorithm, n_jobs=n_jobs).fit(reference)

    def nearest(self, rows: Float32Array, k: int) -> tuple[FloatArray, IntArray]:
        """Return squared distances, roughly, and positions of `k` candidates, nearest first."""
        distances, candidates = self._search.kneighbors(rows, n_neighbors=k)
        return distances**2, candidates


class Intelex:
    """All rows, compared in single precision by the extension for scikit-learn."""

    unit = 2.0**-24
    complete = True
    recall = 1.0

    def __init__(self, reference: Float32Array, n_jobs: int | None = None) -> None:
        _, intelex = search_libraries()
        search = intelex.NearestNeighbors(algorithm="brute", n_jobs=n_jobs)
        self._n_rows = len(reference)
        self._search = search.fit(reference)

    def nearest(self, rows: Float32Array, k: int) -> tuple[FloatArray, IntArray]:
        """Return squared distances, roughly, and positions of `k` candidates, nearest first."""
        distances, candidates = self._search.kneighbors(rows, n_neighbors=k)
        # Where single precision overflows, a position may be none.
        candidates = np.clip(candidates, 0, self._n_rows - 1)
        return distances.astype(np.float64) ** 2, candidates.astype(np.intp, copy=False)


class FaissFlat:
    """All rows, compared in single precision: half the work, and a few rows left open."""

    unit = 2.0**-24
    complete = True
    recall = 1.0

    def __init__(self, reference: Float32Array) -> None:
        self._reference = reference

    def nearest(self, rows: Float32Array, k: int) -> tuple[FloatArray, IntArray]:
        """Return squared distances, roughly, and positions of `k` candidates, nearest first."""
        return _typed(*_faiss().knn(rows, self._reference, k))


class InvertedFile:
    """The rows of those lists whose centres are nearest: most of the nearest rows, not all.

    The rows are put into about as many lists as the square root of their number.
    """

    unit = 2.0**-24
    complete = False

    def __init__(self, reference: Float32Array) -> None:
        n_rows, width = reference.shape
        n_lists = max(1, int(np.sqrt(n_rows)))
        self._reference = reference
        self._centres = _faiss().IndexFlatL2(width)
        self._lists = _faiss().IndexIVFFlat(self._centres, width, n_lists)
        self._lists.cp.seed = SEED
        self._lists.cp.max_points_per_centroid = POINTS_PER_LIST
        # Sums in another order could put a row into another list.
        with limited(1, 1):
            self._lists.train(reference)
            self._lists.add(reference)
        self._lists.nprobe = min(FIRST_LISTS, n_lists)
        self.recall = self._measured_recall()
        while self.recall < MIN_RECALL and self._lists.nprobe < n_lists:
            self._lists.nprobe = min(2 * self._lists.nprobe, n_lists)
            self.recall = self._measured_recall()

    def nearest(self, rows: Float32Array, k: int) -> tuple[FloatArray, IntArray]:
        """Return squared distances, roughly, and positions of `k` candidates, nearest first."""
        squares, candidates = _typed(*self._lists.search(rows, k))
        # Lists of fewer than k rows: these few are searched for among all rows.
        short = candidates[:, -1] < 0
        if short.any():
            squares[short], candidates[short] = _faiss().knn(rows[short], self._reference, k)
        return squares, candidates

    def _measured_recall(self) -> float:
        """Return the share of the nearest other rows that are found, over a sample of rows."""
        n_rows = len(self._reference)
        rng = np.random.default_rng(SEED)
        sample = self._reference[rng.choice(n_rows, min(RECALL_ROWS, n_rows), replace=False)]
        # A row always finds itself, which does not count.
        k = min(RECALL_K + 1, n_rows)
        reach = _faiss().knn(sample, self._reference, k)[0][:, -1:]
        # By distance: rows at the same distance stand for each other.
        found = self._lists.search(sample, k)[0] <= reach * (1 + 1e-5) + 1e-5
        return float((found.sum(axis=1) - 1).mean() / max(k - 1, 1))


def _faiss() -> Any:
    return search_libraries()[0]


def _typed(squares: Any, candidates: Any) -> tuple[FloatArray, IntArray]:
    return squares.astype(np.float64), candidates.astype(np.intp, copy=False)
