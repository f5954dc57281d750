"""Calibration before and after."""

from __future__ import annotations

from typing import Any

from falcon_discover.evaluation.curves.recalibration import CAUTIOUS, Recalibration
from falcon_discover.plots.style import (
    BASE_COLOUR,
    EVENT_COLOUR,
    MUTED_COLOUR,
    canvas,
)

HATCHES = ("", "///", "...")


def calibration_plot(recalibration: Recalibration, axes: Any = None) -> Any:
    """Draw log loss, Brier score, ECE and errors at equal coverage as shares of what they were.

    Returns the axes; below 1 a calibrator improves the figure.
    """
    if axes is None:
        _, axes = canvas(5.6, 3.4, layout="constrained")
    table = recalibration.table[recalibration.table["method"] != CAUTIOUS]
    measures = {
        "nll": "log loss", "brier": "Brier score", "ece": "ECE",
        "errors_at_coverage": f"errors at equal coverage\n(confident at {recalibration.tau:g})",
    }  # fmt: skip
    width = 0.8 / len(table)
    colours = (MUTED_COLOUR, BASE_COLOUR, EVENT_COLOUR)
    methods = zip(table.to_dict("records"), colours, HATCHES, strict=True)
    for i, (line, colour, hatch) in enumerate(methods):
        before = table.iloc[0]
        heights = [line[key] / before[key] if before[key] else 0.0 for key in measures]
        places = [k + (i - (len(table) - 1) / 2) * width for k in range(len(measures))]
        axes.bar(
            places, heights, width, color=colour, hatch=hatch, edgecolor="white",
            label=line["method"],
        )  # fmt: skip
        for place, height, key in zip(places, heights, measures, strict=True):
            value = f"{line[key]:,.1f}" if line[key] >= 1 else f"{line[key]:.3f}"
            axes.annotate(
                value, (place, height), xytext=(0, 2), textcoords="offset points", ha="center",
                fontsize=6,
            )  # fmt: skip
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(measures)), list(measures.values()), fontsize=8)
    axes.set(ylabel="relative to before")
    axes.legend(fontsize=7, frameon=False, ncols=len(table))
    axes.margins(y=0.15)
    return axes
