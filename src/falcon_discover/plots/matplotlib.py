"""Charts drawn with matplotlib, which is only needed here; and the profile of weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from falcon_discover.plots.chart import Area, Axis, Chart, Line, Text
from falcon_discover.plots.style import FILLS, STROKES
from falcon_discover.plots.text import in_lines, text_width
from falcon_discover.runtime.notebook import notebook_display
from falcon_discover.runtime.optional import require
from falcon_discover.runtime.types import BoolArray, FloatArray

MARKERS = {"circle": "o", "square": "s", "up": "^", "down": "v", "diamond": "D", "cross": "x"}
# How far from their point words stand, in points, and how they are aligned with it.
PLACES = {
    "above left": ((0, 2), "right", "bottom"),
    "over": ((0, 0), "center", "center"),
    "margin": ((5, 0), "left", "center"),
}
# Sizes of text in points, of figures in inches.
TEXT, TICK, TITLE = 7.5, 8.0, 9.5
WIDTH, HEIGHT, LIST_WIDTH = 5.6, 4.0, 6.6
POINTS = 72
NAMES_POINTS = 2.6 * POINTS


def canvas(width: float = 5.2, height: float = 3.6, layout: Any = None) -> tuple[Any, Any]:
    """Return an empty figure and its axes; a notebook shows it at the end of the cell.

    The layout "constrained" makes room for long labels.
    """
    pyplot = require("matplotlib.pyplot", extra="plots", what="a figure")
    from matplotlib.figure import Figure

    # Elsewhere nobody closes what pyplot keeps.
    make = Figure if notebook_display() is None else pyplot.figure
    figure = make(figsize=(width, height), layout=layout)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Any, path: Path) -> Path:
    """Write a figure without a date in the file: the same numbers give the same bytes."""
    figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
    return path


def draw(chart: Chart, axes: Any = None) -> Any:
    """Draw a chart, into a new figure unless axes are given, and return the axes."""
    new = axes is None
    if new:
        names = [in_lines(name, NAMES_POINTS, TICK) for name in chart.y.names]
        lines = sum(max(len(name), chart.y.lines) + 0.6 for name in names)
        size = (LIST_WIDTH, 1.5 + 0.155 * lines) if chart.is_list else (WIDTH, HEIGHT)
        _, axes = canvas(*size, layout="constrained")
    handles = {layer.name: _added(axes, layer) for layer in chart.shown}
    width = POINTS * axes.figure.get_figwidth() * (1 if new else axes.get_position().width)
    if chart.legend:
        longest = max(text_width(name, TEXT) for name in chart.legend) + 6 * TEXT
        columns = max(1, min(3, int(width // longest)))
        shown = [handles[name] for name in chart.legend]
        # Below the chart it covers nothing; in axes that were given, room is there within only.
        target, place = (axes.figure, "outside lower left") if new else (axes, "best")
        target.legend(
            shown, chart.legend, ncols=columns, fontsize=TEXT, frameon=False, loc=place
        )  # fmt: skip
    title = in_lines(chart.title, 0.97 * width - _left_of(chart), TITLE)
    raised = 16 if any(isinstance(t, Text) and t.place == "above left" for t in chart.layers) else 6
    axes.set_title(_plain("\n".join(title)), loc="left", fontsize=TITLE, pad=raised)
    _set_axis(axes, "x", chart.x, 0.8 * width / max(1, sum(map(bool, chart.x.names))))
    _set_axis(axes, "y", chart.y, NAMES_POINTS)
    return axes


def _left_of(chart: Chart) -> float:
    """Return about how wide the words left of a chart are."""
    lines = [line for _, name in chart.y.ticks for line in in_lines(name, NAMES_POINTS, TICK)]
    return max((text_width(line, TICK) for line in lines), default=0.0) + 3 * TITLE


def _added(axes: Any, layer: Line | Area | Text) -> Any:
    """Draw a layer and return what stands for it in the legend."""
    if isinstance(layer, Text):
        offset, across, up = PLACES[layer.place]
        return axes.annotate(
            _plain(layer.words), layer.point, offset, textcoords="offset points", ha=across, va=up,
            fontsize=TEXT, fontweight="bold" if "sure" in layer.style else "normal",
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


def _set_axis(axes: Any, which: str, axis: Axis, room: float) -> None:
    spare = 0.0 if axis.names else 0.02 * (axis.high - axis.low)
    settings = {
        "ticks": [value for value, _ in axis.ticks],
        "ticklabels": [
            _plain("\n".join(in_lines(words, room, TICK)) if axis.names else words)
            for _, words in axis.ticks
        ],
        # Marks at the ends of a range show in full, but nothing lies below zero.
        "lim": (axis.low and axis.low - spare, axis.high + spare),
    }
    axes.set(**{f"{which}{name}": value for name, value in settings.items()})
    label = axes.set_xlabel if which == "x" else axes.set_ylabel
    label(axis.label, fontsize=TITLE, labelpad=6)
    axes.tick_params(which, labelsize=TICK)


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
