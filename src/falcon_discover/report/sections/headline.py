"""The head of a report: its key figures, what its score is of, and what to review first."""

from __future__ import annotations

from typing import Any

from falcon_discover.report.page import Grid, Section, Summary, Tile, column
from falcon_discover.report.sections.budget import own_captures
from falcon_discover.runtime.format import count, interval, number, share, text
from falcon_discover.runtime.words import budget_words, level, rate


def tiles(summary: Summary) -> list[Tile]:
    """Return the headline figures."""
    sure, tau = summary["eligible"], summary["settings"]["tau"]
    found = [
        Tile(count(summary["data"]["audited"]), _audited(summary)),
        Tile(count(sure["rows"]), f"at least {level(tau)} sure ({share(sure['share'], 0)})"),
    ]
    if summary["evaluation"] is None:
        listed = summary["review"]["listed"]
        return [*found, Tile(count(listed), "listed for review")]
    wrong = sure["errors"]
    usual = f" ({rate(wrong / sure['rows'])} of them)" if sure["rows"] and wrong else ""
    found.append(Tile(count(wrong), f"of those wrong: confident errors{usual}"))
    own = own_captures(summary)
    if own and wrong:
        last = own[-1]
        found.append(
            Tile(
                share(last["capture"], 0),
                f"of them found by reviewing the top {budget_words(last['budget'])} "
                f"(95 % interval {interval(last['capture_low'], last['capture_high'], 0)})",
            )
        )
    return found


def _audited(summary: Summary) -> str:
    design = summary.get("design") or {}
    groups = f" from {count(design['groups'])} groups" if design.get("groups") else ""
    weight = f", standing for {count(design['weight'])}" if design.get("weight") else ""
    return f"predictions audited{groups}{weight}"


def score_words(data: dict[str, Any]) -> str:
    """Return which label the score is the probability of.

    Examples
    --------
    >>> score_words({"positive": "stayed", "scored": "stayed"})
    "score = probability of 'stayed'"
    >>> score_words({"positive": "stayed", "scored": "churned"})
    "score = probability of 'churned' (p in the review list: of 'stayed')"
    >>> score_words({"positive": None, "scored": None})
    'score = probability of the predicted class'
    """
    if data["scored"] is None:
        return "score = probability of the predicted class"
    words = f"score = probability of {data['scored']!r}"
    turned = data["scored"] != data["positive"]
    return f"{words} (p in the review list: of {data['positive']!r})" if turned else words


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
