"""How every figure looks, and how it becomes a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from falcon_discover.exceptions import InputError

# Okabe and Ito's colours, told apart by colour-blind readers too.
COLOURS = {
    "gated_confidence": "#000000",
    "learned": "#0072B2",
    "s_disc": "#56B4E9",
    "s_stab": "#009E73",
    "trustscore": "#D55E00",
    "failure": "#CC79A7",
    "confidence": "#E69F00",
}
EVENT_COLOUR, OTHER_COLOUR = COLOURS["trustscore"], COLOURS["s_disc"]


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say how to install it."""
    try:
        from matplotlib import pyplot as found
    except ImportError as error:
        raise InputError(
            "figures need a package that is not installed: pip install 'falcon-discover[plots]'."
        ) from error
    return found


def canvas(width: float = 5.2, height: float = 3.6) -> tuple[Any, Any]:
    """Return an empty figure, not shown by itself, and its axes."""
    pyplot()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Any, path: Path) -> Path:
    """Write a figure without a date in the file: the same numbers give the same bytes."""
    figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
    return path
