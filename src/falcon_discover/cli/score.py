"""`inspect` and `score`: a saved audit looked at, and used on files of any size."""

from __future__ import annotations

import functools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from falcon_discover.cli.common import (
    DATA,
    OUTPUT,
    REVIEW,
    AsJson,
    EngineName,
    GivenScores,
    Jobs,
    Quiet,
    Scheduler,
    Trusted,
    Workers,
    budget_of,
    command,
    command_to_trust,
    echo,
    echo_json,
    is_dask,
    paragraph,
)
from falcon_discover.runtime import progress
from falcon_discover.runtime.words import number_of, rounded
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.scoring.run import Run

Saved = Annotated[
    Path, typer.Argument(help="Saved audit, written by 'audit --save' or FalconDiscover.save.")
]
resumable = functools.partial(
    command, kept="Finished parts are kept; run the same command again to resume"
)
SHOWN_NOTES = 5
INSPECT_EXAMPLE = "Example: falcon-discover inspect audit.falcon"
SCORE_EXAMPLES = """Examples:

falcon-discover score audit.falcon new_rows.parquet --out scores --id customer_id --queue 50

falcon-discover score audit.falcon rows/ --out scores --engine dask --workers 8"""


@command
def inspect(saved: Saved, as_json: AsJson = False) -> None:
    """Show what a saved audit contains, without loading it. Takes a second."""
    from falcon_discover.storage.archive import Archive

    archive = Archive.open(saved)
    manifest = archive.manifest
    if as_json:
        echo_json(manifest)
        return
    kinds = list(manifest["columns"].values())
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    echo(f"{saved}: {_size(saved.stat().st_size)}, schema {manifest['schema']}, checksums OK\n")
    facts = {
        "model": manifest["model"].get("name", manifest["model"]["backbone"]),
        "classes": _classes(manifest["classes"]),
        "columns": f"{len(kinds)} ({counts})",
        "threshold": _levels(manifest),
        "ranker": manifest["ranker"],
        "training rows": _rows(manifest),
        **_learned(manifest),
        "category values": f"{manifest['category_values']:,} category names from training rows",
        "versions": ", ".join(f"{name} {v}" for name, v in manifest["versions"].items()),
    }
    for name, value in facts.items():
        echo(f"{name:<16} {value}")
    echo("\nparts (size when unpacked)")
    for name, part in manifest["parts"].items():
        echo(f"  {name:<26} {_size(part['bytes']):>10}")


def _classes(names: list[str]) -> str:
    return f"{names[0]} and {names[1]} (positive)" if len(names) == 2 else ", ".join(names)


def _levels(manifest: dict[str, Any]) -> str:
    tau, threshold = manifest["tau"], manifest.get("threshold", PAPER.decision_threshold)
    if isinstance(tau, list):
        pairs = zip(manifest["classes"], tau, strict=True)
        shown = ", ".join(f"{name} {value:g}" for name, value in pairs)
    else:
        shown = f"{tau:g}"
    decided = f"; {manifest['classes'][1]} is predicted from {threshold:g}"
    return shown if threshold == PAPER.decision_threshold else shown + decided


def _rows(manifest: dict[str, Any]) -> str:
    about = manifest["reference"]
    if about["kept"] == "none":
        return f"none of {about['of']:,}; new rows can only be ranked by gated confidence"
    checked = about["validation_rows"]
    also = f"; also the signals of {checked:,} validation rows" if checked else ""
    share = "all" if about["kept"] == "full" else "a sample"
    words = f"{share}, {about['rows']:,} of {about['of']:,}, with their values and labels{also}"
    recall = about.get("recall", 1.0)
    return words if recall == 1 else f"{words}; {recall:.1%} of nearest neighbours found"


def _learned(manifest: dict[str, Any]) -> dict[str, str]:
    about = manifest.get("learned")
    if about is None:
        return {}
    seen = f"{about['rows']:,} reviewed predictions, {about['wrong']:,} of them wrong"
    return {"learned from": f"{seen}; the states and labels of {about['reviewed_rows']:,} rows"}


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


@resumable
def score(
    saved: Saved,
    data: Annotated[
        list[Path],
        typer.Argument(help="Rows to score: parquet files or folders of them; CSV is read whole."),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the results.", rich_help_panel=OUTPUT)
    ],
    queue: Annotated[
        float | None,
        typer.Option(
            parser=budget_of,
            metavar="SHARE|ROWS",
            help="Also write a review queue: the riskiest 50 rows, or 0.05 of all, with reasons.",
            rich_help_panel=REVIEW,
        ),
    ] = None,
    identity: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column that identifies a row. Default: file and row number.",
            rich_help_panel=DATA,
        ),
    ] = None,
    proba: GivenScores = None,
    trust: Trusted = None,
    part_rows: Annotated[
        int, typer.Option(help="Rows per output file.", rich_help_panel=OUTPUT)
    ] = 100_000,
    quiet: Quiet = False,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    workers: Workers = 2,
    jobs: Jobs = -1,
) -> None:
    """Score new rows with a saved audit, and list the riskiest for review.

    Writes prediction, confidence, suspicion and risk as parquet files to OUT.
    Files may be of any size; a million rows take a few minutes.
    If interrupted, run the same command again to resume.

    --queue adds OUT/_queue/queue.html, a page to work through, and queue.csv.
    Pass the marks that you download from the page to 'feedback'.
    """
    from falcon_discover.cli.by_class import named_columns
    from falcon_discover.scoring import run

    trusted = trust or []
    if is_dask(engine, scheduler):
        from falcon_discover.scoring.cluster import dask_engine

        chosen = dask_engine(scheduler, workers=workers, trusted=trusted)
    else:
        chosen = run.local(trusted=trusted, n_jobs=jobs)
    with command_to_trust(), progress.silent() if quiet else progress.logged():
        done = run.score_files(
            saved,
            data,
            out,
            engine=chosen,
            part_rows=part_rows,
            identity=identity,
            proba=named_columns(proba or (), ()),
            trusted=trusted,
            queue=queue,
        )
    for note in done.notes[:SHOWN_NOTES]:
        echo(f"note: {note}")
    if len(done.notes) > SHOWN_NOTES:
        echo(f"and {number_of(len(done.notes) - SHOWN_NOTES, 'more note')} of this kind")
    paragraph(_found(done))
    echo(
        f"Scores: {number_of(done.parts, 'part')} in {out}, {done.scored_now} of them written now."
    )
    if queue is not None:
        paragraph(_queue(done, out))


def _found(done: Run) -> str:
    """Return what was scored and what to expect of it."""
    sure = (
        f"Scored {number_of(done.rows, 'row')}; {done.eligible:,} of the predictions are confident"
    )
    if done.expected is None or not done.eligible:
        return f"{sure}."
    return f"{sure}, and about {rounded(done.expected)} of those are expected to be wrong."


def _queue(done: Run, out: Path) -> str:
    if done.queue is None:
        return "Review queue: none, because no prediction is confident."
    more = f"falcon-discover feedback {shlex.quote(str(out))} MARKS.csv"
    return (
        f"Next: open {done.queue}, check the {number_of(done.queued, 'riskiest row')}, download "
        f"your marks, and run '{more}'."
    )
