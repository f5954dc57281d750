"""Options that may be given for each class: columns of probabilities, and tau."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy.typing as npt

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.records import scalar


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
            raise InputError(f"--tau is {text!r}: write class=0.9,other=0.8, each class once.")
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


def in_class_order(columns: Sequence[str], classes: npt.NDArray[Any]) -> list[str]:
    """Return columns that are called by their class, in the order of the classes.

    They may all begin alike: `p_a`, `p_b`, `p_c`.

    Examples
    --------
    >>> import numpy as np
    >>> in_class_order(["p_b", "p_a"], np.array(["a", "b"]))
    ['p_a', 'p_b']
    """
    names = [str(scalar(label)) for label in classes]
    prefixes = {column.removesuffix(name) for column in columns for name in names}
    for prefix in sorted(prefixes, key=len):
        ordered = [f"{prefix}{name}" for name in names]
        if sorted(ordered) == sorted(columns):
            return ordered
    raise InputError(
        f"--proba names {', '.join(columns)}, and the classes are {', '.join(names)}: name one "
        f"column for each class, called by it, such as {','.join(f'p_{name}' for name in names)}."
    )
