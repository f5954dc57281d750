"""TrustScore: distance to the nearest row of another class over that of the predicted one.

Variant: Jiang et al. (2018) without the density filter (alpha = 0), k = 1, Euclidean distance in
the transformed view, all training rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from falcon_discover.runtime.types import Float32Array, FloatArray, IntArray
from falcon_discover.signals.neighbours.index import NeighbourIndex

# Keeps the ratio finite where a row has a twin in the predicted class.
TINY = 1e-12


class TrustScore:
    """Trust in a prediction; higher is more trustworthy.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [4.0]], dtype=np.float32)
    >>> trust = TrustScore(rows, np.array([0, 0, 1]))
    >>> trust.score(np.array([[2.0]], dtype=np.float32), np.array([0]))
    array([2.])
    """

    def __init__(
        self,
        reference: Float32Array,
        labels: npt.NDArray[np.integer],
        n_jobs: int | None = None,
    ) -> None:
        self._classes = [NeighbourIndex(reference[labels == c], n_jobs) for c in (0, 1)]

    def class_distances(self, rows: Float32Array) -> FloatArray:
        """Return the distances to the nearest row of class 0 and of class 1."""
        return np.column_stack(
            [index.query(rows, 1).distances[:, 0] for index in self._classes]
        ).astype(np.float64)

    def score(self, rows: Float32Array, decision: IntArray) -> FloatArray:
        """Return the trust in the decided class."""
        return trust_ratio(self.class_distances(rows), decision)


def trust_ratio(distances: FloatArray, decision: IntArray) -> FloatArray:
    """Return other-class distance over predicted-class distance."""
    own = np.where(decision, distances[:, 1], distances[:, 0])
    other = np.where(decision, distances[:, 0], distances[:, 1])
    return other / (own + TINY)
