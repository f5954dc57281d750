"""How much review is enough: what a budget finds and what it leaves."""

from __future__ import annotations

from typing import Any

import pandas as pd

from falcon_discover.plots.style import (
    COLOURS,
    EVENT_COLOUR,
    LINES,
    MUTED_COLOUR,
    canvas,
    percent_axis,
    ranker_name,
)


def capture_plot(capture: pd.DataFrame, band: pd.DataFrame, axes: Any = None) -> Any:
    """Draw the share of confident errors found against the budget, and return the axes.

    Parameters
    ----------
    capture : as `curves.capture_curve` returns it; its first ranker is the one in question, drawn
        with its interval
    band : as `curves.random_band` returns it
    """
    if axes is None:
        _, axes = canvas(layout="constrained")
    axes.fill_between(
        band["budget"], band["low"], band["high"], color=MUTED_COLOUR, alpha=0.25, linewidth=0,
        label="random review, 95 %",
    )  # fmt: skip
    names = list(dict.fromkeys(capture["ranker"]))
    # The ranker in question is drawn last, on top of the others.
    for name in reversed(names):
        line = capture[capture["ranker"] == name]
        own = name == names[0]
        dash, marker = ("-", "o") if own else LINES.get(name, ("--", "x"))
        colour = EVENT_COLOUR if own else COLOURS.get(name, COLOURS["failure"])
        axes.plot(
            line["budget"], line["capture"], dash, color=colour, marker=marker, markevery=6,
            markersize=4, linewidth=2.0 if own else 1.3, label=ranker_name(name),
        )  # fmt: skip
        if own:
            axes.fill_between(
                line["budget"], line["low"], line["high"], color=colour, alpha=0.15, linewidth=0
            )
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], fontsize=7, frameon=False, loc="lower right")
    axes.set(
        xlabel="share of the rows reviewed", ylabel="confident errors found", xlim=(0, 1),
        ylim=(0, 1.02),
    )  # fmt: skip
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    return axes


def guarantee_plot(missed: pd.DataFrame, budget: float | None = None, axes: Any = None) -> Any:
    """Draw the rate of confident errors left unread, with its upper band; return the axes.

    The band holds for all budgets at once, so a budget may be read off it.

    Parameters
    ----------
    missed : as `curves.missed_curve` returns it with `simultaneous=True`
    budget : a budget to mark
    """
    if axes is None:
        _, axes = canvas(layout="constrained")
    shown = missed[missed["unreviewed"] > 0]
    axes.plot(
        shown["budget"], shown["band"], "--", color=EVENT_COLOUR, marker="v", markevery=6,
        markersize=4, label="95% upper band, any budget",
    )  # fmt: skip
    axes.plot(
        shown["budget"], shown["rate"], "-", color="black", marker="o", markevery=6,
        markersize=4, label="observed",
    )  # fmt: skip
    if budget is not None:
        axes.axvline(budget, color=MUTED_COLOUR, linestyle=":", label=f"budget {budget:.0%}")
    # Beyond the last budgets hardly a row is left, and no bound means anything.
    top = 1.1 * float(shown["band"].iloc[0]) if len(shown) else 1.0
    axes.set(
        xlabel="share of the rows reviewed", ylabel="confident errors among unread rows",
        xlim=(0, 1), ylim=(0, top),
    )  # fmt: skip
    axes.legend(fontsize=7, frameon=False, loc="upper right")
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis, None)
    return axes
