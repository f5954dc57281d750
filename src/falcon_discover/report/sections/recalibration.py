"""Calibration before and after."""

from __future__ import annotations

from falcon_discover.evaluation.curves.recalibration import CAUTIOUS
from falcon_discover.plots.charts import calibration_chart
from falcon_discover.report.page import Figure, Grid, Section, Summary, column
from falcon_discover.report.svg import svg
from falcon_discover.runtime.format import amount, count, interval, number, share
from falcon_discover.runtime.words import level

METHODS = {CAUTIOUS: "discrepancy, caution auto"}


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
