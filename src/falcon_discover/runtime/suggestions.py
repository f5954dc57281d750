"""What a user may have meant by a name that is not there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

# More names than this are not read.
MAX_NAMES = 12


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


def listed(names: list[str]) -> str:
    """Return names in a row, the first ones where there are many.

    Examples
    --------
    >>> listed([f"x{i}" for i in range(14)])
    'x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 and 2 more'
    """
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
