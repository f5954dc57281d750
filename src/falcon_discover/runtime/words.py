"""Numbers as people say them."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any


def percent(share: float) -> str:
    """Return a share as a percentage that never rounds up to certainty.

    Examples
    --------
    >>> percent(0.97), percent(0.9996), percent(1.0)
    ('97 %', '99.9 %', '100 %')
    """
    if share >= 1.0:
        return "100 %"
    if share < 0.99:
        return f"{100 * share:.0f} %"
    return f"{math.floor(1000 * share) / 10:g} %"


def is_count(budget: Any) -> bool:
    """Return whether a review budget is a number of rows, not a share of them."""
    return isinstance(budget, Integral) and not isinstance(budget, bool)


def budget_words(budget: float) -> str:
    """Return a review budget as people say it: a share, or a number of rows.

    Examples
    --------
    >>> budget_words(0.2), budget_words(50), budget_words(1)
    ('20 %', '50 rows', '1 row')
    """
    if not is_count(budget):
        return percent(budget)
    return f"{budget:,} row{'' if budget == 1 else 's'}"


def level(tau: float | tuple[float, ...]) -> str:
    """Return a threshold of confidence, which may differ by class.

    Examples
    --------
    >>> level(0.9), level((0.95, 0.8))
    ('90 %', '80 % to 95 % (by class)')
    """
    if isinstance(tau, tuple):
        return f"{percent(min(tau))} to {percent(max(tau))} (by class)"
    return percent(tau)


def rate(share: float) -> str:
    """Return a rate that may be small, with two digits that count.

    Examples
    --------
    >>> rate(0.00213), rate(0.456), rate(1.0)
    ('0.21 %', '46 %', '100 %')
    """
    return "100 %" if share >= 0.995 else f"{100 * share:.2g} %"


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
    if value == int(value):
        return f"{int(value):,}"
    return f"about {value:,.0f}" if value >= 9.95 else f"about {value:.1f}"


def odds(risk: float) -> str:
    """Return a probability as people say it.

    Examples
    --------
    >>> odds(0.11), odds(0.45), odds(0.8), odds(0.00012)
    ('1 in 9', '1 in 2', '4 in 5', '1 in 8,333')
    """
    if risk >= 0.6:
        best = min((2 / 3, 3 / 4, 4 / 5, 9 / 10, 19 / 20), key=lambda share: abs(share - risk))
        whole = round(1 / (1 - best))
        return f"{whole - 1} in {whole}"
    return f"1 in {round(1 / risk):,}"
