"""Charts drawn with matplotlib, which is only needed here; and the profile of weights."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from falcon_discover.plots.chart import Area, Axis, Chart, Line, Text
from falcon_discover.plots.style import FILLS, STROKES
from falcon_discover.runtime.optional import require
from falcon_discover.runtime.types import BoolArray, FloatArray

MARKERS = {"circle": "o", "square": "s", "up": "^", "down": "v", "diamond": "D", "cross": "x"}
# How far from their point words stand, in points, and how they are aligned with it.
PLACES = {
    "right": ((4, 0), "left", "center"),
    "above": ((0, 2), "center", "bottom"),
    "above left": ((0, 2), "right", "bottom"),
    "over": ((0, 0), "center", "center"),
}
LONGEST_LINE = 48
# Names of a legend up to this length stand side by side.
SHORT = 12


def canvas(width: float = 5.2, height: float = 3.6, layout: Any = None) -> tuple[Any, Any]:
    """Return an empty figure, not shown by itself, and its axes.

    The layout "constrained" makes room for long labels.
    """
    # Once pyplot is loaded, notebooks show figures.
    require("matplotlib.pyplot", extra="plots", what="a figure")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Any, path: Path) -> Path:
    """Write a figure without a date in the file: the same numbers give the same bytes."""
    figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
    return path


def draw(chart: Chart, axes: Any = None) -> Any:
    """Draw a chart, into a new figure unless axes are given, and return the axes."""
    if axes is None:
        lines = sum(1.5 + fill(name, LONGEST_LINE).count("\n") for name in chart.y.names)
        size = (6.4, 1.1 + 0.16 * lines) if chart.is_list else (5.2, 3.6)
        _, axes = canvas(*size, layout="constrained")
    handles = {layer.name: _added(axes, layer) for layer in chart.layers}
    if chart.legend:
        columns = 1 if max(map(len, chart.legend)) > SHORT else 3
        shown = [handles[name] for name in chart.legend]
        axes.legend(shown, chart.legend, ncols=columns, fontsize=7, frameon=False)
    axes.set_title(chart.title, loc="left", fontsize=9)
    _set_axis(axes, "x", chart.x)
    _set_axis(axes, "y", chart.y)
    return axes


def _added(axes: Any, layer: Line | Area | Text) -> Any:
    """Draw a layer and return what stands for it in the legend."""
    if isinstance(layer, Text):
        offset, across, up = PLACES[layer.place]
        return axes.annotate(
            _plain(layer.words), layer.point, offset, textcoords="offset points", ha=across, va=up,
            fontsize=7, fontweight="bold" if "sure" in layer.style else "normal",
        )  # fmt: skip
    if isinstance(layer, Area):
        look = FILLS[layer.style]
        (area,) = axes.fill(
            *zip(*layer.outline, strict=True), facecolor=look.colour, hatch=look.hatch,
            alpha=look.alpha * layer.opacity, edgecolor="white", linewidth=0.5,
        )  # fmt: skip
        return area
    stroke = STROKES[layer.style]
    xs, ys = zip(*layer.points, strict=True)
    caps = "_" if xs[0] == xs[-1] else "|"
    marked = [0, -1] if stroke.marker == "cap" else list(layer.notes)
    (line,) = axes.plot(
        xs, ys, linestyle=stroke.dash, linewidth=stroke.width, color=stroke.colour,
        marker=MARKERS.get(stroke.marker, caps) if marked else "", markevery=marked, markersize=4,
    )  # fmt: skip
    return line


def _set_axis(axes: Any, which: str, axis: Axis) -> None:
    room = 0.0 if axis.names or axis.log else 0.02 * (axis.high - axis.low)
    settings = {
        "label": axis.label,
        "scale": "log" if axis.log else "linear",
        "ticks": [value for value, _ in axis.ticks],
        "ticklabels": [_plain(fill(words, LONGEST_LINE)) for _, words in axis.ticks],
        # Marks at the ends of a range show in full, but nothing lies below zero.
        "lim": (axis.low and axis.low - room, axis.high + room),
    }
    axes.set(**{f"{which}{name}": value for name, value in settings.items()})
    axes.tick_params(which, labelsize=8)


def _plain(words: str) -> str:
    # A dollar sign would begin a formula.
    return words.replace("$", r"\$")


def weight_profile(weights: FloatArray, events: BoolArray, axes: Any = None) -> Any:
    """Draw the paper's weighting profile, confident errors apart, and return the axes."""
    if axes is None:
        _, axes = canvas()
    bins = np.linspace(weights.min(), weights.max(), 40)
    for rows, style, name in (
        (~events, "fill1", "other rows"),
        (events, "fill0", "confident errors"),
    ):
        axes.hist(weights[rows], bins, color=FILLS[style].colour, label=name, log=True)
    axes.set(xlabel="calibration weight", ylabel="calibration rows")
    axes.legend(fontsize=7, frameon=False)
    return axes
