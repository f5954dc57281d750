"""How sure the gains are: row bootstrap and null concentration."""

from __future__ import annotations

import numpy as np

from falcon_discover.bench.loading import Run, Study
from falcon_discover.bench.pooling import Split, capture_gains, capture_interval
from falcon_discover.bench.resampling import null_exact, null_simulation
from falcon_discover.bench.tables.cells import Cell, Table, chosen_names, found, per_seed


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

    Per seed: the null's mean and 95 % interval, and the chance of catching as much at random,
    simulated and exactly. Pooled: the same chance for the events of all seeds together.
    """
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        seeds = [_null_of(run) for run in runs]
        splits = [(len(run.events()), int(run.events().sum())) for run in runs]
        together = sum(int(found(run, run.family())) for run in runs)
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
    caught = int(found(run, run.family()))
    null = null_simulation(split, seed=run.key.seed)
    low, high = np.quantile(null, [0.025, 0.975]) / events
    chance = (1 + (null >= caught).sum()) / (1 + len(null))
    exact = null_exact(split)[caught:].sum()
    return dict(zip(keys, (null.mean() / events, low, high, chance, exact), strict=True))
