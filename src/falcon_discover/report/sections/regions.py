"""Where errors gather: regions in words, and the map of conflict."""

from __future__ import annotations

from typing import Any

from falcon_discover.plots.charts import conflict_chart, region_chart, told
from falcon_discover.report.labels import FIGURES
from falcon_discover.report.page import Bar, Figure, Grid, Section, Summary, column
from falcon_discover.report.rows import MAX_REGION
from falcon_discover.report.sections.headline import about
from falcon_discover.report.svg import strip, svg
from falcon_discover.report.text import Said, say
from falcon_discover.runtime.format import count, interval, number, share, text, undefined
from falcon_discover.signals.catalogue import CONFLICT_WORDS

# What is said of the regions of each claim, on rows that they were not found on.
CLAIMS = (
    "more than predicted",
    "frequent, as predicted",
    "frequent",
    "no more than predicted",
    "not frequent",
)
# What is said of those of each outcome, on other rows.
OUTCOMES = ("held", "did not hold", "cannot tell")
# The p-value from which on a cell of the map is said to stand out.
CLEAR = 0.05


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
            r["region_id"],
        )
        for i, r in enumerate(shown)
    ]
    lead: list[str] = [*_lead([r for r in shown if r["kind"] != "all"], summary, usual)]
    if shown and not any(r["eligible"] for r in shown):
        bars, shown, lead = [], [], [say("regions.never")]
    grids = [_region_grid(shown)] if shown else []
    points: list[str] = []
    if doubtful:
        names = "; ".join(text(r["name"], MAX_REGION) for r in doubtful)
        points.append(say("regions.doubtful", names=names))
    figures = []
    conflict = summary["conflict"]
    if conflict is not None and conflict["slices"]:
        figures.append(conflict_figure(conflict))
    elif "conflict" in summary["left_out"] and summary["evaluation"] is not None:
        points.append(say("conflict.left out", reason=summary["left_out"]["conflict"]))
    return Section.named("regions", lead, bars=bars, figures=figures, grids=grids, points=points)


def _lead(shown: list[dict[str, Any]], summary: Summary, usual: float | None) -> list[Said]:
    if "regions" in summary["left_out"]:
        return [say("left_out.regions")]
    if not shown:
        return [say("regions.unconfirmed" if summary["regions"] else "regions.none")]
    if any(r["outcome"] for r in shown):
        said = [*_counted([r["outcome"] for r in shown], OUTCOMES), say("regions.again")]
        said.append(say("regions.confirmed"))
    else:
        said = [*_counted([r["claim"] for r in shown], CLAIMS), say("regions.confirmed")]
        said.append(say("regions.elsewhere"))
    grouped = (summary.get("design") or {}).get("groups")
    said.append(say("regions.grouped" if grouped else "regions.independent"))
    if usual is not None:
        said.append(say("regions.mark"))
    return said


def _counted(found: list[str], words: tuple[str, ...]) -> list[Said]:
    """Return the sentence of each word that is found, with how many regions it is about."""
    said = [
        say(f"regions.{word}", n=_regions(found.count(word))) for word in words if word in found
    ]
    return [Said(one.key, one[0].upper() + one[1:]) for one in said]


def _regions(n: int) -> str:
    return "one region" if n == 1 else f"{n} regions"


def _figures(region: dict[str, Any]) -> Said:
    if not region["eligible"]:
        return say("regions.empty")
    words = say(
        "regions.figures",
        events=count(region["events"]),
        eligible=count(region["eligible"]),
        rate=share(region["rate"]),
        interval=interval(region["low"], region["high"]),
    )
    if region["kind"] == "all":
        return words
    again = f": {region['outcome']}" if region["outcome"] else ""
    lift = "" if undefined(region["lift"]) else say("regions.lift", lift=f"{region['lift']:.1f}")
    expected = say("regions.expected", expected=about(region["expected"]))
    return Said(words.key, f"{words}{lift}{expected}{again}")


def _alternative(region: dict[str, Any]) -> str:
    figures = {key: share(region[key]) for key in ("rate", "low", "high")}
    return say("regions.bar", **figures)


def _region_grid(rows: list[dict[str, Any]]) -> Grid:
    again = any(r["outcome"] for r in rows)
    return Grid.named(
        "regions",
        {
            "region": [text(r["rule"], MAX_REGION) for r in rows],
            ("at the fit" if again else "finding"): [r["claim"] or r["kind"] for r in rows],
            "confident": column(rows, count, "eligible"),
            "wrong": column(rows, count, "events"),
            "rate": column(rows, share, "rate"),
            "95% interval": column(rows, interval, "low", "high"),
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
    words = say("conflict.words", evidence=evidence, instability=instability)
    if best is not None:
        clear = not undefined(best["p_value"]) and best["p_value"] <= CLEAR
        clearest = say(
            "conflict.best" if clear else "conflict.unclear",
            events=count(best["events"]),
            rows=count(best["rows"]),
            expected=about(best["expected"]),
            p=number(best["p_value"]),
        )
        words = Said(words.key, f"{words} {clearest}")
    grid = Grid.named(
        "conflict",
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
    chart = svg(conflict_chart(slices, best, pair), "conflict", words)
    return Figure("conflict", FIGURES["conflict"], words, chart, grid)
