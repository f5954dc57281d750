"""The section of a report on confident errors that look like wrong labels."""

from __future__ import annotations

from falcon_discover.report.page import Grid, Section, Summary, column
from falcon_discover.report.text import say
from falcon_discover.runtime.format import count, share, text


def label_doubt_section(summary: Summary) -> list[Section]:
    """Return which labels to check, where a label contradicts a confident prediction."""
    found = summary.get("label_doubt")
    if not found or not found["first"]:
        return []
    first = found["first"]
    listed = say("labels.one") if len(first) == 1 else say("labels.first", n=count(len(first)))
    grid = Grid.named(
        "labels",
        {
            "row": column(first, text, "row"),
            "predicted": column(first, text, "predicted"),
            "label": column(first, text, "actual"),
            "confidence": column(first, share, "confidence"),
            "label is wrong": [share(line["label_doubt"], 0) for line in first],
            "what supports the model": [text(line["reason"], 400) for line in first],
        },
    )
    lead = [found["words"], say("labels.limit"), listed]
    return [Section.named("labels", lead, grids=[grid])]
