"""Confident errors over time."""

from __future__ import annotations

from falcon_discover.plots.charts import period_chart
from falcon_discover.report.page import Figure, Grid, Section, Summary, column
from falcon_discover.report.svg import svg
from falcon_discover.runtime.format import count, interval, share, text


def periods_section(summary: Summary) -> list[Section]:
    """Return the rate of confident errors by period, where rows have a time."""
    found = summary.get("periods")
    if found is None:
        return []
    periods = found["periods"]
    grid = Grid.named(
        "periods",
        {
            "period": column(periods, text, "period"),
            "rows": column(periods, count, "rows"),
            "confident": column(periods, count, "eligible"),
            "wrong": column(periods, count, "events"),
            "rate": column(periods, share, "rate"),
            "95% interval": column(periods, interval, "low", "high"),
        },
    )
    chart = period_chart(periods)
    figure = Figure(
        "periods", chart.title, found["words"], svg(chart, "periods", found["words"]), grid
    )
    return [Section.named("periods", [], figures=[figure])]
