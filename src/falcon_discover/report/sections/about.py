"""Data, settings and versions; the limits of a report; and its terms."""

from __future__ import annotations

from typing import Any

from falcon_discover.report.labels import ABOUT
from falcon_discover.report.page import Grid, Section, Summary
from falcon_discover.report.sections.headline import created, period, score_of
from falcon_discover.report.text import SENTENCES, say
from falcon_discover.runtime.format import count, number, share, text
from falcon_discover.runtime.glossary import GLOSSARY
from falcon_discover.runtime.words import budget_words

# Fewer confident errors than this say little.
FEW_ERRORS = 30


def _tau(tau: float | dict[str, float]) -> Any:
    if not isinstance(tau, dict):
        return tau
    return ", ".join(f"{name}: {level:g}" for name, level in tau.items())


def about_section(summary: Summary) -> Section:
    """Return data, settings and versions."""
    data, how = summary["data"], summary["how"]
    kinds = ", ".join(f"{count(n)} {kind}" for kind, n in data["kinds"].items())
    about = {
        "data": data["name"],
        "rows": f"{count(data['rows'])}, {count(data['audited'])} of them audited",
        "features": f"{count(data['features'])} ({kinds})",
        "missing": None if data["missing"] is None else share(data["missing"]),
        "target": data["target"],
        "classes": " / ".join(text(label) for label in data["classes"]),
        "score": score_of(data),
        "period": period(data),
        **{name: value for name, value in how.items() if name not in ("candidates", "rows")},
        "mode": say(f"mode.{how['mode']}") if f"mode.{how.get('mode')}" in SENTENCES else None,
        "which rows": how.get("rows"),
        **summary["settings"],
        "tau": _tau(summary["settings"]["tau"]),
        "budget": budget_words(summary["settings"]["budget"]),
        **summary["versions"],
        "created": f"{created(summary)} ({number(summary['seconds'], 0)} s)",
    }
    shown = {name: value for name, value in about.items() if value not in (None, "")}
    grids = [
        Grid.named(
            "about",
            {
                "what": [text(ABOUT.get(name, name)) for name in shown],
                "value": [text(value, 300) for value in shown.values()],
            },
        )
    ]
    told = list(summary["alerts"])
    if summary["evaluation"] is not None:
        told.append(summary["evaluation"]["sides"]["notice"])
        grids.append(_classes(data))
    points = [note for note in summary["notes"] if note not in told]
    return Section.named("about", [], grids=grids, points=points)


def _classes(data: dict[str, Any]) -> Grid:
    rows, total = data["class_rows"], max(sum(data["class_rows"]), 1)
    return Grid.named(
        "classes",
        {
            "label": [text(label) for label in data["classes"]],
            "rows": [count(n) for n in rows],
            "share": [share(n / total) for n in rows],
        },
    )


def limits_section(summary: Summary) -> Section:
    """Return what the report does not say."""
    sure, design = summary["eligible"], summary.get("design") or {}
    points: list[str] = []
    if summary["how"].get("mode", "") != "backbone":
        points.append(say("limits.unseen"))
    if sure["errors"] is not None and sure["errors"] < FEW_ERRORS:
        points.append(say("limits.few", errors=count(sure["errors"])))
    if design:
        points.append(design["words"])
    points.append(say("limits.groups" if design.get("groups") else "limits.rows"))
    points += [
        say(f"limits.{key}")
        for key in ("drift", "labels", "regions", "threshold", "intervals", "risk")
    ]
    return Section.named("limits", [], points=points)


def glossary_section() -> Section:
    """Return what the terms of the report mean."""
    columns = {"term": list(GLOSSARY), "meaning": list(GLOSSARY.values())}
    return Section.named("glossary", [], grids=[Grid.named("glossary", columns)])
