"""Whether this runs in a notebook, where output is shown cell by cell."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def notebook_display() -> Any:
    """Return the display module of the notebook that this runs in; None outside of one.

    Examples
    --------
    >>> notebook_display() is None
    True
    """
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    # A shell in a terminal has no kernel.
    if getattr(running, "kernel", None) is None:
        return None
    return import_module("IPython.display")
