"""How sure the model is, and whether it is right to be."""

from __future__ import annotations

from typing import Any

import pandas as pd

from falcon_discover.plots.style import (
    BASE_COLOUR,
    EVENT_COLOUR,
    MUTED_COLOUR,
    OTHER_COLOUR,
    canvas,
    percent_axis,
)


def reliability_plot(reliability: pd.DataFrame, axes: Any = None) -> Any:
    """Draw the share of right predictions against the confidence, and return the axes.

    Parameters
    ----------
    reliability : as `curves.reliability` returns it
    """
    if axes is None:
        _, axes = canvas(4.2, 3.8, layout="constrained")
    axes.plot([0.5, 1], [0.5, 1], "--", color=MUTED_COLOUR, label="as sure as right")
    reach = [
        reliability["accuracy"] - reliability["low"],
        reliability["high"] - reliability["accuracy"],
    ]
    axes.errorbar(
        reliability["confidence"], reliability["accuracy"], reach, fmt="o-", color=BASE_COLOUR,
        markersize=4, capsize=2, linewidth=1.3, label="the model, 95 % interval",
    )  # fmt: skip
    axes.set(xlabel="mean confidence", ylabel="share of right predictions", xlim=(0.48, 1.02))
    axes.legend(fontsize=7, frameon=False, loc="upper left")
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    return axes


def confidence_plot(histogram: pd.DataFrame, tau: float, axes: Any = None) -> Any:
    """Draw the rows by confidence, the eligible part marked, and return the axes.

    Parameters
    ----------
    histogram : as `curves.confidence_histogram` returns it
    tau : the threshold
    """
    if axes is None:
        _, axes = canvas(layout="constrained")
    left, width = histogram["from"], histogram["to"] - histogram["from"]
    axes.bar(
        left, histogram["rows"], width, align="edge", color=OTHER_COLOUR, edgecolor="white",
        linewidth=0.5, label="all predictions",
    )  # fmt: skip
    if "wrong" in histogram:
        axes.bar(
            left, histogram["wrong"], width, align="edge", color=EVENT_COLOUR, edgecolor="white",
            linewidth=0.5, hatch="////", label="wrong ones",
        )  # fmt: skip
    axes.axvspan(tau, 1.0, color=MUTED_COLOUR, alpha=0.15, linewidth=0)
    axes.axvline(tau, color="black", linestyle="--", linewidth=1, label=f"eligible from {tau:.0%}")
    axes.set(xlabel="confidence", ylabel="rows", xlim=(0.5, 1.0), yscale="log")
    axes.legend(fontsize=7, frameon=False, loc="upper left")
    percent_axis(axes.xaxis)
    return axes
