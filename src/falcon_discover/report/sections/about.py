"""Data, settings and versions, and what a report does not say."""

from __future__ import annotations

from typing import Any

from falcon_discover.report.page import Grid, Section, Summary
from falcon_discover.report.sections.headline import score_words
from falcon_discover.runtime.format import count, number, text


def _tau(tau: float | dict[str, float]) -> Any:
    if not isinstance(tau, dict):
        return tau
    return ", ".join(f"{name}: {level:g}" for name, level in tau.items())


def about_section(summary: Summary) -> Section:
    """Return data, settings and versions."""
    data, how = summary["data"], summary["how"]
    about = {
        "data": data["name"],
        "rows": f"{count(data['rows'])}, {count(data['audited'])} of them audited",
        "features": count(data["features"]),
        "target": data["target"],
        "classes": " / ".join(text(label) for label in data["classes"]),
        "score": score_words(data).removeprefix("score = "),
        **{name: value for name, value in how.items() if name not in ("candidates", "rows")},
        "which rows": how.get("rows"),
        **summary["settings"],
        "tau": _tau(summary["settings"]["tau"]),
        **summary["versions"],
        "made": f"{summary['created']}, in {number(summary['seconds'], 1)} s",
    }
    shown = {name: value for name, value in about.items() if value not in (None, "")}
    grid = Grid(
        "Data, settings, versions",
        ("what", "value"),
        [(text(name), text(value, 300)) for name, value in shown.items()],
    )
    title = "Data, settings, versions"
    told = list(summary["alerts"])
    if summary["evaluation"] is not None:
        told.append(summary["evaluation"]["sides"]["notice"])
    points = [note for note in summary["notes"] if note not in told]
    return Section("about", title, "Data", grids=[grid], points=points)


def limits_section(summary: Summary) -> Section:
    """Return what the report does not say."""
    sure = summary["eligible"]
    points = []
    mode = summary["how"].get("mode", "")
    if mode != "backbone":
        points.append(
            "It holds only if the model was not trained on these rows. On rows it has learned "
            "from, its errors are not there to be found, and everything here looks better than "
            "it is. No tool can see that from the rows alone."
        )
    if sure["errors"] is not None and sure["errors"] < 30:
        points.append(
            f"There are only {count(sure['errors'])} confident errors: shares of so few mean "
            "little by themselves. Read the intervals."
        )
    if summary.get("design"):
        points.append(summary["design"]["words"])
    if (summary.get("design") or {}).get("groups"):
        points.append(
            "It speaks of groups like these, each drawn independently: not of new rows of these "
            "groups, which may be more or less like them."
        )
    else:
        points.append(
            "It speaks of rows like these, each drawn independently: not of copies, nor of many "
            "rows of one person or device, which tell less than their number says."
        )
    points += [
        "When the population, the features or the meaning of the "
        "label drift, rates and bounds no longer hold: audit again on fresh rows.",
        "A label that is itself wrong counts as an error of the model. Part of what a review "
        "finds is usually errors of the labels.",
        "A region says where errors are frequent, not what causes them, and not that a group is "
        "treated unfairly; regions hold right predictions too.",
        "Errors below the threshold are not counted here, however many there are.",
        "Each interval holds by itself with 95 % confidence; of twenty, one may miss.",
        "Suspicion ranks rows for review. It is no reason to overturn a decision unread.",
    ]
    return Section("limits", "What this does not say", "Limits", points=points)
