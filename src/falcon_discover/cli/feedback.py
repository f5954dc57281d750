"""`feedback`: what reviewers' marks say about an audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from falcon_discover.cli.common import AsJson, command, echo, echo_json
from falcon_discover.exceptions import InputError


@command
def feedback(
    audited: Annotated[Path, typer.Argument(help="Folder that audit or demo wrote.")],
    marks: Annotated[Path, typer.Argument(help="Marks downloaded from the report, a CSV file.")],
    as_json: AsJson = False,
) -> None:
    """Compare reviewers' marks with the risk that was predicted."""
    from falcon_discover.data.files import read_table
    from falcon_discover.report.feedback import feedback as compare
    from falcon_discover.report.rows import LIST_COLUMNS
    from falcon_discover.runtime.atomic import settle

    settle(audited)
    for name in ("review.parquet", "summary.json"):
        if not (audited / name).is_file():
            raise InputError(f"{audited} has no {name}: give the folder that audit wrote.")
    review = read_table(audited / "review.parquet")
    # What identifies a row is compared as it was written: 007 is not 7.
    identity = [str(name) for name in review.columns if name not in LIST_COLUMNS]
    found = compare(
        review, read_table(marks, text_columns=identity), **_settings(audited / "summary.json")
    )
    if as_json:
        echo_json(found.to_dict())
    else:
        echo(repr(found))


def _settings(path: Path) -> dict[str, Any]:
    """Return what the audit was made with, or say that its summary is not as it was written."""
    from falcon_discover.rankers.gated import SEVERITIES

    try:
        settings = json.loads(path.read_text(encoding="utf-8"))["settings"]
        known = {name: settings[name] for name in ("tau", "ranker", "severity")}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path} is not the summary that audit writes: run it again.") from error
    by_class = known["tau"] if isinstance(known["tau"], dict) else {"": known["tau"]}
    levels = list(by_class.values())
    if not levels or not all(isinstance(v, int | float) and 0.5 <= v <= 1 for v in levels):
        raise InputError(f"{path} holds the threshold {known['tau']!r}: run the audit again.")
    if known["severity"] not in SEVERITIES or not isinstance(known["ranker"], str):
        raise InputError(f"{path} names a ranker that audit does not know: run it again.")
    return known
