"""Packages that are used where they are installed, and how to install them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from falcon_discover.exceptions import InputError


def is_installed(module: str) -> bool:
    """Return whether a module can be found, without importing it."""
    return find_spec(module) is not None


def find(module: str) -> Any:
    """Return a module, or None if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


def require(module: str, *, extra: str, what: str) -> Any:
    """Return a module, or say what needs it and how to install it: by an extra of this package.

    Examples
    --------
    >>> require("no_such_module", extra="plots", what="drawing")
    Traceback (most recent call last):
    falcon_discover.exceptions.InputError: drawing needs a package that is not installed: \
pip install 'falcon-discover[plots]'.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(hint(what, extra)) from error


def hint(what: str, extra: str | None) -> str:
    """Return that something needs a package, and how to install it."""
    return f"{what} needs a package that is not installed: pip install 'falcon-discover[{extra}]'."
