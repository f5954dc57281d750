"""Errors for input that is wrong, and warnings for input that is merely odd."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any


class InputError(ValueError):
    """The input cannot be used; the message says which part and what to do."""


def check_number(name: str, value: Any, accepts: Callable[[Any], bool], must: str) -> None:
    """Raise unless a parameter is a number that is accepted.

    Examples
    --------
    >>> check_number("tau", "0.9", lambda tau: 0.5 <= tau <= 1, "it lies between 0.5 and 1")
    Traceback (most recent call last):
    falcon_discover.exceptions.InputError: tau is '0.9': it lies between 0.5 and 1.
    """
    if not (_is_number(value) and accepts(value)):
        raise InputError(f"{name} is {_shown(value)}: {must}.")


def check_numbers(
    name: str, values: Any, accepts: Callable[[Any], bool], must: str, *, at_least: int = 1
) -> None:
    """Raise unless a parameter is a sequence of numbers that are all accepted."""
    is_sequence = hasattr(values, "__len__") and not isinstance(values, str)
    if not is_sequence or len(values) < at_least:
        raise InputError(f"{name} is {_shown(values)}: {must}.")
    for value in values:
        if not (_is_number(value) and accepts(value)):
            raise InputError(f"{name} is {_shown(values)}: {must}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    """Return a short value as it would be typed, and the type of any other."""
    if isinstance(value, bool | str | None):
        return f"{value!r}"
    if _is_number(value):
        return f"{value}"
    if isinstance(value, list | tuple) and all(isinstance(v, Real | str | None) for v in value):
        return f"{value!r}"
    return f"a {type(value).__name__}"


class DataWarning(UserWarning):
    """The input can be used, but part of it is ignored or may mislead."""
