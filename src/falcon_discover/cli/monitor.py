"""`monitor`: how many confident errors to expect in rows without labels, batch by batch."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from falcon_discover.cli.common import (
    EngineName,
    Jobs,
    Quiet,
    Scheduler,
    Workers,
    command,
    command_to_trust,
    counted,
    echo,
    is_dask,
)
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import progress
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.scoring.watch import Watched

ALARMED = 3
# More lines than a screen has help nobody; the files have all of them.
SHOWN = 20
resumable = functools.partial(
    command, kept="finished parts are kept if you gave --out; run the same command again to resume"
)


@resumable
def monitor(
    saved: Annotated[Path, typer.Argument(help="Audit that `audit --save` wrote.")],
    data: Annotated[
        list[Path],
        typer.Argument(help="Parquet files or folders of them, or CSV files; no labels needed."),
    ],
    by: Annotated[
        str | None,
        typer.Option(help="Column that says which batch a row is in; else each file is a batch."),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(help="With dates in --by: day, week, month, quarter or year."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the page, batches.csv and batches.jsonl; makes runs resume."),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            help="Exit with code 3 if a batch has this alarm or a worse one: "
            "more_errors_expected, unlike_audited."
        ),
    ] = None,
    proba: Annotated[
        list[str] | None,
        typer.Option(help="For an audit of predictions: column of their scores; or one a class."),
    ] = None,
    confidence_level: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Of the intervals.")
    ] = PAPER.interval_level,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a line of JSON for each batch, nothing else.")
    ] = False,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    workers: Workers = 2,
    part_rows: Annotated[int, typer.Option(help="Rows that are read at a time.")] = 100_000,
    trust: Annotated[
        list[str] | None, typer.Option(help="Type in the audit to trust; may be repeated.")
    ] = None,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Estimate the confident errors in rows without labels, and say what changed.

    Reads files of any size in parts: about a minute for a million rows. Each file is a batch unless
    --by names a column. The exit code is 0; with --fail-on it is 3 if a batch sets off the alarm.

    Example: falcon-discover monitor audit.falcon march.parquet --by date --every week --out watch
    """
    from falcon_discover.cli.by_class import named_columns
    from falcon_discover.monitoring.batch import ALARMS
    from falcon_discover.scoring import run
    from falcon_discover.scoring.watch import watch_files

    worse = ALARMS[1:]
    if fail_on is not None and fail_on not in worse:
        raise InputError(f"--fail-on is {fail_on!r}: choose one of {', '.join(worse)}.")
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
            confidence_level=confidence_level,
            trusted=trusted,
        )
    page = None if out is None else _page(found, saved, out)
    if as_json:
        for line in found.lines():
            echo(line)
    else:
        _tell(found, page, quiet=quiet)
    alarms = [report.alarm for report in found.reports.values()]
    if fail_on is not None and any(ALARMS.index(a) >= ALARMS.index(fail_on) for a in alarms):
        raise typer.Exit(ALARMED)


def _page(found: Watched, saved: Path, out: Path) -> Path:
    from falcon_discover.report.series import write_series

    return write_series(found.reports, out / "monitor.html", audit=saved.name)


def _tell(found: Watched, page: Path | None, *, quiet: bool) -> None:
    from falcon_discover.report.series import overview, table

    for note in found.notes:
        echo(f"note: {note}", err=True)
    if not quiet:
        lines = table(found.reports)
        if len(lines) > SHOWN:
            echo(f"The latest {SHOWN} of {counted(len(lines), 'batch').replace('hs', 'hes')}:\n")
        echo(lines.tail(SHOWN).to_string(index=False))
        echo()
        echo(overview(found.reports))
    if page is not None:
        echo(f"\n{page}" if not quiet else str(page))
