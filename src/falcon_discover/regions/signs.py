"""Tests that draw a sign for each group: sums of dependent rows against chance."""

from __future__ import annotations

import numpy as np

from falcon_discover.runtime.types import FloatArray

# Draws of signs; one in ten thousand is the least p-value there is.
SIGNS = 9_999
# Signs that are drawn at a time, which bounds the memory.
SIGNS_AT_ONCE = 4_000_000


def signed_p_values(parts: FloatArray) -> FloatArray:
    """Return the p-value of each sum, against the largest of all sums with signs drawn at random.

    Parameters
    ----------
    parts : sums x groups: what each group adds to each sum
    """
    spread = np.sqrt(np.maximum((parts**2).sum(axis=1), 1e-12))
    found = parts.sum(axis=1) / spread
    worst = signed_maxima(parts / spread[:, None])
    return np.asarray((1 + (worst[:, None] >= found - 1e-9).sum(axis=0)) / (1 + SIGNS))


def signed_maxima(parts: FloatArray) -> FloatArray:
    """Return the largest of several sums, for each draw of a sign for each group."""
    rng = np.random.default_rng(0)
    kept = parts[:, parts.any(axis=0)]
    at_once = max(1, SIGNS_AT_ONCE // max(1, kept.shape[1]))
    worst = []
    for start in range(0, SIGNS, at_once):
        size = min(at_once, SIGNS - start)
        signs = 2.0 * rng.integers(0, 2, size=(size, kept.shape[1]), dtype=np.int8) - 1.0
        worst.append((signs @ kept.T).max(axis=1))
    return np.concatenate(worst)
