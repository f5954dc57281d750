"""Ablations, backbones, sweeps, calibration, regions and further baselines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from falcon_discover import metrics
from falcon_discover.bench import plan
from falcon_discover.bench.loading import Run, Study
from falcon_discover.bench.tables.cells import Cell, Table, auroc_gain, gain, per_seed
from falcon_discover.bench.tables.chance import interval_summary
from falcon_discover.bench.tables.main import STRONGEST
from falcon_discover.settings import PAPER

NOT_RUN = "not run"
CALIBRATION_ROWS = tuple(
    f"{figure}_{suffix}"
    for figure in ("ece", "brier", "nll", "cap20")
    for suffix in ("unweighted", "weighted")
)
REGION_ROWS = {
    "top1_mass": "top1_mass",
    "top2_mass": "top2_mass",
    "top_support": "support",
    "top_instability": "instability",
}


def calibration_figure(run: Run, figure: str) -> float:
    """Return a figure of unweighted or weighted Platt scaling on the test rows.

    Events are recomputed from the recalibrated scores, and rows ranked by calibrated confidence.
    """
    test = run.part("test")
    kind, suffix = figure.split("_")
    p = test["p_platt" if suffix == "unweighted" else "p_platt_weighted"].to_numpy()
    y = test["label"].to_numpy()
    if kind == "cap20":
        events = metrics.false_confidence(y, p, PAPER.tau)
        return metrics.capture_at(events, metrics.confidence(p), PAPER.main_budget)
    return {"ece": metrics.ece, "brier": metrics.brier, "nll": metrics.nll}[kind](y, p)


def region_figure(run: Run, figure: str) -> float:
    """Return the mass of the leading regions or a mean over the first."""
    test, events = run.part("test"), run.events()
    region = test["region"].to_numpy()
    top = region == 1
    if figure in ("top1_mass", "top2_mass"):
        total = int(events.sum())
        return float(events[region <= int(figure[3])].sum() / total) if total else float("nan")
    if figure == "correctness":
        return float(1 - run.wrong[top].mean())
    return float(test["mean_drift" if figure == "instability" else figure][top].mean())


def extended_validation_a(study: Study) -> Table:
    """Return the signal-family ablation, fixed backbones, and sweeps of lambda and k."""
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        cells.append(per_seed("full", name, runs, Run.capture, "learned"))
        cells += [
            per_seed(v, name, runs, partial(Run.capture, name="learned", variant=v))
            for v in plan.ABLATIONS
        ]
        for backbone in plan.FIXED_BACKBONES:
            fixed = study.runs(name, backbone)
            cells.append(per_seed(backbone, name, fixed, Run.capture, "learned"))
        cells += [per_seed(v, name, runs, partial(gain, variant=v)) for v in plan.SWEEPS]
    order = ["full", *plan.ABLATIONS, *plan.FIXED_BACKBONES, *plan.SWEEPS]
    bounds = [
        Cell(f"gain_{cell.column}", cell.row, cell.numbers)
        for cell in study.once("tab:appendix_interval_summary", interval_summary)
        if cell.column in ("low", "high")
    ]
    ordered = sorted([*cells, *_means_of_three(cells)], key=lambda cell: order.index(cell.row))
    return [*ordered, *sorted(bounds, key=lambda cell: cell.row, reverse=True)]


def _means_of_three(cells: Table) -> Table:
    """Return the paper's column of means: over its three strongest data sets, seed by seed."""
    known = {(cell.row, cell.column): cell.numbers for cell in cells}
    means = []
    for row in dict.fromkeys(cell.row for cell in cells):
        three = [known[row, name] for name in STRONGEST if (row, name) in known]
        if len(three) == len(STRONGEST):
            means.append(Cell(row, "mean_of_three", tuple(np.mean(three, axis=0).tolist())))
    return means


def extended_validation_b(study: Study) -> Table:
    """Return weighted calibration, region quality, failure predictor and AURC."""
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        for figure in CALIBRATION_ROWS:
            cells.append(per_seed(figure, name, runs, calibration_figure, figure))
        for row, figure in REGION_ROWS.items():
            cells.append(per_seed(row, name, runs, region_figure, figure))
        cells += [
            per_seed("failure_auroc", name, runs, Run.auroc, "failure"),
            per_seed("failure_cap20", name, runs, Run.capture, "failure"),
            per_seed(
                "aurc", name, runs, lambda r: metrics.aurc(r.wrong, 1.0 - r.score("confidence"))
            ),
            per_seed("family_auroc", name, runs, lambda r: r.auroc(r.family())),
            per_seed("family_cap20", name, runs, lambda r: r.capture(r.family())),
            per_seed("gated_auroc", name, runs, Run.auroc, "gated_confidence"),
            per_seed("gated_cap20", name, runs, Run.capture, "gated_confidence"),
        ]
    order = list(dict.fromkeys(cell.row for cell in cells))
    return sorted([*cells, *_means_of_three(cells)], key=lambda cell: order.index(cell.row))


def full_baselines(study: Study) -> Table:
    """Return Capture@20 of everything that is compared."""
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        cells += [
            per_seed("confidence", name, runs, Run.capture, "confidence"),
            per_seed("best_prior", name, runs, lambda r: r.capture(r.prior())),
            per_seed("failure", name, runs, Run.capture, "failure"),
            # The comparator is a base model of its own: its events, ranked by its confidence.
            per_seed(
                "lightgbm", name, study.runs(name, plan.COMPARATOR), Run.capture, "confidence"
            ),
            *[_deep(study, name, model) for model in plan.DEEP_MODELS],
            per_seed("learned", name, runs, Run.capture, "learned"),
            per_seed("best_family", name, runs, lambda r: r.capture(r.family())),
            per_seed("gated_confidence", name, runs, Run.capture, "gated_confidence"),
        ]
    order = list(dict.fromkeys(cell.row for cell in cells))
    return sorted(cells, key=lambda cell: order.index(cell.row))


def _deep(study: Study, name: str, model: str) -> Cell:
    """Return Capture@20 of a deep model's own events by its own confidence."""
    runs = study.frozen.runs(name, model)
    if not runs:
        return Cell(model, name, text=NOT_RUN)
    return per_seed(model, name, runs, Run.capture, "confidence")


def fixed_backbone_full(study: Study) -> Table:
    """Return the gain of the family over the prior under three fixed backbones."""
    gains: dict[str, Callable[[Run], float]] = {"cap20": gain, "auroc": auroc_gain}
    cells = []
    for name in study.datasets:
        for figure, measure in gains.items():
            part = [
                per_seed(name, f"{figure}_{backbone}", study.runs(name, backbone), measure)
                for backbone in plan.FIXED_BACKBONES
            ]
            mean = np.mean([cell.numbers for cell in part], axis=0)
            cells += [*part, Cell(name, f"{figure}_mean", tuple(float(v) for v in mean))]
    return cells


def region_quality_full(study: Study) -> Table:
    """Return the mass of the leading regions and the profile of the first."""
    return [
        per_seed(name, figure, study.runs(name), region_figure, figure)
        for name in study.datasets
        for figure in ("top1_mass", "top2_mass", "support", "instability", "correctness")
    ]


def weighted_calibration_full(study: Study) -> Table:
    """Return Platt scaling without and with w_cal."""
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        for figure in ("ece", "cap20", "brier", "nll"):
            plain, weighted = (
                per_seed(name, f"{figure}_{s}", runs, calibration_figure, f"{figure}_{s}")
                for s in ("unweighted", "weighted")
            )
            gaps = np.subtract(weighted.numbers, plain.numbers)
            cells += [plain, weighted, Cell(name, f"delta_{figure}", tuple(gaps.tolist()))]
    return cells


def perturbation_summary(study: Study) -> Table:
    """Return the lambda and the neighbourhood with the largest gain."""
    cells = []
    for name in study.datasets:
        for what, choices in (("lambda", plan.LAMBDA_MARKS), ("k", plan.K_MARKS)):
            gains = {
                v: per_seed(name, f"{what}_delta", study.runs(name), partial(gain, variant=v))
                for v in choices
            }
            best = max(gains, key=lambda variant: np.nan_to_num(gains[variant].mean, nan=-9.0))
            cells += [Cell(name, f"best_{what}", (float(choices[best]),)), gains[best]]
    return cells
