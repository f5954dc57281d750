"""Figures of what goes beyond the paper: gains with intervals, and the calibrated risk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.bench import plan
from falcon_discover.bench.figures import COLOURS
from falcon_discover.plots.matplotlib import canvas, save

SHOWN = {
    "auto": ("#000000", "o"),
    "auto_surprise": ("#CC79A7", "D"),
    "gated_stability": (COLOURS["s_stab"], "^"),
    "gated_trustscore": (COLOURS["trustscore"], "s"),
    "learned": (COLOURS["learned"], "v"),
}


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
    for offset, (ranker, (colour, marker)) in enumerate(SHOWN.items()):
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
    axes.set_xlabel("gain in eligible AUROC over gated confidence, 95 % interval")
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
        ylabel="observed rate, 95 % interval",
    )  # fmt: skip
    axes.legend(fontsize=7, frameon=False)
