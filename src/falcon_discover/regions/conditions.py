"""What a column must satisfy: in the column's own units, in words, and as plain values.

`str()` of a condition tells it in full. Only what is shown to people is shortened, by
`short_names`, which keeps different rules apart.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.data.table import Kind
from falcon_discover.runtime.types import BoolArray

# How long a name or value, and a whole rule, may be in short; longer if two would look alike.
SHORT_NAME = 40
SHORT_RULE = 160


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

    def to_dict(self) -> dict[str, Any]:
        """Return column, operator and value; dates as ISO text."""
        low, high = (None if b is None else _value(b, self.kind) for b in (self.low, self.high))
        if low is None and high is None:
            return _plain(self.column, "is known")
        if low is not None and high is not None:
            return _plain(self.column, "between", [low, high])
        return _plain(self.column, "<=", high) if low is None else _plain(self.column, ">=", low)

    def words(self, width: int | None = None) -> str:
        """Return the condition as people write it, with names of at most `width` characters."""
        name = shortened(self.column, width)
        low, high = (None if b is None else _bound(b, self.kind) for b in (self.low, self.high))
        if low is None and high is None:
            return f"{name} is known"
        if low is not None and high is not None:
            return f"{name} is {low}" if low == high else f"{low} <= {name} <= {high}"
        return f"{name} <= {high}" if low is None else f"{name} >= {low}"

    __str__ = words


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

    def to_dict(self) -> dict[str, Any]:
        """Return column, operator and values; None among them is a missing value."""
        return _plain(self.column, "not in" if self.negated else "in", list(self.levels))

    def words(self, width: int | None = None) -> str:
        """Return the condition as people write it, with names of at most `width` characters."""
        name = shortened(self.column, width)
        told = ["missing" if v is None else shortened(v, width) for v in self.levels]
        if len(told) == 1:
            return f"{name} is {'not ' if self.negated else ''}{told[0]}"
        return f"{name} {'not ' if self.negated else ''}in {{{', '.join(told)}}}"

    __str__ = words


@dataclass(frozen=True)
class IsMissing:
    """A number or date that is not there."""

    column: str

    def holds(self, frame: pd.DataFrame) -> BoolArray:
        """Return which rows satisfy it."""
        return frame[self.column].isna().to_numpy(bool)

    def to_dict(self) -> dict[str, Any]:
        """Return column and operator."""
        return _plain(self.column, "is missing")

    def words(self, width: int | None = None) -> str:
        """Return the condition as people write it, with names of at most `width` characters."""
        return f"{shortened(self.column, width)} is missing"

    __str__ = words


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


def in_words(conditions: Sequence[Condition], width: int | None = None) -> str:
    """Return a rule as people write it, in full or with names of at most `width` characters."""
    return " and ".join(condition.words(width) for condition in conditions)


def short_names(rules: Sequence[Sequence[Condition]]) -> list[str]:
    """Return each rule in short; no two names are equal, nor two columns of one rule.

    Examples
    --------
    >>> columns = [f"balance_across_all_open_accounts_of_{kind}_holders" for kind in ("new", "old")]
    >>> for name in short_names([[Range(column, 9.0, None)] for column in columns]):
    ...     print(name)
    balance_across_all_o…unts_of_new_holders >= 9
    balance_across_all_o…unts_of_old_holders >= 9
    """
    full = [in_words(rule) for rule in rules]
    names, alike, wider = list(full), list(range(len(full))), 1
    while alike:
        for i in alike:
            short = in_words(rules[i], SHORT_NAME * wider)
            names[i] = shortened(short, SHORT_RULE * wider)
        count = Counter(names)
        alike = [
            i
            for i in alike
            if names[i] != full[i]
            and (count[names[i]] > 1 or _look_alike(rules[i], SHORT_NAME * wider))
        ]
        wider *= 2
    # Rules may read the same in full: names that differ in white space only are told by place.
    count = Counter(names)
    return [name if count[name] == 1 else f"{name} (#{i + 1})" for i, name in enumerate(names)]


def _look_alike(rule: Sequence[Condition], width: int) -> bool:
    """Return whether different columns of a rule have the same name in short."""
    columns = {shortened(condition.column) for condition in rule}
    return len({shortened(column, width) for column in columns}) < len(columns)


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


def _plain(column: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"column": column, "operator": operator, "value": value}


def _value(bound: float, kind: Kind) -> float | str:
    return pd.Timestamp(bound, unit="s").isoformat() if kind == "datetime" else bound


def _bound(value: float, kind: Kind) -> str:
    if kind == "datetime":
        moment = pd.Timestamp(value, unit="s")
        return str(moment.date() if moment == moment.normalize() else moment)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    few = f"{value:.6g}"
    return few if float(few) == value else repr(float(value))


def shortened(text: Any, width: int | None = None) -> str:
    """Return a text on one line; where it is wider, its middle is left out.

    Examples
    --------
    >>> shortened("a long name of a column", 11)
    'a lon…olumn'
    """
    line = " ".join(str(text).split())
    if width is None or len(line) <= width:
        return line
    return f"{line[: width // 2]}…{line[len(line) - (width - 1) // 2 :]}"
