"""The first screen of a report: what was audited, the verdict, its key figures, what to do next."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from falcon_discover.evaluation.public_audits import public_rates
from falcon_discover.report.page import Fact, Summary, Tile
from falcon_discover.report.text import Said, say
from falcon_discover.runtime.format import count, interval, number, share, text
from falcon_discover.runtime.words import level, odds, percent, rate

# A name that says nothing, which a report has unless it is given another.
NO_NAME = "rows"
# More steps than these, before the last, are not read.
MOST_STEPS = 3
# Longer facts are cut: they are to be read at a glance.
MAX_FACT = 300


def title(summary: Summary) -> str:
    """Return what the report is about: the data, or which rows where they have no name."""
    name = summary["data"]["name"]
    rows = summary["how"].get("rows")
    return text(rows[0].upper() + rows[1:] if name == NO_NAME and rows else name)


def facts(summary: Summary) -> list[Fact]:
    """Return what was audited, as far as it is known."""
    data, how = summary["data"], summary["how"]
    known = {
        "model": _model(how),
        **{key: how.get(key) for key in ("version", "owner", "purpose")},
        "data": _rows(summary),
        "period": how.get("period") or period(data),
        "target": _target(data),
        "score": score_of(data),
        "created": created(summary),
    }
    return [Fact(key, text(value, MAX_FACT)) for key, value in known.items() if value]


def created(summary: Summary) -> str:
    """Return when the report was made, as people write it."""
    return f"{datetime.fromisoformat(summary['created']):%d %b %Y, %H:%M} UTC"


def _model(how: dict[str, Any]) -> str:
    if "model" not in how:
        return say("fact.scores") if how.get("mode") == "predictions only" else ""
    library = f" ({how['library']})" if "library" in how else ""
    trained = f", {say('fact.trained')}" if how.get("mode") == "backbone" else ""
    return f"{how['model']}{library}{trained}"


def _rows(summary: Summary) -> str:
    data, design = summary["data"], summary.get("design") or {}
    part = "" if data["audited"] == data["rows"] else f" of {count(data['rows'])}"
    groups = f" from {count(design['groups'])} groups" if design.get("groups") else ""
    weight = f", standing for {count(design['weight'])}" if design.get("weight") else ""
    name = "" if data["name"] == NO_NAME else f"{text(data['name'], 60)}, "
    return f"{name}{count(data['audited'])}{part} rows{groups}{weight}"


def period(data: dict[str, Any]) -> str:
    """Return from when to when rows are, where that is known."""
    known = data["period"]
    return f"{known['first']} to {known['last']}" if known else ""


def _target(data: dict[str, Any]) -> str:
    labels = [text(label, 60) for label in data["classes"]]
    if len(labels) > 2:
        words = f"{len(labels)} classes"
    else:
        words = " or ".join(labels)
        if data["class_rows"] and sum(data["class_rows"]):
            usual = data["class_rows"][-1] / sum(data["class_rows"])
            words += f"; {rate(usual)} are {labels[-1]}"
    return f"{text(data['target'], 60)}: {words}" if data["target"] else words


def score_of(data: dict[str, Any]) -> Said:
    """Return which label the score is the probability of.

    Examples
    --------
    >>> score_of({"positive": "stayed", "scored": "churned"})
    "probability of 'churned' (p in the review list: of 'stayed')"
    """
    if data["scored"] is None:
        return say("score.predicted")
    if data["scored"] != data["positive"]:
        return say("score.turned", label=repr(data["scored"]), positive=repr(data["positive"]))
    return say("score.of", label=repr(data["scored"]))


def score_words(data: dict[str, Any]) -> str:
    """Return which label the score is the probability of, for a terminal.

    Examples
    --------
    >>> score_words({"positive": "stayed", "scored": "stayed"})
    "score = probability of 'stayed'"
    >>> score_words({"positive": None, "scored": None})
    'score = probability of the predicted class'
    """
    return f"score = {score_of(data)}"


def verdict(summary: Summary) -> Said:
    """Return the judgement in a sentence or two, with its figures."""
    sure, kind, review = summary["eligible"], summary["judgement"], summary["review"]
    figures = {
        "rows": count(sure["rows"]),
        "audited": count(summary["data"]["audited"]),
        "level": level(summary["settings"]["tau"]),
        "listed": count(review["listed"]),
    }
    if kind == "unlabelled":
        return _queue_verdict(summary, figures)
    if sure["rows"]:
        figures |= {
            "errors": count(sure["errors"]),
            "rate": rate(sure["rate"]),
            "expected": about(sure["promised_errors"]),
            "high": rate(sure["high"]),
            "provided": _provided(summary),
        }
    return say(f"verdict.{kind}", **figures)


def _queue_verdict(summary: Summary, figures: dict[str, Any]) -> Said:
    sure, review = summary["eligible"], summary["review"]
    if not sure["rows"]:
        return say("verdict.queue.never", **figures)
    expected = review["expected_errors"]
    if expected is None or not review["listed"]:
        return say("verdict.queue.unknown", implied=about(sure["promised_errors"]), **figures)
    return say(
        "verdict.queue", expected=about(expected), ratio=_in(expected, review["listed"]), **figures
    )


def _provided(summary: Summary) -> str:
    return "" if summary["how"].get("mode") == "backbone" else say("provided.unseen")


def about(expected: float) -> str:
    """Return an expected number of errors, as precise as it deserves.

    Examples
    --------
    >>> about(123.6), about(3.24), about(0.2)
    ('124', '3.2', '0.2')
    """
    return f"{expected:,.0f}" if expected >= 9.95 else f"{expected:.1f}"


def _in(errors: float, rows: float) -> str:
    return odds(errors / rows) if errors else "none"


def tiles(summary: Summary) -> list[Tile]:
    """Return the headline figures."""
    sure, review = summary["eligible"], summary["review"]
    design = summary.get("design") or {}
    confident = Tile.named(
        "confident",
        count(sure["rows"]),
        level=level(summary["settings"]["tau"]),
        share=share(sure["share"], 0),
        audited=count(design.get("weight") or summary["data"]["audited"]),
    )
    if summary["evaluation"] is None:
        return [confident, *_queue_tiles(sure, review)]
    found = [confident]
    if sure["rows"]:
        ends, elsewhere = interval(sure["low"], sure["high"]), _elsewhere(summary)
        found.append(Tile.named("rate", rate(sure["rate"]), interval=ends, elsewhere=elsewhere))
    if sure["errors"] and review["listed"]:
        usual = _in(sure["errors"], sure["rows"])
        found.append(Tile.named("yield", _in(review["errors"], review["listed"]), usual=usual))
        found.append(_captured(summary))
    return [*found, *_asked_tiles(summary)]


def _elsewhere(summary: Summary) -> str:
    """Return the rates in public data sets, where they can be compared."""
    rates = public_rates(summary["settings"]["tau"], len(summary["data"]["classes"]))
    return say("tile.elsewhere", interval=interval(*rates)) if rates else ""


def _captured(summary: Summary) -> Tile:
    """Return which share of the confident errors is in the list."""
    events, errors = summary["eligible"]["errors"], summary["review"]["errors"]
    if (summary.get("design") or {}).get("weight"):
        # The list holds rows; shares are of what they stand for.
        errors = events - summary["missed"]["missed"]
    figures = {"errors": count(errors), "events": count(events)}
    return Tile.named("capture", share(errors / events, 0), **figures)


def _queue_tiles(sure: dict[str, Any], review: dict[str, Any]) -> list[Tile]:
    if review["expected_errors"] is None:
        return [Tile.named("expected", about(sure["promised_errors"]))]
    expected, listed = review["expected_errors"], review["listed"]
    found = [Tile.named("queue", about(expected), listed=count(listed))]
    if listed:
        found.append(Tile.named("queue.yield", _in(expected, listed)))
    return [*found, Tile.named("queue.all", about(sure["expected_errors"]))]


def _asked_tiles(summary: Summary) -> list[Tile]:
    """Return the answers to what was asked for: a limit to what is left, and costs."""
    found = []
    asked, cost = summary["guarantee"], summary["review"]["captured_cost"]
    if asked is not None and not summary["alerts"]:
        target = rate(asked["max_residual_rate"])
        found.append(Tile.named("guarantee", _budget(asked["budget"]), target=target))
    if cost is not None and cost["total"]:
        captured = share(cost["listed"] / cost["total"], 0)
        found.append(Tile.named("cost", captured, total=number(cost["total"], 0)))
    return found


def _budget(budget: float) -> str:
    return percent(budget) if budget >= 0.01 or not budget else rate(budget)


def next_steps(summary: Summary) -> list[Said]:
    """Return what to do next, most urgent first."""
    if summary["alerts"]:
        return [say("next.alert")]
    labelled, sure = summary["evaluation"] is not None, summary["eligible"]
    if not sure["rows"]:
        return [say("next.lower")]
    if not labelled:
        return [say("next.check"), say("next.feedback"), say("next.again")]
    steps = [*_guarantee(summary), *_region(summary)]
    if summary["judgement"] == "more":
        steps.append(say("next.recalibrate"))
    if summary["review"]["errors"]:
        steps.append(say("next.wrong", errors=count(summary["review"]["errors"])))
    elif not sure["errors"]:
        steps.append(say("next.audit"))
    return [*steps[:MOST_STEPS], say("next.score")]


def _guarantee(summary: Summary) -> list[Said]:
    """Return the answer to a limit on what is left after a review, where it was asked for."""
    asked, audited = summary["guarantee"], summary["data"]["audited"]
    if asked is None or not asked["eligible"]:
        return []
    figures = {
        "budget": _budget(asked["budget"]),
        "rows": count(math.ceil(asked["budget"] * audited)),
        "audited": count(audited),
        "level": percent(asked["confidence_level"]),
        "target": rate(asked["max_residual_rate"]),
    }
    if asked["all_eligible"]:
        return [say("next.guarantee.all", **figures)]
    return [say("next.guarantee" if asked["budget"] else "next.guarantee.none", **figures)]


def _region(summary: Summary) -> list[Said]:
    """Return what to do about the region with the largest excess of confident errors."""
    worst = [
        region
        for region in summary["curves"]["regions"]
        if region["confirmed"]
        and region["claim"] == "more than predicted"
        and region["outcome"] in (None, "held")
        and region["events"] > region["expected"]
    ]
    if not worst:
        return []
    region = max(worst, key=lambda r: r["events"] - r["expected"])
    return [
        say(
            "next.regions",
            region=text(region["name"], 200),
            errors=count(region["events"]),
            rows=count(region["eligible"]),
            expected=about(region["expected"]),
        )
    ]
