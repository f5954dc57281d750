"""What signals tell, alone and together."""

from __future__ import annotations

from typing import Any

import pandas as pd

from falcon_discover.evaluation.contributions import Contributions
from falcon_discover.plots.style import BASE_COLOUR, MUTED_COLOUR, canvas


def signal_plot(signals: pd.DataFrame, axes: Any = None) -> Any:
    """Draw the eligible AUROC of each signal alone with its interval, and return the axes.

    Parameters
    ----------
    signals : as `curves.signal_strength` returns it
    """
    return _intervals(
        signals["meaning"], signals["auroc"], signals["low"], signals["high"],
        "eligible AUROC of the signal alone", 0.5, axes,
    )  # fmt: skip


def contribution_plot(contributions: Contributions, axes: Any = None) -> Any:
    """Draw what the ranking loses without each family of signals, and return the axes."""
    families = contributions.families
    return _intervals(
        families["family"], families["loss"], families["low"], families["high"],
        "loss in eligible AUROC without it", 0.0, axes,
    )  # fmt: skip


def _intervals(
    names: pd.Series,
    values: pd.Series,
    low: pd.Series,
    high: pd.Series,
    what: str,
    nothing: float,
    axes: Any,
) -> Any:
    if axes is None:
        _, axes = canvas(5.6, 0.9 + 0.24 * max(len(names), 1), layout="constrained")
    places = list(range(len(names)))[::-1]
    reach = [(values - low).to_numpy(dtype=float), (high - values).to_numpy(dtype=float)]
    axes.axvline(nothing, color=MUTED_COLOUR, linestyle="--", linewidth=1)
    axes.errorbar(
        values.to_numpy(dtype=float), places, xerr=reach, fmt="o", color=BASE_COLOUR, capsize=2,
        markersize=4,
    )  # fmt: skip
    axes.set_yticks(places, list(names), fontsize=7)
    axes.set(xlabel=what)
    return axes
