"""How useful each signal is."""

from __future__ import annotations

from typing import Any

from falcon_discover.plots.charts import contribution_chart, signal_chart
from falcon_discover.report.page import Figure, Grid, Section, Summary, column
from falcon_discover.report.svg import svg
from falcon_discover.report.text import say
from falcon_discover.runtime.format import between, number, undefined


def signals_section(summary: Summary) -> Section:
    """Return how useful each signal is."""
    signals, earned = summary["curves"]["signals"], summary["contributions"]
    if not signals or all(undefined(s["auroc"]) for s in signals):
        return Section.named("signals", [say("signals.few")])
    best = signals[0]
    words = say(
        "signals.words",
        meaning=best["meaning"],
        auroc=number(best["auroc"]),
        interval=between(best["low"], best["high"]),
    )
    grid = Grid.named(
        "signals",
        {
            "signal": column(signals, str, "meaning"),
            "family": column(signals, str, "family"),
            "AUROC": column(signals, number, "auroc"),
            "95% interval": column(signals, between, "low", "high"),
        },
    )
    chart = signal_chart(signals)
    figures = [Figure("signals", chart.title, words, svg(chart, "signals", words), grid)]
    lead: list[str] = []
    points: list[str] = []
    if earned is not None and earned["families"]:
        lead.append(earned["words"])
        figures.append(_contributions(earned))
    elif earned is not None:
        lead.append(earned["words"])
    elif "contributions" in summary["left_out"]:
        points.append(summary["left_out"]["contributions"])
    return Section.named("signals", lead, figures=figures, points=points)


def _contributions(earned: dict[str, Any]) -> Figure:
    families = earned["families"]
    words = say("contributions.words")
    grid = Grid.named(
        "contributions",
        {
            "family": column(families, str, "family"),
            "what it is": column(families, str, "what"),
            "AUROC without": column(families, number, "auroc_without"),
            "loss": column(families, number, "loss"),
            "95% interval": column(families, between, "low", "high"),
        },
    )
    chart = contribution_chart(families)
    return Figure("contributions", chart.title, words, svg(chart, "contributions", words), grid)
