"""`monitor`: how many confident errors to expect in rows without labels, batch by batch."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from falcon_discover.cli.common import (
    DATA,
    OUTPUT,
    REVIEW,
    EngineName,
    GivenScores,
    Jobs,
    Quiet,
    Scheduler,
    Trusted,
    Workers,
    command,
    command_to_trust,
    echo,
    is_dask,
    paragraph,
)
from falcon_discover.cli.score import Saved
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import progress
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.scoring.watch import Watched

ALARMED = 3
# Worse than any alarm that needs no labels.
AUDIT_AGAIN = "audit_again"
# More lines than a screen has help nobody; the files have all of them.
SHOWN = 20
MONITOR_EXAMPLES = """Examples:

falcon-discover monitor audit.falcon march.parquet --by date --every week --out watch

falcon-discover monitor audit.falcon today.csv --fail-on more_errors_expected

falcon-discover monitor audit.falcon labelled.parquet --by date --every month --target outcome"""
resumable = functools.partial(
    command, kept="With --out, finished parts are kept; run the same command again to resume"
)


@resumable
def monitor(
    saved: Saved,
    data: Annotated[
        list[Path],
        typer.Argument(help="New rows: parquet files or folders of them; CSV is read whole."),
    ],
    by: Annotated[
        str | None,
        typer.Option(
            help="Column that says which batch a row is in. Default: each file is a batch.",
            rich_help_panel=DATA,
        ),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            help="Group the dates in --by: day, week, month, quarter or year. Default: day.",
            rich_help_panel=DATA,
        ),
    ] = None,
    proba: GivenScores = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="Column with the labels known so far, empty elsewhere: compares the errors found "
            "with those expected.",
            rich_help_panel=DATA,
        ),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            help="Exit with code 3 if a batch has this alarm or a worse one: "
            "more_errors_expected, unlike_audited or, with --target, audit_again.",
            rich_help_panel=REVIEW,
        ),
    ] = None,
    confidence_level: Annotated[
        float,
        typer.Option(min=0.5, max=0.999, help="Level of the intervals.", rich_help_panel=REVIEW),
    ] = PAPER.interval_level,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the page, batches.csv and batches.jsonl. Lets a run resume.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print only JSON, one line per batch.", rich_help_panel=OUTPUT),
    ] = False,
    quiet: Quiet = False,
    trust: Trusted = None,
    part_rows: Annotated[
        int, typer.Option(help="Rows to read at a time.", rich_help_panel=OUTPUT)
    ] = 100_000,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    workers: Workers = 2,
    jobs: Jobs = -1,
) -> None:
    """Estimate the confident errors in rows without labels, and show what changed.

    Each batch gets an expected number of confident errors with an interval, and an alarm:
    as_audited, more_errors_expected or unlike_audited. With --target, the errors that were found
    are compared with those expected.

    Files may be of any size; a million rows take a few minutes.
    """
    from falcon_discover.cli.by_class import named_columns
    from falcon_discover.monitoring.alarm import ALARMS
    from falcon_discover.scoring import run
    from falcon_discover.scoring.watch import PAGE, watch_files

    levels = (*ALARMS, AUDIT_AGAIN)
    if fail_on is not None and fail_on not in levels[1:]:
        raise InputError(f"--fail-on is {fail_on!r}: choose one of {', '.join(levels[1:])}.")
    if fail_on == AUDIT_AGAIN and target is None:
        raise InputError(f"--fail-on {AUDIT_AGAIN} needs labels: name their column with --target.")
    trusted = trust or []
    if is_dask(engine, scheduler):
        from falcon_discover.scoring.cluster import dask_engine

        chosen = dask_engine(scheduler, workers=workers, trusted=trusted)
    else:
        chosen = run.local(trusted=trusted, n_jobs=jobs)
    with command_to_trust(), progress.silent() if quiet or as_json else progress.logged():
        found = watch_files(
            saved,
            data,
            out,
            by=by,
            every=every,
            engine=chosen,
            part_rows=part_rows,
            proba=named_columns(proba or (), ()),
            target=target,
            confidence_level=confidence_level,
            trusted=trusted,
        )
    page = None if out is None else out / PAGE
    if as_json:
        for line in found.lines():
            echo(line)
    else:
        _tell(found, page, quiet=quiet)
    given = [report.alarm for report in found.reports.values()]
    worst = AUDIT_AGAIN if found.audit_again else max(given, key=levels.index, default=levels[0])
    if fail_on is not None and levels.index(worst) >= levels.index(fail_on):
        raise typer.Exit(ALARMED)


def _tell(found: Watched, page: Path | None, *, quiet: bool) -> None:
    from falcon_discover.report.series import overview, table

    for note in found.notes:
        echo(f"note: {note}", err=True)
    if quiet:
        if page is not None:
            echo(str(page))
        return
    lines = table(found.reports, found.comparisons)
    if len(lines) > SHOWN:
        echo(f"The latest {SHOWN} of {len(lines):,} batches:\n")
    echo(lines.tail(SHOWN).to_string(index=False))
    echo()
    for words in overview(found.reports, found.comparisons):
        paragraph(words)
    if page is not None:
        echo(f"Next: open {page}")
