"""The sections of a report on the sides of confident errors: which class is mistaken for which."""

from __future__ import annotations

from typing import Any

from falcon_discover.report.page import Grid, Section, Summary, column
from falcon_discover.report.text import Said, say
from falcon_discover.runtime.format import amount, count, rate_words, share, text
from falcon_discover.runtime.words import budget_words, rate

# A table of all pairs with more classes cannot be read; nor can a longer list.
MOST_CLASSES = 12
MOST_PAIRS = 20


def sides_section(summary: Summary) -> Section:
    """Return confident errors by predicted class."""
    found = summary["evaluation"]["sides"]
    sides = found["classes"]
    several = len(sides) > 2
    notice = [found["notice"]] if found["notice"] else []
    lead: list[str] = notice or [*(_lead_of_many(sides) if several else _lead(sides))]
    columns = {
        "predicted": column(sides, text, "predicted"),
        **({} if several else {"actual, if wrong": column(sides, text, "actual")}),
        "rows": column(sides, count, "rows"),
        "confident": column(sides, count, "eligible"),
        "wrong": column(sides, count, "events"),
        "rate and 95% interval": column(sides, rate_words, "rate", "low", "high"),
        "of all other rows" if several else "of all rows of that class": column(
            sides, share, "of_class"
        ),
    }
    for budget in sorted({line["budget"] for line in found["captures"]}):
        columns[f"found in the riskiest {budget_words(budget)}"] = [
            _found(line) for line in found["captures"] if line["budget"] == budget
        ]
    return Section.named("sides", lead, grids=[Grid.named("sides", columns)])


def mistaken_section(summary: Summary) -> Section:
    """Return the pairs of classes that are confidently mistaken, of more than two."""
    found = summary["evaluation"]["sides"]
    pairs, classes = found["mistaken"], [side["predicted"] for side in found["classes"]]
    if not pairs:
        return Section.named("mistaken", [say("mistaken.none")])
    first, total = pairs[0], sum(pair["events"] for pair in pairs)
    lead: list[str] = [
        say(
            "mistaken.most",
            actual=repr(first["actual"]),
            predicted=repr(first["predicted"]),
            events=count(first["events"]),
            total=count(total),
            of_events=share(first["of_events"], 0),
            of_class=rate(first["of_class"]),
            class_rows=count(first["class_rows"]),
        )
    ]
    shown = pairs[:MOST_PAIRS]
    if len(shown) < len(pairs):
        lead.append(say("mistaken.first", shown=len(shown), pairs=len(pairs)))
    grids = [
        Grid.named(
            "mistaken",
            {
                "predicted": column(shown, text, "predicted"),
                "actual": column(shown, text, "actual"),
                "confident errors": column(shown, count, "events"),
                "of all of them": column(shown, share, "of_events"),
                "of all rows of that class": column(shown, share, "of_class"),
            },
        )
    ]
    if len(classes) <= MOST_CLASSES:
        grids.append(_pairs_grid(pairs, classes))
    return Section.named("mistaken", lead, grids=grids)


def _pairs_grid(pairs: list[dict[str, Any]], classes: list[Any]) -> Grid:
    counts = {(pair["predicted"], pair["actual"]): pair["events"] for pair in pairs}
    columns = {"predicted": [text(label) for label in classes]}
    for actual in classes:
        cells = [counts.get((called, actual), 0) for called in classes]
        columns[f"actual {text(actual)}"] = [
            "" if called == actual else count(cell)
            for called, cell in zip(classes, cells, strict=True)
        ]
    return Grid.named("pairs", columns)


def _lead_of_many(sides: list[dict[str, Any]]) -> list[Said]:
    wrong = [side for side in sides if side["events"]]
    if not wrong:
        return [say("sides.none")]
    most = max(wrong, key=lambda side: side["rate"])
    return [
        say(
            "sides.many",
            n=count(len(wrong)),
            classes=count(len(sides)),
            predicted=repr(most["predicted"]),
            events=count(most["events"]),
            eligible=count(most["eligible"]),
            rate=rate(most["rate"]),
        )
    ]


def _lead(sides: list[dict[str, Any]]) -> list[Said]:
    if not sum(side["events"] for side in sides):
        return [say("sides.none")]
    return [
        say(
            "sides.wrong" if side["events"] else "sides.right",
            events=count(side["events"]),
            eligible=count(side["eligible"]),
            predicted=repr(side["predicted"]),
            actual=repr(side["actual"]),
            rate=rate(side["of_class"]) if side["events"] else "",
        )
        for side in sides
    ]


def _found(line: dict[str, Any]) -> str:
    if not line["events"]:
        return ""
    return f"{amount(line['captured'])} ({share(line['capture'], 0)})"
