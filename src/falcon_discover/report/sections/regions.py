"""Where errors gather: regions in words, and the map of conflict."""

from __future__ import annotations

from typing import Any

from falcon_discover.plots.charts import conflict_chart, region_chart, told
from falcon_discover.regions.region_set import GROUPED, INDEPENDENT
from falcon_discover.report.page import Bar, Figure, Grid, Section, Summary, column, lines
from falcon_discover.report.rows import MAX_REGION
from falcon_discover.report.svg import strip, svg
from falcon_discover.runtime.format import count, interval, number, share, text, undefined
from falcon_discover.signals.catalogue import CONFLICT_WORDS

# What a report says of the regions of each claim, on rows that they were not found on.
LEADS = {
    "more than predicted": "In {n} there are more confident errors than the model's confidence "
    "predicts.",
    "frequent, as predicted": "In {n} confident errors are frequent, about as many as the model's "
    "confidence there implies.",
    "frequent": "In {n} confident errors are frequent.",
    "no more than predicted": "In {n} there are no more confident errors than the model's "
    "confidence predicts.",
    "not frequent": "In {n} confident errors are not frequent.",
}
# What it says of those of each outcome, on other rows.
OUTCOMES = {
    "held": "{n} held: there is an excess again, by a test at 5% for all regions together.",
    "did not hold": "{n} did not hold: the excess is clearly smaller than at the fit.",
    "cannot tell": "Of {n} these rows cannot tell.",
}
CONFIRMED = "Each was found on one half of the labelled rows and confirmed on the other."


def regions_section(summary: Summary) -> Section:
    """Return where errors gather: regions in words, and the map of conflict."""
    rows = summary["curves"]["regions"]
    shown = told(rows)
    doubtful = [r for r in rows if r["kind"] != "all" and not r["confirmed"]]
    usual = next((r["rate"] for r in shown if r["kind"] == "all"), None)
    bars = [
        Bar(
            text(r["name"], MAX_REGION),
            text(r["rule"], MAX_REGION),
            _figures(r),
            strip(region_chart([r], shown), f"region-{i}", _alternative(r)),
        )
        for i, r in enumerate(shown)
    ]
    lead = [_lead([r for r in shown if r["kind"] != "all"], summary, usual)]
    grids = [_region_grid("Regions in words", shown)] if shown else []
    points = []
    if doubtful:
        points.append(
            f"In {_regions(len(doubtful), 'more ')} an excess of confident errors was found on one "
            "half of the rows and did not hold on the other; do not act on it: "
            f"{'; '.join(text(r['name'], MAX_REGION) for r in doubtful)}."
        )
    figures = []
    conflict = summary["conflict"]
    if conflict is not None and conflict["slices"]:
        figures.append(conflict_figure(conflict))
        points += lines(conflict["words"])[:1]
    elif "conflict" in summary["left_out"]:
        points.append(f"Conflict map: {summary['left_out']['conflict']}")
    title = "Where errors gather"
    return Section("regions", title, "Where", lead, bars, figures, grids, points)


def _lead(shown: list[dict[str, Any]], summary: Summary, usual: float | None) -> str:
    if "regions" in summary["left_out"]:
        return str(summary["left_out"]["regions"])
    if not shown:
        verb = "is confirmed to have" if summary["regions"] else "has"
        return f"No region {verb} more confident errors than the model's confidence predicts."
    if any(r["outcome"] for r in shown):
        parts = ["Regions confirmed at the fit, counted on these rows and tested again."]
        parts += [*_counted([r["outcome"] for r in shown], OUTCOMES), CONFIRMED]
    else:
        parts = [*_counted([r["claim"] for r in shown], LEADS), CONFIRMED]
        parts.append("The figures are of rows it was not found on.")
    parts.append(GROUPED if (summary.get("design") or {}).get("groups") else INDEPENDENT)
    if usual is not None:
        parts.append("The dashed mark is the rate of all confident predictions.")
    return " ".join(parts)


def _counted(found: list[str], sentences: dict[str, str]) -> list[str]:
    """Return the sentence of each word that is found, with how many regions it is about."""
    said = [
        words.format(n=_regions(found.count(word)))
        for word, words in sentences.items()
        if word in found
    ]
    return [sentence[0].upper() + sentence[1:] for sentence in said]


def _regions(n: int, more: str = "") -> str:
    return f"one {more}region" if n == 1 else f"{n} {more}regions"


def _figures(region: dict[str, Any]) -> str:
    if not region["eligible"]:
        return "no confident prediction here"
    words = (
        f"{count(region['events'])} of {count(region['eligible'])} confident predictions wrong: "
        f"{share(region['rate'])} (95% interval {interval(region['low'], region['high'])})"
    )
    if region["kind"] == "all":
        return words
    lift = "" if undefined(region["lift"]) else f", {region['lift']:.1f} times the usual rate"
    again = f": {region['outcome']}" if region["outcome"] else ""
    return f"{words}{lift}; {region['expected']:.1f} expected from their confidence{again}"


def _alternative(region: dict[str, Any]) -> str:
    low, high = share(region["low"]), share(region["high"])
    return f"{share(region['rate'])} wrong, 95 % interval {low} to {high}"


def _region_grid(caption: str, rows: list[dict[str, Any]]) -> Grid:
    again = any(r["outcome"] for r in rows)
    return Grid.of(
        caption,
        {
            "region": [text(r["rule"], MAX_REGION) for r in rows],
            ("at the fit" if again else "finding"): [r["claim"] or r["kind"] for r in rows],
            "confident": column(rows, count, "eligible"),
            "wrong": column(rows, count, "events"),
            "rate": column(rows, share, "rate"),
            "95 % interval": column(rows, interval, "low", "high"),
            "expected": column(rows, lambda v: number(v, 1), "expected"),
            **({"on these rows": [r["outcome"] or "" for r in rows]} if again else {}),
        },
    )


def conflict_figure(conflict: dict[str, Any]) -> Figure:
    """Return the map of conflict for the pair of signals with the best slice."""
    best, slices = conflict["best"], conflict["slices"]
    pair = (best or slices[0])["evidence"], (best or slices[0])["instability"]
    shown = [s for s in slices if (s["evidence"], s["instability"]) == pair]
    evidence, instability = (CONFLICT_WORDS[name] for name in pair)
    words = (
        f"Each cell holds the confident predictions with {evidence} at most and {instability} at "
        "least the values at its sides: by how many percentage points they are wrong more often "
        "than all confident predictions, and how many are wrong. Bold: more often than predictions "
        "of the same confidence, which holds for all cells together with 95% confidence."
    )
    if best is not None:
        words += (
            f" Framed, the best: {count(best['events'])} of {count(best['rows'])} wrong, "
            f"{number(best['expected'], 1)} expected at their confidence "
            f"(p = {number(best['p_value'])} as the best of all)."
        )
    grid = Grid.of(
        "Excess of confident errors",
        {
            f"{evidence} at most": column(shown, number, "evidence_at_most"),
            f"{instability} at least": [f"{s['instability_at_least']:.4f}" for s in shown],
            "confident": column(shown, count, "rows"),
            "wrong": column(shown, count, "events"),
            "excess, points": [f"{100 * s['gamma']:+.1f}" for s in shown],
            "expected at their confidence": column(shown, lambda v: number(v, 1), "expected"),
            "p, as one of all": column(
                shown, lambda v: "not tested" if undefined(v) else number(v), "p_value"
            ),
        },
    )
    title = "Discrepancy map: weak evidence meets unstable scores"
    chart = svg(conflict_chart(slices, best, pair), "conflict", words)
    return Figure("conflict", title, words, chart, grid)
