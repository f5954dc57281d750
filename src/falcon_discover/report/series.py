"""The page of monitored batches: estimate, interval and alarm of each, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from falcon_discover.monitoring.alarm import ALARMS
from falcon_discover.monitoring.batch import BatchReport
from falcon_discover.monitoring.calibration_watch import CalibrationWatch
from falcon_discover.monitoring.comparison import Comparison
from falcon_discover.monitoring.words import HEADLINES, NEXT, UNSEEN, expected
from falcon_discover.plots.series import ALARM_NAMES, series_chart
from falcon_discover.report.page import Figure, Grid, Section, Tile
from falcon_discover.report.svg import svg
from falcon_discover.report.write import asset, environment
from falcon_discover.runtime.format import count, share, text, undefined
from falcon_discover.runtime.versions import __version__
from falcon_discover.runtime.words import percent, rate
from falcon_discover.signals.catalogue import BY_NAME

Reports = Mapping[str, BatchReport]
Comparisons = Mapping[str, Comparison]
# What changed is shown for so many columns and signals, and for so many batches.
CHANGES, BATCHES = 8, 6
CHECK = "Check a few labels from time to time."
AUDIT_AGAIN = "Audit again on fresh labelled rows: the risks no longer hold."
ALARM_WORDS = {
    "more_errors_expected": "with more confident errors than at the audit",
    "unlike_audited": "unlike the audited rows",
}


def table(reports: Reports, compared: Comparisons | None = None) -> pd.DataFrame:
    """Return one line for each batch, in words and round numbers."""
    found = {}
    if compared:
        known = [compared.get(name) for name in reports]
        found = {"found so far": ["" if c is None else _found(c) for c in known]}
    return pd.DataFrame(
        {
            "batch": [text(name) for name in reports],
            "rows": [count(r.rows) for r in reports.values()],
            "confident": [count(r.eligible) for r in reports.values()],
            "expected errors": [f"{r.errors:,.0f}" for r in reports.values()],
            "interval": [f"{r.errors_low:,} to {r.errors_high:,}" for r in reports.values()],
            **found,
            "rate": [_rate(r.rate) for r in reports.values()],
            "the model implies": [f"{r.promised:,.0f}" for r in reports.values()],
            "alarm": [ALARM_NAMES[r.alarm] for r in reports.values()],
        }
    )


def _found(comparison: Comparison) -> str:
    """Return the errors found, with what was expected among the same rows."""
    return f"{comparison.observed:,} ({comparison.expected:,.0f} expected)"


def overview(reports: Reports, compared: Comparisons | None = None) -> list[str]:
    """Return what the batches show together, and what the latest says, in paragraphs."""
    name, latest = list(reports.items())[-1]
    said, labels = latest.sentence, []
    if compared:
        # Labels have the last word, and no alarm without them is no reason to do nothing.
        labels = [_watch(compared).sentence]
        said = " ".join([expected(latest), *_steps(latest, compared)])
    if len(reports) == 1:
        return [*labels, said]
    return [*labels, _verdict(reports, compared), f"The latest batch is {text(name)}. {said}"]


def _steps(latest: BatchReport, compared: Comparisons) -> list[str]:
    """Return what to do because of the latest batch, besides what the labels call for."""
    if not compared:
        return [NEXT[latest.alarm], CHECK]
    quiet = latest.alarm == "as_audited" and _watch(compared).alarm
    return [] if quiet else [NEXT[latest.alarm]]


def _watch(compared: Comparisons) -> CalibrationWatch:
    """Return the running check after the last batch with labels."""
    return list(compared.values())[-1].watch


def _verdict(reports: Reports, compared: Comparisons | None = None) -> str:
    alarms = [r.alarm for r in reports.values()]
    alarmed = sum(alarm != "as_audited" for alarm in alarms)
    blind = "Judged without labels, " if compared else ""
    if not alarmed:
        return f"{blind}{'all' if blind else 'All'} {len(reports):,} batches are as audited."
    kinds = " and ".join(
        f"{alarms.count(alarm):,} {ALARM_WORDS[alarm]}" for alarm in ALARMS[1:] if alarm in alarms
    )
    return f"{blind}{alarmed:,} of {len(reports):,} batches set off an alarm: {kinds}."


def html(reports: Reports, *, audit: str, compared: Comparisons | None = None) -> str:
    """Return the page: one file with everything in it, which asks nothing of any network.

    Parameters
    ----------
    audit : the name of the saved audit
    compared : what became of the estimates of batches with labels
    """
    name, latest = list(reports.items())[-1]
    compared = compared or {}
    again = [AUDIT_AGAIN] if compared and _watch(compared).alarm else []
    return (
        environment(autoescape=True)
        .get_template("monitor.html.j2")
        .render(
            style=Markup(asset("style.css")),
            audit=text(audit),
            version=__version__,
            latest_name=text(name),
            latest=expected(latest),
            steps=[*again, *_steps(latest, compared)],
            alarm=latest.alarm,
            alarms=[ALARM_NAMES[alarm] for alarm in ALARM_WORDS],
            verdict=_headline(reports, compared),
            tiles=_tiles(reports, compared),
            sections=[
                _series(reports, compared),
                *_labels(reports, compared),
                *_changes(reports),
                _limits(),
            ],
        )
    )


def _headline(reports: Reports, compared: Comparisons) -> str:
    if compared and _watch(compared).alarm:
        watch = _watch(compared)
        more = "More" if watch.observed > watch.expected else "Fewer"
        return f"{more} confident errors were found than expected: audit again."
    return _verdict(reports) if len(reports) > 1 else HEADLINES[list(reports.values())[-1].alarm]


def _tiles(reports: Reports, compared: Comparisons) -> list[Tile]:
    latest = list(reports.values())[-1]
    alarmed = sum(r.alarm != "as_audited" for r in reports.values())
    return [
        Tile(
            f"{latest.errors:,.0f}",
            f"confident errors expected in the latest batch ({percent(latest.confidence_level)} "
            f"interval {latest.errors_low:,} to {latest.errors_high:,})",
        ),
        Tile(_rate(latest.rate), f"of its {latest.eligible:,} confident predictions"),
        Tile(_rate(latest.audit_rate), "of the confident predictions were wrong at the audit"),
        Tile(f"{latest.promised:,.0f}", "errors that the model's own confidence implies"),
        Tile(
            f"{alarmed:,} of {len(reports):,}",
            f"batches set off an alarm{', judged without labels' if compared else ''}",
        ),
    ]


def _series(reports: Reports, compared: Comparisons) -> Section:
    records = [{"batch": text(name), **vars(r)} for name, r in reports.items()]
    for name, record in zip(reports, records, strict=True):
        if name in compared:
            record["found"] = compared[name].observed / compared[name].eligible
    chart = series_chart(records)
    shown = table(reports, compared)
    grid = Grid.of("Every batch", {str(name): list(shown[name]) for name in shown})
    level = percent(list(reports.values())[-1].confidence_level)
    words = (
        "Each point is the share of a batch's confident predictions that are expected to be wrong, "
        f"with its {level} interval."
    )
    if compared:
        words += " The other line is the share that was wrong among rows whose labels are known."
    figure = Figure("series", chart.title, words, svg(chart, "series", words), grid)
    title = "Confident errors to expect, batch by batch"
    return Section("series", title, "Batches", figures=[figure])


def _labels(reports: Reports, compared: Comparisons) -> list[Section]:
    """Return whether the estimates held, where labels are known."""
    if not compared:
        return []
    known = {name: compared[name] for name in reports if name in compared}
    grid = Grid.of(
        "Batches with labels",
        {
            "batch": [text(name) for name in known],
            "rows with labels": [count(c.labelled) for c in known.values()],
            "confident": [count(c.eligible) for c in known.values()],
            "errors expected among them": [f"{c.expected:,.0f}" for c in known.values()],
            "interval": [f"{c.low:,} to {c.high:,}" for c in known.values()],
            "errors found": [count(c.observed) for c in known.values()],
            "estimate held": ["yes" if c.held else "no" for c in known.values()],
        },
    )
    held = sum(c.held for c in known.values())
    lead = [
        _watch(compared).sentence,
        f"The estimate held in {held:,} of {len(known):,} batches with labels.",
    ]
    return [Section("labels", "What the labels say", "Labels", lead=lead, grids=[grid])]


def _changes(reports: Reports) -> list[Section]:
    """Return what changed in the batches that set off an alarm, and in the latest."""
    chosen = [name for name, r in reports.items() if r.alarm != "as_audited"][-BATCHES:]
    latest = list(reports)[-1]
    names = chosen if latest in chosen else [*chosen, latest]
    grids = []
    for name in names:
        report = reports[name]
        changed = report.drift[report.drift["changed"]].head(CHANGES)
        caption = f"What changed in batch {text(name)}, largest change first"
        if changed.empty:
            caption = f"Batch {text(name)}: no column and no signal has changed noticeably"
        lines: dict[str, list[str]] = {
            "column or signal": [_name(line) for line in changed.to_dict("records")],
            "kind": list(changed["what"]),
            "size of the change (0 none, 1 complete)": [f"{v:.2f}" for v in changed["distance"]],
        }
        grids.append(Grid.of(caption, lines))
    apart = reports[latest].domain_auroc
    lead = [
        "A classifier tells rows of the latest batch from audited rows with an AUROC of "
        f"{apart:.2f} (0.5: no better than chance; 1: perfectly)."
    ] if not undefined(apart) else []  # fmt: skip
    return [Section("changes", "What changed since the audit", "Changes", lead=lead, grids=grids)]


def _name(change: dict[str, Any]) -> str:
    """Return a column as it is called, or a signal in words."""
    signal = BY_NAME.get(change["name"]) if change["what"] == "signal" else None
    return text((signal and (signal.label or signal.doubt)) or change["name"])


def _limits() -> Section:
    return Section(
        "limits",
        "What this cannot show",
        "Limits",
        points=[
            UNSEEN,
            "The estimate holds for rows like the audited ones. If a batch is unlike them, label "
            "some of its rows and audit again.",
        ],
    )


def _rate(value: Any) -> str:
    return "none" if undefined(value) else (rate(value) if value < 0.1 else share(value))
