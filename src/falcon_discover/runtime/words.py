"""Numbers as people say them, and what they may have meant by a name that is not there."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any

# More names than this are not read.
MAX_NAMES = 12


def percent(share: float) -> str:
    """Return a share as a percentage that never rounds up to certainty.

    Examples
    --------
    >>> percent(0.97), percent(0.9996), percent(1.0)
    ('97%', '99.9%', '100%')
    """
    if share >= 1.0:
        return "100%"
    if share < 0.99:
        return f"{100 * share:.0f}%"
    return f"{math.floor(1000 * share) / 10:g}%"


def is_count(budget: Any) -> bool:
    """Return whether a review budget is a number of rows, not a share of them."""
    return isinstance(budget, Integral) and not isinstance(budget, bool)


def budget_words(budget: float) -> str:
    """Return a review budget as people say it: a share, or a number of rows.

    Examples
    --------
    >>> budget_words(0.2), budget_words(50), budget_words(1)
    ('20%', '50 rows', '1 row')
    """
    if not is_count(budget):
        return percent(budget)
    return f"{budget:,} row{'' if budget == 1 else 's'}"


def level(tau: float | Collection[float] | Mapping[str, float]) -> str:
    """Return a threshold of confidence, which may differ by class.

    Examples
    --------
    >>> level(0.9), level((0.95, 0.8)), level({"no": 0.95, "yes": 0.8})
    ('90%', '80% to 95% (by class)', '80% to 95% (by class)')
    """
    if isinstance(tau, float | int):
        return percent(tau)
    levels = tau.values() if isinstance(tau, Mapping) else tau
    return f"{percent(min(levels))} to {percent(max(levels))} (by class)"


def rate(share: float) -> str:
    """Return a rate that may be small, with two digits that count.

    Examples
    --------
    >>> rate(0.00213), rate(0.456), rate(1.0)
    ('0.21%', '46%', '100%')
    """
    return "100%" if share >= 0.995 else f"{100 * share:.2g}%"


def amount(count: float) -> str:
    """Return a count that may be an expected one, for a table.

    Examples
    --------
    >>> amount(1204), amount(110.94)
    ('1,204', '110.9')
    """
    return f"{count:,.1f}".removesuffix(".0")


def counted(value: float) -> str:
    """Return a count that may be an expected one, for a sentence.

    Examples
    --------
    >>> counted(12), counted(12.4), counted(1234.0), counted(0.3)
    ('12', 'about 12', '1,234', 'about 0.3')
    """
    return f"{int(value):,}" if value == int(value) else f"about {rounded(value)}"


def rounded(value: float) -> str:
    """Return an expected count, rounded as far as it can be meant.

    Examples
    --------
    >>> rounded(123.7), rounded(1234.0), rounded(0.34)
    ('124', '1,234', '0.3')
    """
    return f"{value:,.0f}" if value >= 9.95 or value == int(value) else f"{value:.1f}"


def capital(text: str) -> str:
    """Return a text that begins a sentence.

    Examples
    --------
    >>> capital("about 12 of them"), capital("12 of them")
    ('About 12 of them', '12 of them')
    """
    return f"{text[:1].upper()}{text[1:]}"


def number_of(count: int, what: str) -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> number_of(1, "part"), number_of(1200, "such row")
    ('1 part', '1,200 such rows')
    """
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def joined(parts: Sequence[str], word: str = "and") -> str:
    """Return parts of a sentence in a row, with one "and".

    Examples
    --------
    >>> joined(["a", "b", "c"]), joined(["a", "b"]), joined(["a"]), joined(["a", "b"], "or")
    ('a, b, and c', 'a and b', 'a', 'a or b')
    """
    if len(parts) < 3:
        return f" {word} ".join(parts)
    return f"{', '.join(parts[:-1])}, {word} {parts[-1]}"


def odds(risk: float) -> str:
    """Return a probability as people say it.

    Examples
    --------
    >>> odds(0.11), odds(0.45), odds(0.8), odds(0.00012)
    ('1 in 9', '1 in 2', '4 in 5', '1 in 8,300')
    """
    if risk >= 0.6:
        best = min((2 / 3, 3 / 4, 4 / 5, 9 / 10, 19 / 20), key=lambda share: abs(share - risk))
        whole = round(1 / (1 - best))
        return f"{whole - 1} in {whole}"
    # Beyond 100, two digits are as much as can be meant.
    return f"1 in {float(f'{1 / risk:.2g}') if risk < 0.01 else round(1 / risk):,.0f}"


def no_column(column: object, columns: Iterable[object], where: str) -> str:
    """Return in words that a column is not there, which one may be meant, and which there are.

    Examples
    --------
    >>> no_column("targt", ["age", "target"], "data.csv")
    "the column 'targt', which data.csv does not have. Did you mean 'target'? Its columns: age, target."
    """  # noqa: E501  # a sentence as it is printed
    names = [str(name) for name in columns]
    return (
        f"the column {column!r}, which {where} does not have.{meant(column, names)} "
        f"Its columns: {listed(names)}."
    )


def meant(name: object, names: Iterable[object]) -> str:
    """Return the question whether a similar name is meant; nothing where there is none.

    Examples
    --------
    >>> meant("Lod", ["age", "load"]), meant("zzz", ["age", "load"])
    (" Did you mean 'load'?", '')
    """
    near = {str(known).strip().lower(): known for known in names}
    close = get_close_matches(str(name).strip().lower(), near, n=1)
    return f" Did you mean {near[close[0]]!r}?" if close else ""


def shortened(text: object, most: int = 200) -> str:
    """Return a text on one line, cut where it is long, for a sentence that quotes it.

    Examples
    --------
    >>> shortened("x" * 9, most=5)
    'xxxx…'
    """
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def listed(names: list[str]) -> str:
    """Return names in a row, the first ones where there are many.

    Examples
    --------
    >>> listed([f"x{i}" for i in range(14)])
    'x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 and 2 more'
    """
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
