"""Whether the model is calibrated at all."""

from __future__ import annotations

from typing import Any

from falcon_discover.plots.charts import confidence_chart, reliability_chart
from falcon_discover.report.page import Figure, Grid, Section, Summary, column
from falcon_discover.report.svg import svg
from falcon_discover.runtime.format import count, interval, number, share
from falcon_discover.runtime.words import level


def calibrated_section(summary: Summary) -> Section:
    """Return whether the model is calibrated at all."""
    curves, tau, sure = summary["curves"], summary["settings"]["tau"], summary["eligible"]
    figures = []
    lead = []
    if curves["reliability"]:
        lead.append(_calibration_words(summary))
        bins = curves["reliability"]
        last = bins[-1]
        words = (
            f"In the surest bin, {share(last['from'], 0)} to {share(last['to'], 0)}, the model is "
            f"{share(last['confidence'])} sure on average and right in {share(last['accuracy'])} "
            f"({interval(last['low'], last['high'])}) of {count(last['rows'])} cases."
        )
        grid = Grid.of(
            "Right predictions by confidence",
            {
                "confidence": [f"{share(b['from'], 0)} to {share(b['to'], 0)}" for b in bins],
                "rows": column(bins, count, "rows"),
                "mean confidence": column(bins, share, "confidence"),
                "right": column(bins, share, "accuracy"),
                "95 % interval": column(bins, interval, "low", "high"),
            },
        )
        chart = svg(reliability_chart(bins), "reliability", words)
        figures.append(Figure("reliability", "As sure as right?", words, chart, grid))
    bins = curves["confidence"]
    words = (
        f"{count(sure['rows'])} of {count(summary['data']['audited'])} predictions are at least "
        f"{level(tau)} sure; only they can be confident errors."
    )
    labelled = "wrong" in bins[0]
    grid = Grid.of(
        "Predictions by confidence",
        {
            "confidence": [f"{share(b['from'])} to {share(b['to'])}" for b in bins],
            "rows": column(bins, count, "rows"),
            **({"wrong": column(bins, count, "wrong")} if labelled else {}),
            "eligible": [_eligible(b, tau) for b in bins],
        },
    )
    chart = svg(confidence_chart(bins, tau), "confidence", words)
    figures.append(Figure("confidence", "How sure it is", words, chart, grid))
    title = "Is the model calibrated at all"
    return Section("calibrated", title, "Calibrated?", lead, figures=figures)


def _eligible(line: dict[str, Any], tau: float | dict[str, float]) -> str:
    if not line["eligible"]:
        return "no"
    highest = max(tau.values()) if isinstance(tau, dict) else tau
    return "yes" if line["from"] >= highest else "some classes"


def _calibration_words(summary: Summary) -> str:
    sure, model = summary["eligible"], summary["evaluation"]["model"]
    tau = summary["settings"]["tau"]
    head = (
        f"The model is right in {share(model['accuracy'])} of all cases; its AUROC is "
        f"{number(model['auroc'])}, its expected calibration error {number(model['ece'])}."
    )
    if not sure["rows"]:
        return head
    return (
        f"{head} Where it is at least {level(tau)} sure, its own confidence promises "
        f"{sure['promised_errors']:,.0f} errors; there were {count(sure['errors'])}."
    )
