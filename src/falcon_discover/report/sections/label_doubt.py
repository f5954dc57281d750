"""The section of a report on confident errors that look like wrong labels."""

from __future__ import annotations

from falcon_discover.report.page import Grid, Section, Summary, column
from falcon_discover.runtime.format import count, share, text

TITLE = "Wrong model or wrong label"
LIMIT = (
    "A label is doubtful where errors of the model are rare. The share of wrong labels is "
    "estimated, and so is each probability. No row was changed or removed."
)


def label_doubt_section(summary: Summary) -> list[Section]:
    """Return which labels to check, where a label contradicts a confident prediction."""
    found = summary.get("label_doubt")
    if not found or not found["first"]:
        return []
    first = found["first"]
    listed = "Check this one:" if len(first) == 1 else f"Check these {count(len(first))} first:"
    grid = Grid.of(
        "Labels to check, the most doubtful first",
        {
            "row": column(first, text, "row"),
            "predicted": column(first, text, "predicted"),
            "label": column(first, text, "actual"),
            "confidence": column(first, share, "confidence"),
            "label is wrong": [share(line["label_doubt"], 0) for line in first],
            "what sides with the model": [text(line["reason"], 400) for line in first],
        },
    )
    lead = [f"{found['words']} {listed}", LIMIT]
    return [Section("labels", TITLE, "Labels", lead, grids=[grid])]
