"""Options that may be given for each class: columns of probabilities, and tau."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from falcon_discover.exceptions import InputError


def level(text: str) -> float | dict[str, float]:
    """Return the tau that an option gives: one number, or one for each class.

    Examples
    --------
    >>> level("0.9"), level("yes=0.8, no=0.95")
    (0.9, {'yes': 0.8, 'no': 0.95})
    """
    if "=" not in text:
        return _number(text, text)
    levels: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.rpartition("=")
        name = name.strip()
        if not name:
            raise InputError(
                f"--tau is {text!r}: write one number per class, such as class=0.9,other=0.8."
            )
        if name in levels:
            raise InputError(f"--tau gives the class {name!r} twice: give each one number.")
        levels[name] = _number(value, text)
    return levels


def _number(value: str, text: str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise InputError(
            f"--tau is {text!r}: give a confidence such as 0.9, or class=0.9,other=0.8."
        ) from error


def named_columns(given: Sequence[str], columns: Iterable[object]) -> tuple[str, ...]:
    """Return the columns that options name, one each or several with commas between them.

    Examples
    --------
    >>> named_columns(["p_a,p_b", "p_c"], ["p_a", "p_b", "p_c"])
    ('p_a', 'p_b', 'p_c')
    """
    known = {str(column) for column in columns}
    found: list[str] = []
    for text in given:
        found += [text] if text in known else [part.strip() for part in text.split(",")]
    for column in found:
        if found.count(column) > 1:
            raise InputError(f"--proba names the column {column!r} twice: name each once.")
    return tuple(found)
