"""How sure the gains are: row bootstrap, intervals over seeds and null concentration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.stats import hypergeom

from falcon_discover.bench.loading import Study
from falcon_discover.bench.pooling import Split, capture_gains, capture_interval
from falcon_discover.bench.tables.cells import Cell, Table, chosen_names, found, per_seed
from falcon_discover.metrics import review_size
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

SEED = 0
CHANCES = ("p_simulated", "p_exact")


def interval_summary(study: Study) -> Table:
    """Return the gain on resampled rows; each row of a data set is drawn once for all seeds."""
    cells = []
    for name in study.datasets:
        splits = [
            Split(
                run.part("test")["row"].to_numpy(),
                run.events(),
                run.score(run.family()),
                run.score(run.prior()),
            )
            for run in study.runs(name)
        ]
        gains = capture_gains(splits)
        mean = float(gains.mean()) if len(gains) else np.nan
        low, high = capture_interval(mean, gains, splits)
        # A resample more than there are: no finite number of them shows a chance of 0.
        chance = (1 + int((gains <= 0).sum())) / (1 + len(gains)) if len(gains) else np.nan
        cells += [
            chosen_names(name, "best_prior", study.runs(name), lambda r: r.prior()),
            Cell(name, "delta_mean", (mean,)),
            Cell(name, "low", (low,)),
            Cell(name, "high", (high,)),
            Cell(name, "p_not_positive", (chance,)),
        ]
    return cells


def null_concentration(study: Study) -> Table:
    """Return the family's Capture@20 against random slices of the same split.

    The null's mean and 95% interval are those of each seed. The chance of catching as much at
    random is of all seeds together, exactly and simulated: a mean of p-values is no p-value, so
    those of single seeds are in the list of all numbers only.
    """
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        splits = [(len(run.events()), int(run.events().sum())) for run in runs]
        caught = [found(run, run.family()) for run in runs]
        of_seed = [
            (*_null_interval(split, run.key.seed), *_chances([split], count, run.key.seed))
            for split, count, run in zip(splits, caught, runs, strict=True)
        ]
        together = dict(zip(CHANCES, _chances(splits, np.nansum(caught)), strict=True))
        keys = ("null_mean", "null_low", "null_high", *CHANCES)
        cells.append(per_seed(name, "observed", runs, lambda r: r.capture(r.family())))
        cells += [
            Cell(name, key, numbers, shown=key not in CHANCES)
            for key, numbers in zip(keys, zip(*of_seed, strict=True), strict=True)
        ]
        cells += [Cell(name, f"{key}_pooled", (value,)) for key, value in together.items()]
    return cells


def _null_interval(split: tuple[int, int], seed: int) -> tuple[float, float, float]:
    events = split[1]
    if not events:
        return (float("nan"),) * 3
    null = null_simulation([split], seed=seed) / events
    low, high = np.quantile(null, [0.025, 0.975])
    return float(null.mean()), float(low), float(high)


def _chances(splits: list[tuple[int, int]], caught: float, seed: int = SEED) -> tuple[float, float]:
    """Return how likely random slices of these splits catch as many, simulated and exactly."""
    if not sum(events for _, events in splits):
        return float("nan"), float("nan")
    # An expected count over tied rows may lie between two counts; the lower one has the larger p.
    count = int(np.floor(caught + 1e-9))
    null = null_simulation(splits, seed=seed)
    simulated = (1 + (null >= count).sum()) / (1 + len(null))
    return float(simulated), float(null_exact(splits)[count:].sum())


def seed_interval(values: Sequence[float], *, resamples: int = 10_000) -> tuple[float, float]:
    """Return the 95% bootstrap interval of a mean over seeds; NaN where a seed is not defined."""
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
    """Return counts of events that random 20% slices of splits (rows, events) find together."""
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
