"""The section of a report on the sides of confident errors: which class is missed."""

from __future__ import annotations

from typing import Any

from falcon_discover.report.page import Grid, Section, Summary, column
from falcon_discover.runtime.format import amount, count, interval, share, text
from falcon_discover.runtime.words import budget_words, rate

TITLE = "Which way it errs"


def sides_section(summary: Summary) -> Section:
    """Return confident errors by predicted class."""
    if summary["evaluation"] is None:
        return Section("sides", TITLE, "Which way", ["The labels of these rows are not known."])
    found = summary["evaluation"]["sides"]
    sides = found["classes"]
    lead = [found["notice"] or _lead(sides)]
    columns = {
        "predicted": column(sides, text, "predicted"),
        "a wrong one was": column(sides, text, "actual"),
        "rows": column(sides, count, "rows"),
        "confident": column(sides, count, "eligible"),
        "wrong": column(sides, count, "events"),
        "rate and 95% interval": [
            f"{share(s['rate'])} ({interval(s['low'], s['high'])})" for s in sides
        ],
        "share of that class": column(sides, share, "of_class"),
    }
    for budget in sorted({line["budget"] for line in found["captures"]}):
        columns[f"found in the top {budget_words(budget)}"] = [
            _found(line) for line in found["captures"] if line["budget"] == budget
        ]
    grid = Grid.of("Predictions and their confident errors by predicted class", columns)
    return Section("sides", TITLE, "Which way", lead, grids=[grid])


def _lead(sides: list[dict[str, Any]]) -> str:
    if not sum(side["events"] for side in sides):
        return "There is no confident error on either side."
    parts = [
        f"{count(side['events'])} of {count(side['eligible'])} rows confidently called "
        f"{side['predicted']!r} are {side['actual']!r} ({rate(side['of_class'])} of all "
        f"{side['actual']!r})"
        if side["events"]
        else f"none of {count(side['eligible'])} rows confidently called {side['predicted']!r} is "
        f"{side['actual']!r}"
        for side in sides
    ]
    words = "; ".join(parts)
    return f"{words[0].upper()}{words[1:]}."


def _found(line: dict[str, Any]) -> str:
    if not line["events"]:
        return ""
    return f"{amount(line['captured'])} ({share(line['capture'], 0)})"
