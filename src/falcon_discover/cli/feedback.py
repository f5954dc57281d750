"""`feedback`: what reviewers' marks say about an audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from falcon_discover.cli.common import AsJson, command, echo
from falcon_discover.exceptions import InputError


@command
def feedback(
    audited: Annotated[Path, typer.Argument(help="Folder that audit or demo wrote.")],
    marks: Annotated[Path, typer.Argument(help="Marks downloaded from the report, a CSV file.")],
    as_json: AsJson = False,
) -> None:
    """Compare reviewers' marks with the risk that was predicted."""
    from falcon_discover.files import read_table
    from falcon_discover.report.feedback import feedback as compare

    for name in ("review.parquet", "summary.json"):
        if not (audited / name).is_file():
            raise InputError(f"{audited} has no {name}: give the folder that audit wrote.")
    settings = json.loads((audited / "summary.json").read_text(encoding="utf-8"))["settings"]
    found = compare(
        read_table(audited / "review.parquet"),
        read_table(marks),
        tau=settings["tau"],
        ranker=settings["ranker"],
        severity=settings.get("severity", "count"),
    )
    echo(json.dumps(found.to_dict(), indent=2) if as_json else repr(found))
