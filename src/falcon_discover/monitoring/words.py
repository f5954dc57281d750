"""A batch report in words: terminal, notebook, and the sentence that dashboards show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from falcon_discover.runtime.words import counted, level, percent, rate

if TYPE_CHECKING:
    from falcon_discover.monitoring.batch import BatchReport

UNSEEN = (
    "A changed labelling rule cannot be seen without labels: check a few labels from time to time."
)
HEADLINES = {
    "as_audited": "As audited.",
    "more_errors_expected": "More confident errors expected than at the audit.",
    "unlike_audited": "Unlike the audited rows: do not rely on this estimate.",
}
NEXT = {
    "as_audited": "No action needed.",
    "more_errors_expected": "Review more of these rows, riskiest first, and look at what changed.",
    "unlike_audited": "Check the source of these rows, label some of them and audit again.",
}
SHOWN = 5


def expected(report: BatchReport) -> str:
    """Return how the batch compares with the audit, and what to expect of it."""
    return f"{HEADLINES[report.alarm]} {_estimate(report)}"


def sentence(report: BatchReport) -> str:
    """Return what to expect, what to do, and what cannot be seen."""
    return f"{expected(report)} {next_step(report)}"


def _estimate(report: BatchReport) -> str:
    if not report.eligible:
        return (
            f"None of the {report.rows:,} predictions is at least {level(report.tau)} sure, so "
            "there are no confident errors."
        )
    return (
        f"{_capital(counted(report.errors))} of {report.eligible:,} confident predictions are "
        f"expected to be wrong ({percent(report.confidence_level)} interval {report.errors_low:,} "
        f"to {report.errors_high:,})."
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def headline(report: BatchReport) -> str:
    """Return the verdict and the figures behind it, a line each."""
    return "\n".join([HEADLINES[report.alarm], *_lines(report)])


def told(report: BatchReport) -> str:
    """Return the report as it prints itself, without the next step."""
    parts = [HEADLINES[report.alarm], "", *_lines(report)]
    changed = report.drift[report.drift["changed"]]
    if len(changed):
        parts += ["", f"Changed since the audit ({len(changed)} of {len(report.drift)}):"]
        parts += [_change(line) for line in changed.head(SHOWN).itertuples()]
    return "\n".join(parts)


def next_step(report: BatchReport) -> str:
    """Return what to do, and what to keep an eye on whatever the alarm."""
    return f"{NEXT[report.alarm]} {UNSEEN}"


def _lines(report: BatchReport) -> list[str]:
    lines = [_estimate(report)]
    if report.eligible:
        lines.append(
            f"That is {rate(report.rate)} of them; {_then(report)}. "
            f"The model's own confidence implies {counted(report.promised)}."
        )
    lines.append(
        f"Confident: {report.eligible:,} of {report.rows:,} rows "
        f"({percent(report.eligible_share)}); at the audit {percent(report.audit_eligible_share)}."
    )
    if not math.isnan(report.domain_auroc):
        lines.append(
            "A classifier tells these rows from the audited ones with an AUROC of "
            f"{report.domain_auroc:.2f} (0.5: no better than chance; 1: perfectly)."
        )
    return lines


def _then(report: BatchReport) -> str:
    if math.isnan(report.audit_rate):
        return "at the audit no prediction was confident"
    return f"at the audit it was {rate(report.audit_rate)}"


def _change(line: object) -> str:
    return f"  {line.name} ({line.what}): distance {line.distance:.2f}"  # type: ignore[attr-defined]
