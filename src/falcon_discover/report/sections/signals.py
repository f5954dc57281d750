"""What each signal earns."""

from __future__ import annotations

from typing import Any

from falcon_discover.plots.charts import contribution_chart, signal_chart
from falcon_discover.report.page import Figure, Grid, Section, Summary, column
from falcon_discover.report.svg import svg
from falcon_discover.runtime.format import between, number, undefined


def signals_section(summary: Summary) -> Section:
    """Return what each signal earns."""
    title = "What each signal earns"
    signals, earned = summary["curves"]["signals"], summary["contributions"]
    if not signals or all(undefined(s["auroc"]) for s in signals):
        reason = summary["left_out"].get("contributions", "There are too few confident errors.")
        return Section("signals", title, "Signals", [reason])
    best = signals[0]
    words = (
        "Eligible AUROC of each signal by itself: 1 puts all confident errors first, 0.5 is "
        f"chance. The strongest here: {best['meaning']} ({number(best['auroc'])}, 95 % interval "
        f"{between(best['low'], best['high'])})."
    )
    grid = Grid.of(
        "Each signal alone, among confident predictions",
        {
            "signal": column(signals, str, "meaning"),
            "family": column(signals, str, "family"),
            "eligible AUROC": column(signals, number, "auroc"),
            "95 % interval": column(signals, between, "low", "high"),
        },
    )
    chart = signal_chart(signals)
    figures = [Figure("signals", chart.title, words, svg(chart, "signals", words), grid)]
    lead = []
    points = []
    if earned is not None and earned["families"]:
        lead.append(earned["words"])
        figures.append(_contributions(earned))
    elif earned is not None:
        lead.append(earned["words"])
    elif "contributions" in summary["left_out"]:
        points.append(summary["left_out"]["contributions"])
    return Section("signals", title, "Signals", lead, figures=figures, points=points)


def _contributions(earned: dict[str, Any]) -> Figure:
    families = earned["families"]
    words = (
        "What the ranking loses in eligible AUROC when one family of signals is left out; where "
        "the interval includes 0 the others make up for it. The intervals hold together."
    )
    grid = Grid.of(
        "Loss without each family of signals",
        {
            "family": column(families, str, "family"),
            "what it is": column(families, str, "what"),
            "AUROC without": column(families, number, "auroc_without"),
            "loss": column(families, number, "loss"),
            "95 % interval": column(families, between, "low", "high"),
        },
    )
    chart = contribution_chart(families)
    return Figure("contributions", chart.title, words, svg(chart, "contributions", words), grid)
