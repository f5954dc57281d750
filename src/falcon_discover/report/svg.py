"""A small drawing board for charts as inline SVG.

Colours and dashes are classes, which the page's style sheet sets for light, dark and print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from markupsafe import Markup

Point = tuple[float, float]

WIDTH = 460
LINE_HEIGHT = 16
CHARACTER = 6.6  # mean width of a character of the chart's text


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return round numbers that divide a range in about as many steps as wanted.

    Examples
    --------
    >>> ticks(0, 0.013)
    [0.0, 0.005, 0.01]
    """
    if not high > low:
        return [low]
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 2.5, 5, 10) if power * k >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


class Board:
    """A chart area with two axes; each method adds a mark, `svg()` returns the drawing.

    Parameters
    ----------
    x, y : the range of each axis
    height : of the whole drawing
    left, bottom : room for labels
    log : whether the vertical axis is logarithmic
    """

    def __init__(
        self,
        x: Point,
        y: Point,
        *,
        height: int = 300,
        left: int = 52,
        right: int = 22,
        top: int = 12,
        bottom: int = 44,
        log: bool = False,
    ) -> None:
        self.x_range, self.y_range = x, y
        self.height, self.log = height, log
        self.left, self.right, self.top, self.bottom = left, WIDTH - right, top, height - bottom
        self._parts: list[Markup] = []

    def x(self, value: float) -> float:
        """Return the place of a value on the horizontal axis."""
        low, high = self.x_range
        return self.left + (self.right - self.left) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """Return the place of a value on the vertical axis; 0 on a logarithmic one is its foot."""
        low, high = self.y_range
        if self.log:
            value, low, high = (math.log10(max(v, low)) for v in (value, low, high))
        return self.bottom - (self.bottom - self.top) * (value - low) / (high - low)

    def add(self, template: str, **values: object) -> None:
        """Add a piece of SVG; values are escaped, numbers rounded."""
        plain = {k: f"{v:.1f}" if isinstance(v, float) else v for k, v in values.items()}
        self._parts.append(Markup(template).format(**plain))

    def axes(
        self,
        x_label: str,
        y_label: str,
        *,
        x_ticks: Sequence[float] | None = None,
        y_ticks: Sequence[float] | None = None,
        x_words: Callable[[float], str] = str,
        y_words: Callable[[float], str] = str,
    ) -> None:
        """Draw grid lines, ticks and labels."""
        for value in ticks(*self.y_range) if y_ticks is None else y_ticks:
            y = self.y(value)
            self.add(
                '<line class="grid" x1="{a}" x2="{b}" y1="{y}" y2="{y}"/>',
                a=self.left, b=self.right, y=y,
            )  # fmt: skip
            self.words(self.left - 6, y + 4, y_words(value), anchor="end")
        for value in ticks(*self.x_range) if x_ticks is None else x_ticks:
            self.words(self.x(value), self.bottom + 17, x_words(value), anchor="middle")
        self.add(
            '<line class="axis" x1="{a}" x2="{b}" y1="{y}" y2="{y}"/>',
            a=self.left, b=self.right, y=self.bottom,
        )  # fmt: skip
        middle = (self.left + self.right) / 2
        self.words(middle, self.bottom + 36, x_label, anchor="middle", kind="label")
        self.add(
            '<text class="label" transform="translate(13 {y}) rotate(-90)" '
            'text-anchor="middle">{t}</text>',
            y=(self.top + self.bottom) / 2, t=y_label,
        )  # fmt: skip

    def words(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> None:
        """Write a text."""
        self.add(
            '<text class="{k}" x="{x}" y="{y}" text-anchor="{a}">{t}</text>',
            k=kind, x=float(x), y=float(y), a=anchor, t=text,
        )  # fmt: skip

    def line(self, points: Sequence[Point], kind: str) -> None:
        """Draw a line through points."""
        self.add('<path class="line {k}" d="{d}"/>', k=kind, d=self._path(points))

    def band(self, low: Sequence[Point], high: Sequence[Point], kind: str) -> None:
        """Fill the area between two lines."""
        outline = f"{self._path(low)}L{self._path(list(high)[::-1])[1:]}Z"
        self.add('<path class="band {k}" d="{d}"/>', k=kind, d=outline)

    def bar(self, x: Point, y: Point, kind: str, note: str = "", gap: float = 0.5) -> None:
        """Draw a bar between two values on each axis; the note shows when pointed at."""
        left, right = self.x(x[0]) + gap, self.x(x[1]) - gap
        top, bottom = self.y(y[1]), self.y(y[0])
        self.add(
            '<rect class="{k}" x="{x}" y="{y}" width="{w}" height="{h}"><title>{t}</title></rect>',
            k=kind, x=left, y=top, w=max(right - left, 0.5), h=max(bottom - top, 0.0), t=note,
        )  # fmt: skip

    def mark(self, x: float, y: float, shape: str, kind: str, note: str = "") -> None:
        """Draw a marker at a pair of values; the note shows when pointed at."""
        self.add(
            '<path class="mark {k}" d="{d}"><title>{t}</title></path>',
            k=kind, d=shape_at(self.x(x), self.y(y), shape), t=note,
        )  # fmt: skip

    def whisker(self, low: Point, high: Point, kind: str = "ink") -> None:
        """Draw an interval, upright or level."""
        (x1, y1), (x2, y2) = ((self.x(x), self.y(y)) for x, y in (low, high))
        upright = low[0] == high[0]
        dx, dy = (4.0, 0.0) if upright else (0.0, 4.0)
        d = (
            f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
            f"M{x1 - dx:.1f} {y1 - dy:.1f}L{x1 + dx:.1f} {y1 + dy:.1f}"
            f"M{x2 - dx:.1f} {y2 - dy:.1f}L{x2 + dx:.1f} {y2 + dy:.1f}"
        )
        self.add('<path class="whisker {k}" d="{d}"/>', k=kind, d=d)

    def legend(self, entries: Sequence[tuple[str, str, str]], columns: int = 2) -> None:
        """Add lines under the chart: per entry its words, its class, and its marker or "band"."""
        width = (WIDTH - 16) / columns
        for i, (words, kind, shape) in enumerate(entries):
            x, y = 16 + (i % columns) * width, self.height + 12 + (i // columns) * LINE_HEIGHT
            if shape == "band":
                self.add('<rect class="{k}" x="{x}" y="{y}" width="26" height="10"/>',
                         k=kind, x=x, y=y - 9.0)  # fmt: skip
            else:
                self.add('<path class="line {k}" d="M{x} {y}h26"/>', k=kind, x=x, y=y - 4.0)
                if shape:
                    self.add('<path class="mark {k}" d="{d}"/>',
                             k=kind, d=shape_at(x + 13, y - 4, shape))  # fmt: skip
            self.words(x + 32, y, words)
        self.height += 14 + LINE_HEIGHT * math.ceil(len(entries) / columns)

    def svg(self, name: str, title: str, words: str) -> Markup:
        """Return the drawing with its title and its text alternative.

        Parameters
        ----------
        name : unique on the page
        """
        return Markup(
            '<svg class="chart" viewBox="0 0 {w} {h}" role="img" aria-labelledby="{n}-t {n}-d">'
            '<title id="{n}-t">{t}</title><desc id="{n}-d">{d}</desc>{body}</svg>'
        ).format(
            w=WIDTH, h=self.height, n=name, t=title, d=words, body=Markup("").join(self._parts)
        )

    def _path(self, points: Sequence[Point]) -> str:
        return "M" + "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)


def shape_at(x: float, y: float, shape: str, size: float = 4.0) -> str:
    """Return the outline of a marker.

    Examples
    --------
    >>> shape_at(10, 10, "square")
    'M6.0 6.0h8.0v8.0h-8.0z'
    """
    s = size
    return {
        "circle": f"M{x - s:.1f} {y:.1f}a{s} {s} 0 1 0 {2 * s} 0a{s} {s} 0 1 0 {-2 * s} 0z",
        "square": f"M{x - s:.1f} {y - s:.1f}h{2 * s}v{2 * s}h{-2 * s}z",
        "up": f"M{x:.1f} {y - s:.1f}l{s} {2 * s}h{-2 * s}z",
        "down": f"M{x:.1f} {y + s:.1f}l{s} {-2 * s}h{-2 * s}z",
        "diamond": f"M{x:.1f} {y - 1.2 * s:.1f}l{s} {1.2 * s}l{-s} {1.2 * s}l{-s} {-1.2 * s}z",
        "cross": f"M{x - s:.1f} {y - s:.1f}l{2 * s} {2 * s}m0 {-2 * s}l{-2 * s} {2 * s}",
    }[shape]


def wrapped(words: str, width: float) -> list[str]:
    """Return a text in lines that fit a width.

    Examples
    --------
    >>> wrapped("a long name indeed", 60)
    ['a long', 'name', 'indeed']
    """
    lines = [""]
    for word in str(words).split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(longer) * CHARACTER > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
