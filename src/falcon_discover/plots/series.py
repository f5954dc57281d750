"""Confident errors to expect, batch by batch, as a chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from falcon_discover.plots.chart import Area, Axis, Chart, Line, Text, few
from falcon_discover.runtime.format import count, undefined
from falcon_discover.runtime.words import rate

# More names of batches than this would lie on each other.
NAMES = 6
STYLES = {"more_errors_expected": "c4", "unlike_audited": "c5"}
ALARM_NAMES = {
    "as_audited": "as audited",
    "more_errors_expected": "more errors expected",
    "unlike_audited": "unlike the audited rows",
}


def series_chart(batches: Sequence[dict[str, Any]]) -> Chart:
    """Return the expected rate of confident errors of each batch, with its interval and alarm.

    Parameters
    ----------
    batches : the figures of each batch under the names of `BatchReport`, and its name as `batch`;
        where labels are known, the rate that was found as `found`
    """
    known = [(i + 0.5, b) for i, b in enumerate(batches) if not undefined(b["rate"])]
    usual = next((b["audit_rate"] for _, b in known if not undefined(b["audit_rate"])), None)
    ends = [max(b["rate_high"], b.get("found", 0.0)) for _, b in known]
    top = 1.1 * max([*ends, usual or 0.0], default=0.0) or 1.0
    layers: list[Line | Area | Text] = []
    if usual is not None:
        rule = [(0.0, usual), (float(len(batches)), usual)]
        layers.append(Line(rule, "rule strong", "rate at the audit"))
    layers += [Line([(x, b[k]) for k in ("rate_low", "rate_high")], "whisker c1") for x, b in known]
    notes = {i: _note(b) for i, (_, b) in enumerate(known)}
    points = [(x, b["rate"]) for x, b in known]
    layers.append(Line(points, "c1 plain", "expected rate, with its interval", notes))
    found = [(x, b) for x, b in known if "found" in b]
    if found:
        seen = {i: f"{b['batch']}: {rate(b['found'])} were wrong" for i, (_, b) in enumerate(found)}
        line = [(x, b["found"]) for x, b in found]
        layers.append(Line(line, "c0", "found, where labels are known", seen))
    for alarm, style in STYLES.items():
        marked = [(x, b) for x, b in known if b["alarm"] == alarm]
        for number, (x, b) in enumerate(marked):
            name = "" if number else ALARM_NAMES[alarm]
            layers.append(Line([(x, b["rate"])], style, name, {0: _note(b)}))
    return Chart(
        _title(batches),
        Axis("batch", 0, max(len(batches), 1), names=few([b["batch"] for b in batches], NAMES)),
        Axis("confident errors", 0, top, rate),
        layers,
    )


def _title(batches: Sequence[dict[str, Any]]) -> str:
    alarmed = sum(b["alarm"] != "as_audited" for b in batches)
    if not alarmed:
        return "Confident errors to expect: every batch is as audited"
    return f"Confident errors to expect: {alarmed:,} of {len(batches):,} batches set off an alarm"


def _note(batch: dict[str, Any]) -> str:
    expected = f"{batch['errors']:,.0f} of {count(batch['eligible'])} expected to be wrong"
    return f"{batch['batch']}: {expected}, {ALARM_NAMES[batch['alarm']]}"
