"""`inspect` and `score`: a saved audit looked at, and used on files of any size."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Any

import typer

from falcon_discover.cli.common import (
    AsJson,
    EngineName,
    Jobs,
    Quiet,
    Scheduler,
    Workers,
    command,
    command_to_trust,
    counted,
    echo,
    echo_json,
    is_dask,
)
from falcon_discover.runtime import progress
from falcon_discover.settings import PAPER

Saved = Annotated[Path, typer.Argument(help="Audit that FalconDiscover.save wrote.")]
resumable = functools.partial(command, kept="finished parts are kept, the same command goes on")
SHOWN_NOTES = 5


@command
def inspect(saved: Saved, as_json: AsJson = False) -> None:
    """Say what is in a saved audit, without loading it."""
    from falcon_discover.storage.archive import Archive

    archive = Archive.open(saved)
    manifest = archive.manifest
    if as_json:
        echo_json(manifest)
        return
    kinds = list(manifest["columns"].values())
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    echo(f"{saved}: {_size(saved.stat().st_size)}, schema {manifest['schema']}, whole\n")
    facts = {
        "model": manifest["model"].get("name", manifest["model"]["backbone"]),
        "classes": _classes(manifest["classes"]),
        "columns": f"{len(kinds)} ({counts})",
        "threshold": _levels(manifest),
        "ranker": manifest["ranker"],
        "training rows": _rows(manifest),
        **_learned(manifest),
        "category values": f"{manifest['category_values']:,} texts that occurred in training rows",
        "versions": ", ".join(f"{name} {v}" for name, v in manifest["versions"].items()),
    }
    for name, value in facts.items():
        echo(f"{name:<16} {value}")
    echo("\nparts, unpacked")
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
    decided = f"; {manifest['classes'][1]} is decided from {threshold:g} on"
    return shown if threshold == PAPER.decision_threshold else shown + decided


def _rows(manifest: dict[str, Any]) -> str:
    about = manifest["reference"]
    if about["kept"] == "none":
        return f"none of {about['of']:,}; rows can be ranked by gated confidence only"
    checked = about["validation_rows"]
    also = f", and {checked:,} validation rows by their signals" if checked else ""
    share = "all" if about["kept"] == "full" else "a sample"
    words = f"{share}, {about['rows']:,} of {about['of']:,}, with their values and labels{also}"
    recall = about.get("recall", 1.0)
    return words if recall == 1 else f"{words}; {recall:.1%} of the nearest are found"


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
        list[Path], typer.Argument(help="Parquet files, or folders of them; CSV is read whole.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")],
    identity: Annotated[
        str | None, typer.Option("--id", help="Column that identifies a row; else file and row.")
    ] = None,
    proba: Annotated[
        list[str] | None,
        typer.Option(
            help="For an audit of predictions: the column of their scores; or one for each class, "
            "called by it: p_a,p_b."
        ),
    ] = None,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    workers: Workers = 2,
    part_rows: Annotated[int, typer.Option(help="Rows per output file.")] = 100_000,
    trust: Annotated[
        list[str] | None, typer.Option(help="Type in the audit to trust; may be repeated.")
    ] = None,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Score files of any size; may be interrupted and started again.

    Example: falcon-discover score audit.falcon rows.parquet --out scores
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
        )
    for note in done.notes[:SHOWN_NOTES]:
        echo(f"note: {note}")
    if len(done.notes) > SHOWN_NOTES:
        echo(f"and {len(done.notes) - SHOWN_NOTES} more notes of this kind")
    echo(
        f"{counted(done.rows, 'row')} in {counted(done.parts, 'part')} in {out}, "
        f"{done.scored_now} of them done now."
    )
