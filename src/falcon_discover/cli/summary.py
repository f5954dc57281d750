"""What `audit` and `demo` print: the judgement first, the next step last, all on one screen."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from falcon_discover.audit.costs import BY_COST
from falcon_discover.audit.review import FAVOUR
from falcon_discover.cli.common import echo, paragraph
from falcon_discover.report.sections import score_words
from falcon_discover.runtime.words import budget_words, number_of, percent, rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from falcon_discover.cli.request import Audit, AuditRequest
    from falcon_discover.evaluation.results import Evaluation

FIRST_ROWS = 2
FIRST_NOTES = 2
# The interval of a risk, which the report has.
_INTERVAL = re.compile(r"^(Risk about [^(.]+) \([^)]*\)")


def show(result: Audit, identity: str | None, *, details: bool) -> None:
    """Print what was found; with `details` all tables too."""
    evaluation = result.evaluation
    paragraph(evaluation.verdict())
    if evaluation.design:
        paragraph(evaluation.design)
    for text in (reviews_per_error(evaluation), cost_found(evaluation)):
        if text:
            paragraph(text)
    if details:
        echo(f"\n{evaluation.figures()}")
    _first_rows(result.review, identity)
    bound, periods, regions = result.guarantee or result.missed, result.periods, result.regions
    echo()
    for line in (repr(bound) if details else bound.statement()).splitlines():
        paragraph(line)
    if periods is not None:
        echo("\nOver time:")
        for line in (repr(periods) if details else periods.words()).splitlines():
            paragraph(line)
    echo()
    for line in (repr(regions) if details else regions.brief()).splitlines():
        paragraph(line, indent=4)
    _notes(result.summary)
    how = result.summary["how"]
    what = how.get("model", "the predictions given")
    rows = f" ({how['rows']})" if details else ""
    echo()
    paragraph(f"Audited: {what}{rows}; {score_words(result.summary['data'])}.")


def reviews_per_error(evaluation: Evaluation) -> str:
    """Return how many reviews it takes to find one error, by budget and at random."""
    ends = _smallest_and_largest(evaluation, evaluation.ranker)
    ends = ends[ends["captured"] > 0]
    if ends.empty:
        return ""
    parts = [
        f"{rounded(line.reviewed / line.captured)} in the riskiest {budget_words(line.budget)}"
        for line in ends.itertuples()
    ]
    random = rounded(float(ends["rows"].iloc[0] / ends["events"].iloc[0]))
    return f"Reviews per error: {', '.join(parts)}, {random} at random."


def cost_found(evaluation: Evaluation) -> str:
    """Return which share of the errors' cost a review by expected cost finds; "" without costs."""
    if "captured_cost" not in evaluation.captures:
        return ""
    ends = _smallest_and_largest(evaluation, BY_COST).dropna(subset="captured_cost")
    parts = [
        f"{percent(line.captured_cost)} in the top {budget_words(line.budget)}"
        for line in ends.itertuples()
    ]
    if not parts:
        return ""
    return f"Share of the cost of confident errors found by expected cost: {', '.join(parts)}."


def _smallest_and_largest(evaluation: Evaluation, ranker: str) -> pd.DataFrame:
    """Return what a ranker finds with the smallest and the largest budget."""
    found = evaluation.captures
    own = found[(found["tau"] == evaluation.tau) & (found["ranker"] == ranker)]
    return own.sort_values("reviewed").iloc[[0, -1]].drop_duplicates("budget")


def next_step(
    out: Path, page: str, save: Path | None, request: AuditRequest, alerts: Sequence[str]
) -> str:
    """Return what to do now, as commands to paste where there are any."""
    if alerts:
        return f"Next: settle the warning above before you use any figure. Report: {out / page}"
    open_it = f"Next: open {out / page} and check the riskiest rows."
    if save is None:
        return open_it
    words = ["falcon-discover", "score", str(save), "NEW_ROWS", "--out", "scores", "--queue", "50"]
    if request.proba:
        words += ["--proba", ",".join(request.proba)]
    if request.identity is not None:
        words += ["--id", request.identity]
    return f"{open_it} To get a review queue of new rows:\n  {shlex.join(words)}"


def _first_rows(review: pd.DataFrame, identity: str | None) -> None:
    echo("\nReview first:")
    if review.empty:
        echo("  nothing: no row is in the review list.")
    for row in review.head(FIRST_ROWS).to_dict("records"):
        paragraph(f"  {_name(row, identity)}: predicted {row['predicted']!r}. {_doubts(row)}", 4)


def _name(row: dict[str, Any], identity: str | None) -> str:
    return f"row {row['row']}" if identity is None else f"{identity} {row[identity]}"


def _doubts(row: dict[str, Any]) -> str:
    """Return why a row is listed; what speaks for its prediction is in the report."""
    return _INTERVAL.sub(r"\1", str(row["reason"]).split(FAVOUR)[0])


def _notes(summary: dict[str, Any]) -> None:
    notes = [note for note in summary["notes"] if note not in summary["alerts"]]
    if notes:
        echo()
    for note in notes[:FIRST_NOTES]:
        paragraph(f"note: {note}", indent=2)
    rest = len(notes) - FIRST_NOTES
    if rest > 0:
        echo(f"{number_of(rest, 'more note')} in the report.")
