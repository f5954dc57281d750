"""Numbers and texts as the report shows them; undefined figures say so."""

from __future__ import annotations

import math
import re
from typing import Any

from falcon_discover.runtime import words

UNDEFINED = "not defined"
# Longer values are cut: a report is not where a document is read.
MAX_TEXT = 160
# Names that differ only at their end are different names.
LONGEST_NAME = 100_000
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def undefined(value: Any) -> bool:
    """Return whether there is no figure to show."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def count(value: Any) -> str:
    """Return a whole number, or an expected one with one decimal.

    Examples
    --------
    >>> count(9769), count(12.4), count(None)
    ('9,769', '12.4', 'not defined')
    """
    if undefined(value):
        return UNDEFINED
    return f"{int(value):,}" if value == int(value) else f"{value:,.1f}"


def amount(value: Any) -> str:
    """Return a count that may be an expected one.

    Examples
    --------
    >>> amount(1204.0), amount(110.94), amount(None)
    ('1,204', '110.9', 'not defined')
    """
    return UNDEFINED if undefined(value) else words.amount(value)


def number(value: Any, digits: int = 3) -> str:
    """Return a number with a fixed count of decimals.

    Examples
    --------
    >>> number(0.82345), number(float("nan"))
    ('0.823', 'not defined')
    """
    return UNDEFINED if undefined(value) else f"{value:,.{digits}f}"


def share(value: Any, digits: int = 1) -> str:
    """Return a share as a percentage.

    Examples
    --------
    >>> share(0.0213), share(1.0)
    ('2.1%', '100.0%')
    """
    return UNDEFINED if undefined(value) else f"{100 * value:.{digits}f}%"


def interval(low: Any, high: Any, digits: int = 1) -> str:
    """Return an interval of shares.

    Examples
    --------
    >>> interval(0.017, 0.024)
    '1.7 to 2.4%'
    """
    if undefined(low) or undefined(high):
        return UNDEFINED
    return f"{100 * low:.{digits}f} to {100 * high:.{digits}f}%"


def rate_words(value: Any, low: Any, high: Any) -> str:
    """Return a rate with its interval.

    Examples
    --------
    >>> rate_words(0.02, 0.017, 0.024), rate_words(None, None, None)
    ('2.0% (1.7 to 2.4%)', 'not defined')
    """
    return UNDEFINED if undefined(value) else f"{share(value)} ({interval(low, high)})"


def between(low: Any, high: Any, digits: int = 3) -> str:
    """Return an interval of plain numbers.

    Examples
    --------
    >>> between(0.79, 0.86)
    '0.790 to 0.860'
    """
    if undefined(low) or undefined(high):
        return UNDEFINED
    return f"{low:.{digits}f} to {high:.{digits}f}"


def text(value: Any, limit: int = MAX_TEXT) -> str:
    r"""Return any value as one line of printable text, cut where it is long.

    Examples
    --------
    >>> text("two\nlines"), text(3.0), text(None), text("x" * 9, limit=5)
    ('two lines', '3', 'missing', 'xxxx…')
    """
    if undefined(value):
        return "missing"
    if isinstance(value, float):
        whole = math.isfinite(value) and value == int(value) and abs(value) < 1e15
        return f"{int(value):,}" if whole else f"{value:.6g}"
    raw = str(value)[: 2 * limit].encode("utf-8", "replace").decode("utf-8")
    line = " ".join(_CONTROL.sub(" ", raw).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def identifier(value: Any) -> str:
    """Return what identifies a row: a number in full, with no separators, and a text uncut.

    Examples
    --------
    >>> identifier(9007199254741048.0), identifier(1234636), identifier("a-7"), identifier(1.5)
    ('9007199254741048', '1234636', 'a-7', '1.5')
    """
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value == int(value) else str(value)
    return text(value, LONGEST_NAME)
