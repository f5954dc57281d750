"""What to review first, and what the list holds."""

from __future__ import annotations

from falcon_discover.report.page import Grid, Section, Summary, column
from falcon_discover.report.text import Said, say
from falcon_discover.runtime.format import count, number, share, text
from falcon_discover.runtime.words import budget_words, is_count, odds, percent


def review_section(summary: Summary) -> Section:
    """Return the review list: a rehearsal where labels are known, else a queue."""
    review, labelled = summary["review"], summary["evaluation"] is not None
    name = "review" if labelled else "queue"
    if not review["listed"]:
        return Section.named("review", [say("review.empty")], name)
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
    grid = Grid.named("review", columns, n=len(first))
    return Section.named("review", _lead(summary, costed), name, grids=[grid])


def _lead(summary: Summary, costed: bool) -> list[str]:
    review, sure = summary["review"], summary["eligible"]
    labelled = summary["evaluation"] is not None
    figures = {
        "listed": count(review["listed"]),
        "audited": count(review["audited"]),
        "asked": count(review["asked"]),
        "budget": "" if is_count(review["budget"]) else f" ({percent(review['budget'])})",
        "asked_for": budget_words(review["budget"]),
        "shown": count(review["shown"]),
    }
    said: list[Said] = [say("review.rehearsal")] if labelled else []
    said.append(say("review.costs" if costed else "review.listed", **figures))
    if labelled and review["errors"]:
        ratio, usual = odds(review["errors"] / review["listed"]), odds(sure["rate"])
        found = {"errors": count(review["errors"]), "ratio": ratio, "usual": usual}
        said.append(say("review.found", **found))
    if review["listed"] < review["asked"]:
        said.append(say("review.ends", **figures))
    if review["shown"] < review["listed"]:
        said.append(say("review.shown", **figures))
    return list(said)
