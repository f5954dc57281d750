"""The head of a report: its key figures, and what its score is of."""

from __future__ import annotations

from typing import Any

from falcon_discover.report.page import Summary, Tile
from falcon_discover.report.sections.budget import own_captures
from falcon_discover.runtime.format import count, interval, share
from falcon_discover.runtime.words import percent, rate


def tiles(summary: Summary) -> list[Tile]:
    """Return the headline figures."""
    sure, tau = summary["eligible"], summary["settings"]["tau"]
    found = [
        Tile(count(summary["data"]["audited"]), _audited(summary)),
        Tile(count(sure["rows"]), f"at least {percent(tau)} sure ({share(sure['share'], 0)})"),
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
                f"of them found by reviewing the top {percent(last['budget'])} "
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
    """
    words = f"score = probability of {data['scored']!r}"
    turned = data["scored"] != data["positive"]
    return f"{words} (p in the review list: of {data['positive']!r})" if turned else words
