"""How sure the gains are: row bootstrap and null concentration."""

from __future__ import annotations

import numpy as np

from falcon_discover import metrics
from falcon_discover.bench.loading import Study
from falcon_discover.bench.resampling import capture_resamples, null_exact, null_simulation
from falcon_discover.bench.tables.cells import Cell, Table, chosen_names, per_seed
from falcon_discover.settings import PAPER


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
    """Return the family's Capture@20 against random slices: simulated, and exactly."""
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        splits = [(len(run.events()), int(run.events().sum())) for run in runs]
        total = sum(events for _, events in splits)
        found = sum(
            metrics.fc_count_at(run.events(), run.score(run.family()), PAPER.main_budget)
            for run in runs
        )
        null = null_simulation(splits)
        exact = null_exact(splits)
        low, high = np.quantile(null, [0.025, 0.975]) / total if total else (np.nan, np.nan)
        cells += [
            per_seed(name, "observed", runs, lambda r: r.capture(r.family())),
            Cell(name, "null_mean", (float(null.mean() / total) if total else np.nan,)),
            Cell(name, "null_low", (float(low),)),
            Cell(name, "null_high", (float(high),)),
            Cell(name, "p_simulated", (float((1 + (null >= found).sum()) / (1 + len(null))),)),
            Cell(name, "p_exact", (float(exact[found:].sum()),)),
        ]
    return cells
