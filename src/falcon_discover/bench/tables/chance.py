"""How sure the gains are: row bootstrap and null concentration."""

from __future__ import annotations

import math

import numpy as np

from falcon_discover.bench.loading import Run, Study
from falcon_discover.bench.resampling import capture_resamples, null_exact, null_simulation
from falcon_discover.bench.tables.cells import Cell, Table, chosen_names, found, per_seed


def interval_summary(study: Study) -> Table:
    """Return the row bootstrap of the gain; seeds are averaged within a resample."""
    cells = []
    for name in study.datasets:
        gains = []
        for run in study.runs(name):
            both = capture_resamples(
                run.events(), [run.score(run.family()), run.score(run.prior())], seed=run.key.seed
            )
            gains.append(both[:, 0] - both[:, 1])
        with np.errstate(invalid="ignore"):
            mean = np.nanmean(gains, axis=0)
        mean = mean[np.isfinite(mean)]
        low, high = np.quantile(mean, [0.025, 0.975]) if len(mean) else (np.nan, np.nan)
        cells += [
            chosen_names(name, "best_prior", study.runs(name), lambda r: r.prior()),
            Cell(name, "delta_mean", (float(mean.mean()),)),
            Cell(name, "low", (float(low),)),
            Cell(name, "high", (float(high),)),
            Cell(name, "p_not_positive", (float((mean <= 0).mean()),)),
        ]
    return cells


def null_concentration(study: Study) -> Table:
    """Return the family's Capture@20 against random slices of the same split.

    Per seed: the null's mean and 95 % interval, and the chance of catching as much at random,
    simulated and exactly. Pooled: the same chance for the events of all seeds together.
    """
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        seeds = [_null_of(run) for run in runs]
        splits = [(len(run.events()), int(run.events().sum())) for run in runs]
        together = math.ceil(sum(found(run, run.family()) for run in runs))
        cells.append(per_seed(name, "observed", runs, lambda r: r.capture(r.family())))
        cells += [Cell(name, key, tuple(seed[key] for seed in seeds)) for key in seeds[0]]
        cells.append(Cell(name, "p_exact_pooled", (float(null_exact(splits)[together:].sum()),)))
    return cells


def _null_of(run: Run) -> dict[str, float]:
    events = int(run.events().sum())
    keys = ("null_mean", "null_low", "null_high", "p_simulated", "p_exact")
    if not events:
        return dict.fromkeys(keys, float("nan"))
    split = [(len(run.events()), events)]
    caught = math.ceil(found(run, run.family()))
    null = null_simulation(split, seed=run.key.seed)
    low, high = np.quantile(null, [0.025, 0.975]) / events
    chance = (1 + (null >= caught).sum()) / (1 + len(null))
    exact = null_exact(split)[caught:].sum()
    return dict(zip(keys, (null.mean() / events, low, high, chance, exact), strict=True))
