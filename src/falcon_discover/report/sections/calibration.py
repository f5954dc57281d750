"""Whether the model is calibrated at all, and what recalibration changes."""

from __future__ import annotations

from typing import Any

from falcon_discover.evaluation.recalibration import CAUTIOUS
from falcon_discover.plots.charts import calibration_chart, confidence_chart, reliability_chart
from falcon_discover.report.page import Figure, Grid, Section, Summary, column
from falcon_discover.report.svg import svg
from falcon_discover.runtime.format import amount, count, interval, number, share
from falcon_discover.runtime.words import level

METHODS = {CAUTIOUS: "discrepancy, caution auto"}


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


def recalibration_section(summary: Summary) -> Section:
    """Return calibration before and after."""
    title = "Calibration before and after"
    found = summary["calibration"]
    if found is None:
        return Section(
            "recalibration", title, "Before and after", [summary["left_out"]["calibration"]]
        )
    methods = found["methods"]
    drawn = [m for m in methods if m["method"] != CAUTIOUS]
    before, after = drawn[0], drawn[-1]
    words = (
        f"Log loss {number(before['nll'], 4)} before, {number(after['nll'], 4)} after the "
        "calibration that uses the evidence (discrepancy). Before, "
        f"{count(before['confident'])} predictions are at least {level(found['tau'])} sure; "
        f"among as many of the surest, {amount(before['errors_at_coverage'])} are wrong before, "
        f"{amount(after['errors_at_coverage'])} after."
    )
    price = (
        "Equal coverage: errors among as many of the surest predictions as are confident before; "
        "rows of equal confidence count by their share. Confident errors alone do not compare "
        "methods that are sure of different numbers of rows. Caution makes confident errors fewer "
        "by making fewer predictions confident, at the price of worse calibration."
    )
    grid = Grid.of(
        "Calibration before and after",
        {
            "method": [METHODS.get(m["method"], m["method"]) for m in methods],
            "log loss": column(methods, lambda v: number(v, 4), "nll"),
            "Brier score": column(methods, lambda v: number(v, 4), "brier"),
            "ECE": column(methods, lambda v: number(v, 4), "ece"),
            "AUROC": column(methods, number, "auroc"),
            "accuracy": column(methods, share, "accuracy"),
            "confident": column(methods, count, "confident"),
            "confident errors": column(methods, count, "confident_errors"),
            "rate and 95 % interval": [
                f"{share(m['rate'])} ({interval(m['low'], m['high'])})" for m in methods
            ],
            "errors at equal coverage": column(methods, amount, "errors_at_coverage"),
        },
    )
    chart = svg(calibration_chart(drawn, found["tau"]), "change", words)
    figure = Figure("change", "Relative to before", words, chart, grid)
    lead, short = [found["words"]], "Before and after"
    return Section("recalibration", title, short, lead, figures=[figure], points=[price])
