"""Bootstrap and null distributions for the benchmark's tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.stats import hypergeom

from falcon_discover.metrics import review_size
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

SEED = 0


def seed_interval(values: Sequence[float], *, resamples: int = 10_000) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a mean over seeds; NaN where a seed is not defined."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        return float("nan"), float("nan")
    rng = np.random.default_rng(SEED)
    means = array[rng.integers(0, len(array), (resamples, len(array)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def null_simulation(
    splits: Sequence[tuple[int, int]], *, draws: int = PAPER.null_draws, seed: int = SEED
) -> npt.NDArray[np.int64]:
    """Return counts of events that random 20 % slices of several splits find together.

    Parameters
    ----------
    splits : rows and events of each split
    """
    rng = np.random.default_rng(seed)
    counts = np.zeros(draws, dtype=np.int64)
    for rows, events in splits:
        size = review_size(rows, PAPER.main_budget)
        found = np.zeros(draws, dtype=np.int64)
        for placed in range(events):
            # Put the events one after another into the places that are left: each falls into the
            # slice with the share of places that the slice still has.
            found += rng.random(draws) * (rows - placed) < size - found
        counts += found
    return counts


def null_exact(splits: Sequence[tuple[int, int]]) -> FloatArray:
    """Return the exact distribution of the same count: a convolution of hypergeometrics."""
    distribution = np.ones(1)
    for rows, events in splits:
        size = review_size(rows, PAPER.main_budget)
        distribution = np.convolve(
            distribution, hypergeom.pmf(np.arange(events + 1), rows, events, size)
        )
    return distribution
