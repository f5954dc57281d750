"""Charts drawn as inline SVG.

Colours and dashes are classes, which the page's style sheet sets for light, dark and print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from markupsafe import Markup

from falcon_discover.plots.chart import Area, Axis, Chart, Line, Point, Text
from falcon_discover.plots.style import FILLS, STROKES
from falcon_discover.plots.text import in_lines, text_width

# Narrow, so that text stays readable where the chart is scaled down to the width of a phone.
WIDTH, HEIGHT, MAP = 380, 290, 340
LINE_HEIGHT, LEGEND_LINE = 14, 17
EDGE, GAP = 6, 8
MAX_NAME = 150  # width of the names of a list
KEY = 32  # width of a legend's mark and the room after it
# How far from their point words stand, and which part of them stands there.
PLACES = {"above left": (0, -7, "end"), "over": (0, 4, "middle"), "margin": (GAP, 4, "start")}
# Outlines of markers, from their middle.
SHAPES = {
    "circle": "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "square": "m-4 -4h8v8h-8z",
    "up": "m0 -4l4 8h-8z",
    "down": "m0 4l4 -8h-8z",
    "diamond": "m0 -5l4 5l-4 5l-4 -5z",
    "cross": "m-4 -4l8 8m0 -8l-8 8",
}


def svg(chart: Chart, key: str, words: str) -> Markup:
    """Return a chart with its title and its text alternative; `key` is unique on the page."""
    names = [in_lines(name, MAX_NAME) for _, name in chart.y.ticks]
    left = (30 if chart.y.label else EDGE) + GAP + max(map(_widest, names), default=0)
    right = WIDTH - max(_margin(chart), text_width(chart.x.ticks[-1][1]) / 2) - EDGE
    columns = _columns(chart.x, right - left)
    label = in_lines(chart.x.label, WIDTH - 2 * EDGE)
    rows = [LINE_HEIGHT * max(len(lines), chart.y.lines) + 6 for lines in names]
    below = GAP + LINE_HEIGHT * (max(map(len, columns)) + len(label)) + 10
    top = 26 if any(isinstance(t, Text) and t.place == "above left" for t in chart.layers) else 12
    # The cells of a map hold three lines each.
    bottom = top + sum(rows) if chart.is_list else (MAP if chart.y.names else HEIGHT) - below
    edges = [bottom, top]
    if chart.is_list:
        edges = [top + sum(rows[:i]) for i in range(len(rows), -1, -1)]
    board = _Board(chart, [left, right], edges)
    board.axes(chart, names, columns, label)
    for layer in chart.shown:
        board.add(layer)
    height = board.legend(chart, bottom + below)
    return board.svg(key, chart.title, words, height)


def _margin(chart: Chart) -> float:
    """Return the width that words beside the chart take."""
    beside = [t for t in chart.layers if isinstance(t, Text) and t.place == "margin"]
    return max((GAP + text_width(t.words) for t in beside), default=0.0)


def _widest(lines: list[str]) -> float:
    return max(map(text_width, lines))


def _columns(axis: Axis, width: float) -> list[list[str]]:
    """Return the words under a chart in lines, each as wide as there is room."""
    shown = [i for i, (_, words) in enumerate(axis.ticks) if words]
    step = min(np.diff(shown), default=len(axis.ticks))
    room = width * step / len(axis.ticks) - GAP
    return [in_lines(words, room) if axis.names else [words] for _, words in axis.ticks]


def strip(chart: Chart, key: str, words: str) -> Markup:
    """Return the bar of a list with a single name, which stands beside it."""
    board = _Board(chart, [2, WIDTH - 2], [22, 2])
    for layer in chart.shown:
        if not isinstance(layer, Text):
            board.add(layer)
    return board.svg(key, chart.title, words, 24)


class _Board:
    """The pieces of a drawing, and where values lie in it: each axis from its low to its high."""

    def __init__(self, chart: Chart, x: Sequence[float], y: Sequence[float]) -> None:
        self.left, self.right, self.bottom, self.top = x[0], x[-1], y[0], y[-1]
        self.x, self.y = _scale(chart.x, x), _scale(chart.y, y)
        self.parts: list[Markup] = []

    def put(self, template: str, **values: object) -> None:
        """Add a piece; values are escaped, numbers rounded."""
        plain = {k: f"{v:.1f}" if isinstance(v, float) else v for k, v in values.items()}
        self.parts.append(Markup(template).format(**plain))

    def words(self, x: float, y: float, text: str, anchor: str, kind: str = "") -> None:
        self.put(
            '<text class="{k}" x="{x}" y="{y}" text-anchor="{a}">{t}</text>',
            k=kind, x=float(x), y=float(y), a=anchor, t=text,
        )  # fmt: skip

    def path(self, kind: str, d: str, note: str = "", opacity: float = 1.0) -> None:
        shown = Markup("<title>{}</title>").format(note) if note else ""
        faded = Markup(' fill-opacity="{}"').format(opacity) if opacity < 1 else ""
        self.put('<path class="{k}"{o} d="{d}">{t}</path>', k=kind, o=faded, d=d, t=shown)

    def rule(self, kind: str, start: Point, end: Point) -> None:
        self.path(kind, f"M{start[0]:.1f} {start[1]:.1f}L{end[0]:.1f} {end[1]:.1f}")

    def axes(
        self, chart: Chart, names: list[list[str]], columns: list[list[str]], label: list[str]
    ) -> None:
        for (value, _), lines in zip(chart.y.ticks, names, strict=True):
            y = self.y(value)
            if not chart.y.names:
                self.rule("grid", (self.left, y), (self.right, y))
            y += 4 - (len(lines) - 1) / 2 * LINE_HEIGHT
            for i, line in enumerate(lines):
                self.words(self.left - GAP, y + i * LINE_HEIGHT, line, "end")
        for (value, _), lines in zip(chart.x.ticks, columns, strict=True):
            x = self.x(value)
            if chart.is_list:
                self.rule("grid", (x, self.top), (x, self.bottom))
            for i, line in enumerate(lines):
                self.words(x, self.bottom + 17 + i * LINE_HEIGHT, line, "middle")
        if not chart.y.names:
            self.rule("axis", (self.left, self.bottom), (self.right, self.bottom))
        under = self.bottom + 24 + LINE_HEIGHT * max(map(len, columns))
        # A label that is wider than the axis stands in the middle of the whole.
        wide = _widest(label) > self.right - self.left
        middle = WIDTH / 2 if wide else (self.left + self.right) / 2
        for i, line in enumerate(label):
            self.words(middle, under + i * LINE_HEIGHT, line, "middle", "label")
        if chart.y.label:
            self.put(
                '<text class="label" transform="translate(15 {y}) rotate(-90)" '
                'text-anchor="middle">{t}</text>',
                y=(self.top + self.bottom) / 2, t=chart.y.label,
            )  # fmt: skip

    def add(self, layer: Line | Area | Text) -> None:
        if isinstance(layer, Text):
            right, down, anchor = PLACES[layer.place]
            x, y = self.x(layer.point[0]) + right, self.y(layer.point[1]) + down
            self.words(x, y, layer.words, anchor, layer.style)
            return
        points = layer.outline if isinstance(layer, Area) else layer.points
        places = [(self.x(x), self.y(y)) for x, y in points]
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        if isinstance(layer, Area):
            self.path(layer.style, f"{d}Z", layer.note, layer.opacity)
            if FILLS[layer.style].hatch:
                self.path("hatch", f"{d}Z", layer.note)
            return
        stroke = STROKES[layer.style]
        if stroke.marker == "cap":
            dx, dy = (4, 0) if places[0][0] == places[-1][0] else (0, 4)
            caps = (f"M{x - dx:.1f} {y - dy:.1f}l{2 * dx} {2 * dy}" for x, y in places)
            self.path(layer.style, d + "".join(caps))
        elif stroke.dash != "none":
            self.path(f"line {layer.style}", d)
        for i, note in layer.notes.items():
            self.path(f"mark {layer.style}", _mark(*places[i], stroke.marker), note)

    def legend(self, chart: Chart, height: float) -> float:
        """Add lines under the chart and return its whole height."""
        widest = max(map(text_width, chart.legend), default=0.0) + KEY + GAP
        columns = max(1, min(3, int((WIDTH - EDGE) // widest)))
        for i, (name, layer) in enumerate(chart.legend.items()):
            x = EDGE + i % columns * (WIDTH - EDGE) / columns
            y = height + 12 + i // columns * LEGEND_LINE
            if isinstance(layer, Area):
                self.path(layer.style, f"M{x:.1f} {y - 9:.1f}h26v10h-26z")
                if FILLS[layer.style].hatch:
                    self.path("hatch", f"M{x:.1f} {y - 9:.1f}h26v10h-26z")
            elif isinstance(layer, Line):
                self.path(f"line {layer.style}", f"M{x:.1f} {y - 4:.1f}h26")
                if layer.notes:
                    marker = _mark(x + 13, y - 4, STROKES[layer.style].marker)
                    self.path(f"mark {layer.style}", marker)
            self.words(x + KEY, y, name, "start")
        lines = math.ceil(len(chart.legend) / columns)
        return height + 14 + LEGEND_LINE * lines if lines else height

    def svg(self, key: str, title: str, words: str, height: float) -> Markup:
        return Markup(
            '<svg class="chart" viewBox="0 0 {w} {h}" role="img" aria-labelledby="{n}-t {n}-d">'
            '<title id="{n}-t">{t}</title><desc id="{n}-d">{d}</desc>{body}</svg>'
        ).format(w=WIDTH, h=height, n=key, t=title, d=words, body=Markup("").join(self.parts))


def _scale(axis: Axis, places: Sequence[float]) -> Callable[[float], float]:
    """Return where a value lies; beyond an end of the axis, at the end."""
    step = 1 if axis.high > axis.low else -1
    knots = np.linspace(axis.low, axis.high, len(places))[::step]
    at = places[::step]

    def place(value: float) -> float:
        return float(np.interp(value, knots, at))

    return place


def _mark(x: float, y: float, shape: str) -> str:
    return f"M{x:.1f} {y:.1f}{SHAPES[shape]}"
