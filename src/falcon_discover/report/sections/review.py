"""What to review first."""

from __future__ import annotations

from falcon_discover.report.page import Grid, Section, Summary, column
from falcon_discover.runtime.format import count, number, share, text
from falcon_discover.runtime.words import budget_words


def review_section(summary: Summary) -> Section:
    """Return what to review first."""
    review = summary["review"]
    lead = [
        f"The {count(review['listed'])} most suspicious of {count(review['audited'])} predictions "
        f"({budget_words(review['budget'])}), the most suspicious first."
    ]
    if review["shown"] < review["listed"]:
        lead.append(
            f"This page carries the first {count(review['shown'])} of them, so that it stays "
            "small; the whole list is in review.csv and review.parquet beside it."
        )
    first = review["first"]
    known, costed = (bool(first) and name in first[0] for name in ("actual", "cost"))
    columns = {
        "row": column(first, text, "row"),
        "predicted": column(first, text, "predicted"),
        **({"label": column(first, text, "actual")} if known else {}),
        "confidence": column(first, share, "confidence"),
        "suspicion": column(first, number, "suspicion"),
        **({"cost": column(first, number, "cost")} if costed else {}),
        "why": [text(line["reason"], 400) for line in first],
    }
    return Section(
        "review",
        "What to review first",
        "Review first",
        lead,
        grids=[Grid.of(f"The first {len(first)} rows of the review list", columns)],
    )
