"""Where confident errors gather: rates of regions, and the map of conflict."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.exceptions import InputError
from falcon_discover.plots.style import EVENT_COLOUR, MUTED_COLOUR, canvas, percent_axis
from falcon_discover.regions.conflict import Conflict
from falcon_discover.signals.catalogue import CONFLICT_WORDS


def conflict_map(
    conflict: Conflict,
    evidence: str = "support",
    instability: str = "mean_drift",
    axes: Any = None,
) -> Any:
    """Draw Gamma over the grid of thresholds and return the axes.

    A cell is the slice with evidence at most, and instability at least, the values at its sides;
    bold where it holds more errors than rows of the same confidence, framed if it is the best.
    """
    pairs = dict.fromkeys((s.evidence, s.instability) for s in conflict.slices)
    if not pairs:
        raise InputError("there is no map to draw: too few predictions are confident.")
    if (evidence, instability) not in pairs:
        known = "; ".join(f"{first!r} with {second!r}" for first, second in pairs)
        raise InputError(f"there is no map of {evidence!r} with {instability!r}: choose {known}.")
    if axes is None:
        _, axes = canvas()
    slices = [s for s in conflict.slices if (s.evidence, s.instability) == (evidence, instability)]
    across = sorted({s.evidence_at_most for s in slices})
    up = sorted({s.instability_at_least for s in slices})
    grid = np.full((len(up), len(across)), np.nan)
    for s in slices:
        grid[up.index(s.instability_at_least), across.index(s.evidence_at_most)] = s.gamma
    reach = float(np.nanmax(np.abs(grid)))
    image = axes.imshow(grid, origin="lower", aspect="auto", cmap="PuOr_r", vmin=-reach, vmax=reach)
    for s in slices:
        x, y = across.index(s.evidence_at_most), up.index(s.instability_at_least)
        axes.text(
            x, y, f"{s.gamma:+.2f}\n{s.events}/{s.rows}", ha="center", va="center", fontsize=6,
            color="white" if abs(s.gamma) > 0.7 * reach else "black",
            fontweight="bold" if s.excess_low > 0 else "normal",
        )  # fmt: skip
        if s == conflict.best:
            axes.plot(x, y, "s", markersize=26, fillstyle="none", color="black")
    axes.set_xticks(range(len(across)), [f"{value:.2g}" for value in across])
    axes.set_yticks(range(len(up)), [f"{value:.2g}" for value in up])
    axes.set(
        xlabel=f"{CONFLICT_WORDS[evidence]} at most",
        ylabel=f"{CONFLICT_WORDS[instability]} at least",
    )
    axes.figure.colorbar(image, ax=axes, label="Gamma: excess rate of confident errors")
    return axes


def region_plot(regions: pd.DataFrame, axes: Any = None) -> Any:
    """Draw the rate of confident errors in each region with its interval, and return the axes.

    Parameters
    ----------
    regions : as `Curves.regions` returns it; the line is the rate of all confident predictions
    """
    shown = regions[(regions["kind"] == "all") | regions["confirmed"]]
    shown = shown[shown["eligible"] > 0].reset_index(drop=True)
    if axes is None:
        _, axes = canvas(6.4, 0.8 + 0.5 * max(len(shown), 1), layout="constrained")
    places = range(len(shown))[::-1]
    colours = [MUTED_COLOUR if kind == "all" else EVENT_COLOUR for kind in shown["kind"]]
    reach = [shown["rate"] - shown["low"], shown["high"] - shown["rate"]]
    axes.barh(list(places), shown["rate"], color=colours, height=0.6)
    axes.errorbar(shown["rate"], list(places), xerr=reach, fmt="none", ecolor="black", capsize=3)
    for place, line in zip(places, shown.itertuples(), strict=True):
        axes.annotate(
            f"{line.events:,}/{line.eligible:,}", (line.high, place), xytext=(4, 0),
            textcoords="offset points", va="center", fontsize=7,
        )  # fmt: skip
        if line.kind == "all":
            axes.axvline(line.rate, color=MUTED_COLOUR, linestyle="--", linewidth=1)
    # A dollar sign would begin a formula.
    words = [fill(name, 48).replace("$", r"\$") for name in shown["name"]]
    axes.set_yticks(list(places), words, fontsize=7)
    axes.set(xlabel="wrong among confident predictions", xlim=(0, None))
    percent_axis(axes.xaxis, None)
    return axes
