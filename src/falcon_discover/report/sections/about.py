"""Data, settings and versions."""

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
