"""`feedback`: what reviewers' marks say about an audit."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from falcon_discover.cli.common import AsJson, command, echo, echo_json
from falcon_discover.exceptions import InputError

FEEDBACK_EXAMPLE = "Example: falcon-discover feedback falcon-report marks.csv"


@command
def feedback(
    audited: Annotated[
        Path, typer.Argument(help="Folder written by audit, demo or score --queue.")
    ],
    marks: Annotated[Path, typer.Argument(help="Marks downloaded from the page: a CSV file.")],
    as_json: AsJson = False,
) -> None:
    """Compare reviewers' marks with the predicted risk. Takes seconds."""
    from falcon_discover.data.files import read_table
    from falcon_discover.monitoring.learn import enough_marks
    from falcon_discover.report.feedback import feedback as compare
    from falcon_discover.report.rows import LIST_COLUMNS

    listed, summary = _files(audited)
    review = read_table(listed)
    # What identifies a row is compared as it was written: 007 is not 7.
    identity = [str(name) for name in review.columns if name not in LIST_COLUMNS]
    found = compare(review, read_table(marks, text_columns=identity), **_settings(summary))
    # Rows whose labels the audit knows teach it nothing.
    whole = found.table.iloc[0]
    enough = "actual" not in review.columns and enough_marks(
        int(whole["rows"]), int(whole["wrong"])
    )
    if as_json:
        echo_json(found.to_dict() | {"enough_to_learn": enough})
        return
    echo(found.text())
    if enough:
        echo(
            "\nEnough marks to learn from. Next, with the saved audit and the file of these rows:\n"
            f"  falcon-discover learn AUDIT.falcon {shlex.quote(str(marks))} ROWS.csv "
            "--save LEARNED.falcon"
        )


def _files(folder: Path) -> tuple[Path, Path]:
    """Return the review list and the summary that an audit or a review queue left in a folder."""
    from falcon_discover.runtime.atomic import settle
    from falcon_discover.scoring.queue import FOLDER, SUMMARY, TABLE

    for place in (folder, folder / FOLDER):
        settle(place)
        if (place / TABLE).is_file() and (place / SUMMARY).is_file():
            return place / TABLE, place / SUMMARY
    for name in ("review.parquet", "summary.json"):
        if not (folder / name).is_file():
            raise InputError(
                f"{folder} has no {name}: give the folder that audit or score --queue wrote."
            )
    return folder / "review.parquet", folder / "summary.json"


def _settings(path: Path) -> dict[str, Any]:
    """Return what the audit was made with, or say that its summary is not as it was written."""
    from falcon_discover.rankers.gated import SEVERITIES

    try:
        settings = json.loads(path.read_text(encoding="utf-8"))["settings"]
        known = {name: settings[name] for name in ("tau", "ranker", "severity")}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path} is not a summary written by audit: run the audit again."
        ) from error
    by_class = known["tau"] if isinstance(known["tau"], dict) else {"": known["tau"]}
    levels = list(by_class.values())
    if not levels or not all(isinstance(v, int | float) and 0.5 <= v <= 1 for v in levels):
        raise InputError(f"{path} has the threshold {known['tau']!r}: run the audit again.")
    if known["severity"] not in SEVERITIES or not isinstance(known["ranker"], str):
        raise InputError(f"{path} names an unknown ranker: run the audit again.")
    return known
