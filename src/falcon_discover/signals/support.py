"""Support: how far a row lies from the centre of the reference rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from falcon_discover.runtime.types import Float32Array, FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.neighbours.index import rows_within_budget


@dataclass(frozen=True, eq=False)
class Support:
    """Centre, spread and distance quantiles of the reference rows (eq:support).

    Examples
    --------
    >>> rows = np.linspace(-1, 1, 101, dtype=np.float32)[:, None]
    >>> Support.of(rows).score(np.array([[0.0], [9.0]], dtype=np.float32))
    array([1., 0.])
    """

    centre: FloatArray
    variance: FloatArray
    low: float
    high: float

    @classmethod
    def of(cls, reference: Float32Array) -> Support:
        """Measure the reference rows in transformed space."""
        centre = reference.mean(axis=0, dtype=np.float64)
        variance = _column_variance(reference, centre)
        own = _distance(reference, centre, variance)
        low, high = np.quantile(own, PAPER.support_quantiles)
        return cls(centre, variance, float(low), float(high))

    def score(self, rows: Float32Array) -> FloatArray:
        """Return the support of each row, from 0 (outside) to 1 (well inside)."""
        distance = _distance(rows, self.centre, self.variance)
        if self.high <= self.low:
            return (distance <= self.low).astype(np.float64)
        return 1.0 - np.clip((distance - self.low) / (self.high - self.low), 0.0, 1.0)


def _column_variance(rows: Float32Array, centre: FloatArray) -> FloatArray:
    total = np.zeros(rows.shape[1])
    for part in _parts(rows):
        total += ((part - centre) ** 2).sum(axis=0)
    return total / len(rows)


def _distance(rows: Float32Array, centre: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the mean squared z-score over the coordinates (eq:support_distance)."""
    weights = 1.0 / (variance + PAPER.support_epsilon) / rows.shape[1]
    parts = [((part - centre) ** 2 * weights).sum(axis=1) for part in _parts(rows)]
    return np.concatenate(parts) if parts else np.empty(0)


def _parts(rows: Float32Array) -> list[Float32Array]:
    step = rows_within_budget(rows.shape[1] * 24, at_most=50_000)
    return [rows[start : start + step] for start in range(0, len(rows), step)]
