"""The paper's main tables."""

from __future__ import annotations

import math

import numpy as np

from falcon_discover.bench import plan
from falcon_discover.bench.loading import Run, Study
from falcon_discover.bench.tables.cells import (
    Cell,
    Table,
    auroc_gain,
    chosen_names,
    found,
    gain,
    per_seed,
)
from falcon_discover.bench.tables.chance import seed_interval
from falcon_discover.regions.conflict import (
    Conflict,
    chosen_gain,
    conflict_grid,
    folds_by_confidence,
)
from falcon_discover.settings import PAPER

STRONGEST = ("adult", "bank_marketing", "miniboone_subset")


def main_discrepancy_family(study: Study) -> Table:
    """Return the validation-selected prior against validation-selected family member."""
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        cells += [
            chosen_names(name, "backbone", runs, lambda r: r.key.backbone),
            chosen_names(name, "best_prior", runs, lambda r: r.prior()),
            chosen_names(name, "best_family", runs, lambda r: r.family()),
            per_seed(name, "prior_auroc", runs, lambda r: r.auroc(r.prior())),
            per_seed(name, "family_auroc", runs, lambda r: r.auroc(r.family())),
            per_seed(name, "prior_cap20", runs, lambda r: r.capture(r.prior())),
            per_seed(name, "family_cap20", runs, lambda r: r.capture(r.family())),
            per_seed(name, "delta_auroc", runs, auroc_gain),
            per_seed(name, "delta_cap20", runs, gain),
            per_seed(name, "gated_auroc", runs, lambda r: r.auroc("gated_confidence")),
            per_seed(name, "gated_cap20", runs, lambda r: r.capture("gated_confidence")),
        ]
    return cells


def operational_robustness(study: Study) -> Table:
    """Return counts at 0.90, and the gain at three thresholds."""
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        cells += [
            per_seed(name, "events", runs, lambda r: float(r.events().sum())),
            per_seed(name, "prior_at20", runs, lambda r: found(r, r.prior())),
            per_seed(name, "family_at20", runs, lambda r: found(r, r.family())),
            *[per_seed(name, f"delta_{plan.at(t)}", runs, gain, t) for t in PAPER.taus],
            per_seed(name, "gated_at20", runs, found, "gated_confidence"),
        ]
    return cells


def family_ablation(study: Study) -> Table:
    """Return Capture@20 of each family member."""
    return [
        per_seed(name, ranker, study.runs(name), Run.capture, ranker)
        for name in study.datasets
        for ranker in (*plan.FAMILY, "gated_confidence")
    ]


def benchmark_synthesis(study: Study) -> Table:
    """Return counts and means over the data sets of the main table."""
    main = {(c.row, c.column): c for c in main_discrepancy_family(study)}
    strongest = [name for name in STRONGEST if name in study.datasets]
    gains = {
        (name, tau): float(np.nanmean([gain(run, tau) for run in study.runs(name)]))
        for name in strongest
        for tau in PAPER.taus
    }

    def over(column: str) -> list[float]:
        return [main[name, column].mean for name in study.datasets]

    def chosen(member: str) -> float:
        return float(sum(main[n, "best_family"].text.startswith(member) for n in study.datasets))

    def at(tau: float) -> float:
        return float(np.mean([gains[name, tau] for name in strongest])) if strongest else np.nan

    figures = {
        "datasets": float(len(study.datasets)),
        "positive_delta_auroc": float(sum(v > 0 for v in over("delta_auroc"))),
        "positive_delta_cap20": float(sum(v > 0 for v in over("delta_cap20"))),
        "positive_threshold_settings": float(sum(v > 0 for v in gains.values())),
        "mean_delta_auroc": float(np.nanmean(over("delta_auroc"))),
        "mean_delta_cap20": float(np.nanmean(over("delta_cap20"))),
        **{f"mean_delta_{plan.at(t)}": at(t) for t in PAPER.taus},
        "learned_selected": chosen("learned"),
        "stability_selected": chosen("s_stab"),
        "gated_above_family_cap20": float(
            sum(g > f for g, f in zip(over("gated_cap20"), over("family_cap20"), strict=True))
        ),
    }
    return [Cell(row, "value", (value,)) for row, value in figures.items()]


def dataset_regimes(study: Study) -> Table:
    """Return the regime of each data set by checkable rules, with the figures that decide."""
    cells = []
    for name in study.datasets:
        verdicts = [regime_of(study, run) for run in study.runs(name)]
        words = [v.regime for v in verdicts]
        ordered = sorted(set(words), key=lambda w: (-words.count(w), w))
        cells += [
            Cell(name, "regime", text=ordered[0]),
            Cell(name, "seeds", text=", ".join(f"{w} {words.count(w)}" for w in ordered)),
            Cell(name, "events_to_learn_from", tuple(float(v.events) for v in verdicts)),
            *(
                Cell(name, column, tuple(getattr(v.best, column, math.nan) for v in verdicts))
                for column in ("gamma", "excess", "excess_low", "p_value", "mass")
            ),
            Cell(name, "validation_gain", tuple(v.gain for v in verdicts)),
        ]
    return cells


def all_dataset_uncertainty(study: Study) -> Table:
    """Return the means of the main table with bootstrap intervals over seeds."""
    cells = []
    wanted = ("prior_auroc", "family_auroc", "prior_cap20", "family_cap20")
    for cell in main_discrepancy_family(study):
        if cell.column in wanted:
            low, high = seed_interval(cell.numbers)
            cells += [
                cell,
                Cell(cell.row, f"{cell.column}_low", (low,)),
                Cell(cell.row, f"{cell.column}_high", (high,)),
            ]
    return cells


def regime_of(study: Study, run: Run) -> Conflict:
    """Return boundary, strong or mixed.

    Events to learn from are those of the validation rows and of the training rows out-of-fold.
    Slices and the gain are measured on validation rows.
    """
    validation = run.part("validation")
    events = run.events(PAPER.tau, "validation")
    known = int(events.sum()) + study.oof_events(run)
    confidence = validation["confidence"].to_numpy()
    slices = conflict_grid(
        {name: validation[name].to_numpy() for name in validation.columns if name != "split"},
        events,
        confidence,
        PAPER.tau,
    )
    family, priors = (
        [run.score(name, split="validation") for name in names]
        for names in (plan.FAMILY, plan.PRIORS)
    )
    gain = chosen_gain(events, family, priors, folds_by_confidence(confidence))
    return Conflict.judge(slices, known, gain)
