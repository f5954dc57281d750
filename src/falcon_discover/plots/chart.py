"""A chart as data: two axes and layers on top of each other, with every word and number.

It knows no way of drawing: `plots/matplotlib.py` draws it for Python, `report/svg.py` for the
offline page. A style is a class of the page's style sheet and an entry of `plots/style.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Point = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Line:
    """A line through points; those with a note are marked, and show it when pointed at."""

    points: Sequence[Point]
    style: str
    name: str = ""
    notes: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Area:
    """An area within an outline, which shows its note when pointed at."""

    outline: Sequence[Point]
    style: str
    name: str = ""
    note: str = ""
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class Text:
    """Words over a point, above and ending there, or at its height in the right margin."""

    point: Point
    words: str
    place: Literal["over", "above left", "margin"]
    style: str = ""
    name: str = ""


@dataclass(frozen=True, eq=False)
class Axis:
    """An axis from one value to another, or with a name for each unit from 0 on.

    `words` says what a value is called, `at` which values to name; by default some round ones.
    A name has room for at least so many `lines` of text.
    """

    label: str
    low: float
    high: float
    words: Callable[[float], str] = "{:g}".format
    at: Sequence[float] | None = None
    names: Sequence[str] = ()
    lines: int = 1

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Values and what they are called."""
        if self.names:
            return [(i + 0.5, name) for i, name in enumerate(self.names)]
        values = round_values(self.low, self.high) if self.at is None else self.at
        return [(value, self.words(value)) for value in values]


@dataclass(frozen=True, eq=False)
class Chart:
    """What a chart shows; layers are drawn in their order. The title says what to see."""

    title: str
    x: Axis
    y: Axis
    layers: Sequence[Line | Area | Text]

    @property
    def is_list(self) -> bool:
        """Whether each name has a line of its own."""
        return bool(self.y.names) and not self.x.names

    @property
    def shown(self) -> list[Line | Area | Text]:
        """The layers with something to draw."""
        return [layer for layer in self.layers if not isinstance(layer, Line) or layer.points]

    @property
    def legend(self) -> dict[str, Line | Area | Text]:
        """One layer of each name; what lies on top comes first."""
        return {layer.name: layer for layer in reversed(self.shown) if layer.name}


def few(names: Sequence[str], most: int) -> list[str]:
    """Return names of which at most so many are shown, evenly; the others are empty.

    Examples
    --------
    >>> few(["a", "b", "c", "d", "e"], 3)
    ['a', '', 'c', '', 'e']
    """
    every = -(-len(names) // most)
    return [name if i % every == 0 else "" for i, name in enumerate(names)]


def box(left: float, right: float, bottom: float, top: float) -> list[Point]:
    """Return the outline of a rectangle."""
    return [(left, bottom), (left, top), (right, top), (right, bottom)]


def round_values(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return round numbers that divide a range in about as many steps as wanted.

    Examples
    --------
    >>> round_values(0, 0.013)
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
