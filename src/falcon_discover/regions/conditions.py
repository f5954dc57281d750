"""What a column must satisfy, in the column's own units and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.tables import BoolArray, Kind

# Longer values are cut in words; the condition itself keeps them whole.
MAX_SHOWN = 40


@dataclass(frozen=True)
class Range:
    """A number or date within bounds, both included; None is no bound.

    Examples
    --------
    >>> print(Range("age", None, 31.0))
    age <= 31
    """

    column: str
    low: float | None
    high: float | None
    kind: Kind = "numeric"

    def holds(self, frame: pd.DataFrame) -> BoolArray:
        """Return which rows satisfy it."""
        values = frame[self.column].to_numpy(dtype=np.float64)
        inside = ~np.isnan(values)
        if self.low is not None:
            inside &= values >= self.low
        if self.high is not None:
            inside &= values <= self.high
        return inside

    def __str__(self) -> str:
        name = shortened(self.column)
        low, high = (None if b is None else _bound(b, self.kind) for b in (self.low, self.high))
        if low is None and high is None:
            return f"{name} is known"
        if low is not None and high is not None:
            return f"{name} is {low}" if low == high else f"{low} <= {name} <= {high}"
        return f"{name} <= {high}" if low is None else f"{name} >= {low}"


@dataclass(frozen=True)
class OneOf:
    """A category among some, or among all but some; None stands for a missing value.

    Examples
    --------
    >>> print(OneOf("education", ("HS-grad", "11th")))
    education in {HS-grad, 11th}
    """

    column: str
    levels: tuple[str | None, ...]
    negated: bool = False

    def holds(self, frame: pd.DataFrame) -> BoolArray:
        """Return which rows satisfy it."""
        values = frame[self.column]
        named = values.isin([level for level in self.levels if level is not None]).to_numpy(bool)
        if None in self.levels:
            named = named | values.isna().to_numpy(bool)
        return ~named if self.negated else named

    def __str__(self) -> str:
        name = shortened(self.column)
        shown = ["missing" if v is None else shortened(v) for v in self.levels]
        if len(shown) == 1:
            return f"{name} is {'not ' if self.negated else ''}{shown[0]}"
        return f"{name} {'not ' if self.negated else ''}in {{{', '.join(shown)}}}"


@dataclass(frozen=True)
class IsMissing:
    """A number or date that is not there."""

    column: str

    def holds(self, frame: pd.DataFrame) -> BoolArray:
        """Return which rows satisfy it."""
        return frame[self.column].isna().to_numpy(bool)

    def __str__(self) -> str:
        return f"{shortened(self.column)} is missing"


Condition = Range | OneOf | IsMissing


def members(conditions: Sequence[Condition], frame: pd.DataFrame) -> BoolArray:
    """Return which rows of a canonical table satisfy all conditions."""
    inside = np.ones(len(frame), dtype=bool)
    for condition in conditions:
        inside &= condition.holds(frame)
    return inside


def rounder(condition: Condition) -> Iterator[Condition]:
    """Yield a range with fewer digits in one of its bounds, fewest first."""
    if not isinstance(condition, Range) or condition.kind == "datetime":
        return
    for fewer in _fewer_digits(condition.low):
        yield replace(condition, low=fewer)
    for fewer in _fewer_digits(condition.high):
        yield replace(condition, high=fewer)


def _fewer_digits(value: float | None) -> list[float]:
    if value is None:
        return []
    shorter = (float(f"{value:.{digits}g}") for digits in range(1, 6))
    return [number for number in dict.fromkeys(shorter) if number != value]


def in_words(conditions: tuple[Condition, ...]) -> str:
    """Return a rule as people write it."""
    return " and ".join(map(str, conditions))


def simple_number(low: float, high: float) -> float:
    """Return the number with the fewest digits in [low, high].

    Examples
    --------
    >>> simple_number(0.31872, 0.3211), simple_number(28.0, 28.0), simple_number(-7.2, 3.0)
    (0.32, 28.0, 0.0)
    """
    if low == high:
        return low
    if low <= 0.0 <= high:
        return 0.0
    if high < 0:
        return -simple_number(-high, -low)
    # From the size of the larger end downwards: the first multiple of a power of ten inside.
    power = math.floor(math.log10(high))
    for digits in range(-power, 18 - power):
        step = math.ceil(low * 10.0**digits) if digits <= 300 else math.inf
        value = round(step / 10.0**digits, max(digits, 0)) if math.isfinite(step) else low
        if low <= value <= high:
            return float(value)
    return low


def simple_time(low: float, high: float) -> float:
    """Return a midnight in [low, high] (seconds since 1970), or else the first full second."""
    for unit in (86_400.0, 3_600.0, 60.0, 1.0):
        value = math.ceil(low / unit) * unit
        if value <= high:
            return value
    return low


def _bound(value: float, kind: Kind) -> str:
    if kind == "datetime":
        moment = pd.Timestamp(value, unit="s")
        return str(moment.date() if moment == moment.normalize() else moment)
    return f"{int(value):,}" if value == int(value) and abs(value) < 1e15 else f"{value:.6g}"


def shortened(text: Any) -> str:
    """Return a name or value on one line, cut where it is long."""
    line = " ".join(str(text).split())
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"
