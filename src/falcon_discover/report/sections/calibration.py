"""Whether the model's confidence is accurate, and what recalibration changes."""

from __future__ import annotations

from typing import Any

from falcon_discover.evaluation.recalibration import CAUTIOUS
from falcon_discover.plots.charts import calibration_chart, confidence_chart, reliability_chart
from falcon_discover.report.labels import FIGURES
from falcon_discover.report.page import Figure, Grid, Section, Summary, column
from falcon_discover.report.sections.headline import about
from falcon_discover.report.svg import svg
from falcon_discover.report.text import Said, say
from falcon_discover.runtime.format import amount, count, interval, number, rate_words, share
from falcon_discover.runtime.words import level

METHODS = {CAUTIOUS: "discrepancy, caution auto"}
# A change of the log loss by less than this share is called little.
NOTABLE_CHANGE = 0.02


def calibrated_section(summary: Summary) -> Section:
    """Return whether the model's confidence is accurate."""
    curves, tau, sure = summary["curves"], summary["settings"]["tau"], summary["eligible"]
    figures = []
    lead: list[str] = []
    if curves["reliability"]:
        lead += _calibration_words(summary)
        bins = curves["reliability"]
        last = bins[-1]
        words = say(
            "calibrated.reliability",
            low=share(last["from"], 0),
            high=share(last["to"], 0),
            sure=share(last["confidence"]),
            right=share(last["accuracy"]),
            interval=interval(last["low"], last["high"]),
            rows=count(last["rows"]),
        )
        grid = Grid.named(
            "reliability",
            {
                "confidence": [f"{share(b['from'], 0)} to {share(b['to'], 0)}" for b in bins],
                "rows": column(bins, count, "rows"),
                "mean confidence": column(bins, share, "confidence"),
                "right": column(bins, share, "accuracy"),
                "95% interval": column(bins, interval, "low", "high"),
            },
        )
        chart = svg(reliability_chart(bins), "reliability", words)
        figures.append(Figure("reliability", FIGURES["reliability"], words, chart, grid))
    bins = curves["confidence"]
    words = say(
        "calibrated.confidence",
        rows=count(sure["rows"]),
        audited=count(summary["data"]["audited"]),
        level=level(tau),
    )
    labelled = "wrong" in bins[0]
    grid = Grid.named(
        "confidence",
        {
            "confidence": [f"{share(b['from'])} to {share(b['to'])}" for b in bins],
            "rows": column(bins, count, "rows"),
            **({"wrong": column(bins, count, "wrong")} if labelled else {}),
            "confident": [_eligible(b, tau) for b in bins],
        },
    )
    chart = svg(confidence_chart(bins, tau), "confidence", words)
    figures.append(Figure("confidence", FIGURES["confidence"], words, chart, grid))
    return Section.named("calibrated", lead, figures=figures)


def _eligible(line: dict[str, Any], tau: float | dict[str, float]) -> str:
    if not line["eligible"]:
        return "no"
    highest = max(tau.values()) if isinstance(tau, dict) else tau
    return "yes" if line["from"] >= highest else "some classes"


def _calibration_words(summary: Summary) -> list[Said]:
    sure, model = summary["eligible"], summary["evaluation"]["model"]
    said = [
        say(
            "calibrated.model",
            accuracy=share(model["accuracy"]),
            auroc=number(model["auroc"]),
            ece=number(model["ece"]),
        )
    ]
    if sure["rows"]:
        figures = {"expected": about(sure["promised_errors"]), "errors": count(sure["errors"])}
        said.append(say("calibrated.confident", level=level(summary["settings"]["tau"]), **figures))
    return said


def recalibration_section(summary: Summary) -> Section:
    """Return calibration before and after."""
    found = summary["calibration"]
    if found is None:
        return Section.named("recalibration", [summary["left_out"]["calibration"]])
    methods = found["methods"]
    drawn = [m for m in methods if m["method"] != CAUTIOUS]
    before, after = drawn[0], drawn[-1]
    words = say(
        "recalibration.words",
        confident=count(before["confident"]),
        errors=amount(before["errors_at_coverage"]),
        errors_after=amount(after["errors_at_coverage"]),
    )
    grid = Grid.named(
        "recalibration",
        {
            "method": [METHODS.get(m["method"], m["method"]) for m in methods],
            "log loss": column(methods, lambda v: number(v, 4), "nll"),
            "Brier score": column(methods, lambda v: number(v, 4), "brier"),
            "calibration error": column(methods, lambda v: number(v, 4), "ece"),
            "AUROC": column(methods, number, "auroc"),
            "accuracy": column(methods, share, "accuracy"),
            "confident": column(methods, count, "confident"),
            "confident errors": column(methods, count, "confident_errors"),
            "rate and 95% interval": column(methods, rate_words, "rate", "low", "high"),
            "errors at equal coverage": column(methods, amount, "errors_at_coverage"),
        },
    )
    chart = svg(calibration_chart(drawn), "change", words)
    figure = Figure("change", FIGURES["change"], words, chart, grid)
    lead: list[str] = [_change(before, after), found["words"]]
    points: list[str] = [say("recalibration.coverage"), say("recalibration.caution")]
    return Section.named("recalibration", lead, figures=[figure], points=points)


def _change(before: dict[str, Any], after: dict[str, Any]) -> Said:
    """Return in a sentence whether recalibration would help."""
    gain = 1 - after["nll"] / before["nll"] if before["nll"] else 0.0
    change = "little" if abs(gain) < NOTABLE_CHANGE else "better" if gain > 0 else "worse"
    return say(
        f"recalibration.{change}",
        before=number(before["nll"]),
        after=number(after["nll"]),
        ece=number(before["ece"]),
        ece_after=number(after["ece"]),
    )
