"""The sections of a report on the sides of confident errors: which class is mistaken for which."""

from __future__ import annotations

from typing import Any

from falcon_discover.report.page import Grid, Section, Summary, column
from falcon_discover.runtime.format import amount, count, interval, share, text
from falcon_discover.runtime.words import budget_words, rate

TITLE = "Which way it errs"
MISTAKEN = "Which class is mistaken for which, confidently"
# A table of all pairs with more classes cannot be read; nor can a longer list.
MOST_CLASSES = 12
MOST_PAIRS = 20


def sides_section(summary: Summary) -> Section:
    """Return confident errors by predicted class."""
    if summary["evaluation"] is None:
        return Section("sides", TITLE, "Which way", ["The labels of these rows are not known."])
    found = summary["evaluation"]["sides"]
    sides = found["classes"]
    several = len(sides) > 2
    lead = [found["notice"] or (_lead_of_many(sides) if several else _lead(sides))]
    columns = {
        "predicted": column(sides, text, "predicted"),
        **({} if several else {"a wrong one was": column(sides, text, "actual")}),
        "rows": column(sides, count, "rows"),
        "confident": column(sides, count, "eligible"),
        "wrong": column(sides, count, "events"),
        "rate and 95% interval": [
            f"{share(s['rate'])} ({interval(s['low'], s['high'])})" for s in sides
        ],
        "share of all others" if several else "share of that class": column(
            sides, share, "of_class"
        ),
    }
    for budget in sorted({line["budget"] for line in found["captures"]}):
        columns[f"found in the top {budget_words(budget)}"] = [
            _found(line) for line in found["captures"] if line["budget"] == budget
        ]
    grid = Grid.of("Predictions and their confident errors by predicted class", columns)
    return Section("sides", TITLE, "Which way", lead, grids=[grid])


def mistaken_section(summary: Summary) -> Section:
    """Return the pairs of classes that are confidently mistaken, of more than two."""
    found = summary["evaluation"]["sides"]
    pairs, classes = found["mistaken"], [side["predicted"] for side in found["classes"]]
    if not pairs:
        lead = ["No class is confidently mistaken for another."]
        return Section("mistaken", MISTAKEN, "Mistaken", lead)
    first, total = pairs[0], sum(pair["events"] for pair in pairs)
    lead = [
        f"Most often {first['actual']!r} is mistaken for {first['predicted']!r}: "
        f"{count(first['events'])} of {count(total)} confident errors "
        f"({share(first['of_events'], 0)}), "
        f"{rate(first['of_class'])} of all {count(first['class_rows'])} rows of "
        f"{first['actual']!r}."
    ]
    shown = pairs[:MOST_PAIRS]
    if len(shown) < len(pairs):
        lead.append(f"The {len(shown)} most frequent of {len(pairs)} pairs are listed.")
    grids = [
        Grid.of(
            "Pairs of classes by their confident errors",
            {
                "predicted": column(shown, text, "predicted"),
                "was": column(shown, text, "actual"),
                "confident errors": column(shown, count, "events"),
                "of all of them": column(shown, share, "of_events"),
                "of all rows of that class": column(shown, share, "of_class"),
            },
        )
    ]
    if len(classes) <= MOST_CLASSES:
        grids.append(_pairs_grid(pairs, classes))
    return Section("mistaken", MISTAKEN, "Mistaken", lead, grids=grids)


def _pairs_grid(pairs: list[dict[str, Any]], classes: list[Any]) -> Grid:
    counts = {(pair["predicted"], pair["actual"]): pair["events"] for pair in pairs}
    columns = {"predicted": [text(label) for label in classes]}
    for actual in classes:
        cells = [counts.get((called, actual), 0) for called in classes]
        columns[f"was {text(actual)}"] = [
            "" if called == actual else count(cell)
            for called, cell in zip(classes, cells, strict=True)
        ]
    return Grid.of("Confident errors by predicted and actual class", columns)


def _lead_of_many(sides: list[dict[str, Any]]) -> str:
    wrong = [side for side in sides if side["events"]]
    if not wrong:
        return "There is no confident error in any class."
    most = max(wrong, key=lambda side: side["rate"])
    return (
        f"Confident errors are found among rows called {count(len(wrong))} of "
        f"{count(len(sides))} classes; the highest rate among those confidently called "
        f"{most['predicted']!r}: {count(most['events'])} of {count(most['eligible'])} "
        f"({rate(most['rate'])})."
    )


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
