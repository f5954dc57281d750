"""How every figure looks, and how it becomes a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from falcon_discover.runtime.optional import require

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
BASE_COLOUR, MUTED_COLOUR = COLOURS["learned"], "#767676"
# Lines differ in dash and marker too: colour is never the only cue.
LINES = {
    "gated_confidence": ("-", "s"),
    "s_disc": ("--", "^"),
    "s_stab": ("-.", "v"),
    "confidence": (":", "D"),
}
RANKER_NAMES = {
    "auto": "auto (learned risk)",
    "gated_confidence": "gated confidence",
    "s_disc": "discrepancy (paper)",
    "s_stab": "stability (paper)",
    "confidence": "most confident first",
    "random": "random",
}


def ranker_name(name: str) -> str:
    """Return a ranker's name in words.

    Examples
    --------
    >>> ranker_name("s_stab"), ranker_name("mine")
    ('stability (paper)', 'mine')
    """
    return RANKER_NAMES.get(name, name)


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say how to install it."""
    return require("matplotlib.pyplot", extra="plots", what="a figure")


def canvas(width: float = 5.2, height: float = 3.6, layout: Any = None) -> tuple[Any, Any]:
    """Return an empty figure, not shown by itself, and its axes.

    Parameters
    ----------
    layout : "constrained" makes room for long labels
    """
    pyplot()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def percent_axis(axis: Any, decimals: int | None = 0) -> None:
    """Label the ticks of an axis as percentages."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0, decimals=decimals, symbol=" %"))


def save(figure: Any, path: Path) -> Path:
    """Write a figure without a date in the file: the same numbers give the same bytes."""
    figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
    return path
