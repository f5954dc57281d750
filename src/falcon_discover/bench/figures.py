"""Figures: the paper's for each data set, and those of what goes beyond it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover import metrics
from falcon_discover.bench import plan
from falcon_discover.bench.loading import Study
from falcon_discover.plots import weight_profile
from falcon_discover.plots.matplotlib import canvas, save
from falcon_discover.settings import PAPER

# Okabe and Ito's colours, told apart by colour-blind readers too.
COLOURS = {
    "gated_confidence": "#000000",
    "learned": "#0072B2",
    "s_disc": "#56B4E9",
    "s_stab": "#009E73",
    "trustscore": "#D55E00",
    "failure": "#CC79A7",
    "confidence": "#E69F00",
}
# Rankers whose gains are drawn.
GAINING = {
    "auto": ("#000000", "o"),
    "auto_surprise": ("#CC79A7", "D"),
    "gated_stability": (COLOURS["s_stab"], "^"),
    "gated_trustscore": (COLOURS["trustscore"], "s"),
    "learned": (COLOURS["learned"], "v"),
}
# Frozen models, trees first.
LOOKS = {
    "lightgbm": ("#999999", "o"),
    "xgboost": ("#000000", "s"),
    "ft_transformer": ("#0072B2", "^"),
    "realmlp": ("#009E73", "v"),
    "realmlp_smoothed": ("#56B4E9", "D"),
    "saint": ("#D55E00", "P"),
    "saint_rows": ("#CC79A7", "X"),
}
STYLES = {name: ("--" if name in plan.PRIORS or name == "failure" else "-") for name in COLOURS}
BUDGETS = np.linspace(0.01, 0.5, 50)


def draw_all(study: Study, folder: Path) -> list[Path]:
    """Draw three figures per data set and return their files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in study.datasets:
        for kind, draw in (
            ("operating_points", _operating_points),
            ("regions", _regions),
            ("weighting", _weighting),
        ):
            figure, axes = canvas()
            draw(study, name, axes)
            axes.set_title(plan.TITLES[name], loc="left", fontsize=10)
            paths.append(save(figure, folder / f"{name}_{kind}.png"))
    return paths


def _operating_points(study: Study, name: str, axes: Any) -> None:
    runs = study.runs(name)
    for ranker, colour in COLOURS.items():
        curve = np.nanmean(
            [
                [metrics.capture_at(run.events(), run.score(ranker), b) for b in BUDGETS]
                for run in runs
                if run.events().any()
            ],
            axis=0,
        )
        axes.plot(BUDGETS, curve, STYLES[ranker], color=colour, label=ranker, linewidth=1.6)
    axes.plot(BUDGETS, BUDGETS, ":", color="grey", label="random")
    for budget in PAPER.budgets:
        axes.axvline(budget, color="0.9", linewidth=0.8, zorder=0)
    axes.set(
        xlabel="share of rows reviewed", ylabel="share of confident errors found", ylim=(0, 1.02)
    )
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def _regions(study: Study, name: str, axes: Any) -> None:
    run = study.run(name, study.seeds[0])
    test, events = run.part("test"), run.events()
    region = test["region"].to_numpy()
    for number, colour in zip(range(1, PAPER.n_regions + 1), list(COLOURS.values()), strict=False):
        rows = np.flatnonzero(region == number)
        held = events[rows].sum() / max(events.sum(), 1)
        # A cloud of some hundred points shows the shape as well as all of them.
        rows = rows[:: max(1, len(rows) // 400)]
        axes.scatter(
            test["confidence"].iloc[rows],
            test["mean_drift"].iloc[rows],
            s=5,
            alpha=0.5,
            color=colour,
            label=f"region {number}: {100 * held:.0f}% of the errors",
            linewidths=0,
        )
    axes.scatter(
        test["confidence"][events],
        test["mean_drift"][events],
        s=22,
        facecolors="none",
        edgecolors="black",
        linewidths=0.7,
        label="confident error",
    )
    axes.axvline(PAPER.tau, color="0.7", linewidth=0.8, zorder=0)
    axes.set(xlabel="confidence", ylabel="mean drift")
    axes.set_yscale("symlog", linthresh=0.01)
    axes.set_ylim(bottom=0)
    legend = axes.legend(
        fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5), markerscale=2
    )
    for handle in legend.legend_handles:
        handle.set_alpha(1)


def _weighting(study: Study, name: str, axes: Any) -> None:
    run = study.run(name, study.seeds[0])
    validation = run.part("validation")
    events = run.events(PAPER.tau, "validation")
    weight_profile(validation["w_cal"].to_numpy(), events, axes)
    axes.set(ylabel="validation rows")


def draw_beyond(tables: dict[str, pd.DataFrame], folder: Path) -> list[Path]:
    """Draw both figures from the tables and return their files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in {"gains": _gains, "risk_calibration": _calibration}.items():
        figure, axes = canvas()
        draw(tables, axes)
        paths.append(save(figure, folder / f"{name}.png"))
    return paths


def _gains(tables: dict[str, pd.DataFrame], axes: Any) -> None:
    known = tables["rankers"]
    names = list(dict.fromkeys(known["dataset"]))
    for offset, (ranker, (colour, marker)) in enumerate(GAINING.items()):
        rows = known[known["ranker"] == ranker].set_index("dataset").loc[names]
        gain = rows["auroc_gain"].to_numpy()
        reach = np.abs(rows[["auroc_gain_low", "auroc_gain_high"]].to_numpy().T - gain)
        height = np.arange(len(names)) + 0.15 * (offset - 2)
        axes.errorbar(
            gain, height, xerr=reach, fmt=marker, color=colour, markersize=4, linewidth=1,
            label=ranker,
        )  # fmt: skip
    axes.axvline(0, color="0.6", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(names)), [plan.TITLES[name] for name in names])
    axes.invert_yaxis()
    axes.set_xlabel("gain in eligible AUROC over gated confidence, 95% interval")
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def _calibration(tables: dict[str, pd.DataFrame], axes: Any) -> None:
    bins = tables["risk_calibration"]
    observed = bins["observed"].to_numpy()
    reach = np.abs(bins[["low", "high"]].to_numpy().T - observed)
    axes.errorbar(bins["predicted"], observed, yerr=reach, fmt="o", color="black", markersize=4)
    ends = [bins["predicted"].min() / 2, bins["predicted"].max() * 2]
    axes.plot(ends, ends, ":", color="grey", label="perfectly calibrated")
    axes.set(
        xscale="log", yscale="log", xlabel="predicted risk, mean of a tenth of the eligible rows",
        ylabel="observed rate, 95% interval",
    )  # fmt: skip
    axes.legend(fontsize=7, frameon=False)


def draw_comparators(tables: dict[str, pd.DataFrame], folder: Path) -> Path:
    """Draw the eligible AUROC of the gate and of `auto`, and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    known = tables["rankers"].set_index(["ranker", "dataset", "model"])["eligible_auroc"]
    names = list(dict.fromkeys(tables["models"]["dataset"]))
    models = [model for model in LOOKS if model in set(tables["models"]["model"])]
    figure, axes = canvas(6.4, 1.0 + 0.95 * len(names))
    for place, model in enumerate(models):
        colour, marker = LOOKS[model]
        height = np.arange(len(names)) + 0.11 * (place - (len(models) - 1) / 2)
        gate, auto = (
            np.array([known.get((ranker, name, model), np.nan) for name in names])
            for ranker in ("gated_confidence", "auto")
        )
        axes.hlines(height, gate, auto, color=colour, linewidth=1)
        axes.plot(gate, height, marker, color=colour, markersize=4.5, markerfacecolor="white")
        axes.plot(auto, height, marker, color=colour, markersize=4.5, label=model)
    for border in np.arange(len(names) - 1) + 0.5:
        axes.axhline(border, color="0.9", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(names)), [plan.TITLES[name] for name in names])
    axes.invert_yaxis()
    axes.set_xlabel("eligible AUROC: gated confidence (open) and auto (filled)")
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return save(figure, folder / "stronger_predictors.png")
