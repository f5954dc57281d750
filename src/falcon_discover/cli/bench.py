"""`bench run | tables | figures | check | beyond | actions | comparators`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from falcon_discover.bench import plan
from falcon_discover.cli.common import (
    MAX_SEED,
    EngineName,
    Jobs,
    Scheduler,
    Workers,
    command,
    echo,
    is_dask,
)
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import progress
from falcon_discover.runtime.words import number_of
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from pandas import DataFrame

    from falcon_discover.bench.loading import Study

bench_app = typer.Typer(
    help="Run the paper's study and rebuild its tables.",
    no_args_is_help=True,
    epilog="Example: falcon-discover bench run --dataset adult --seed 7",
)

STORE = Path("bench-store")
StoreFolder = Annotated[Path, typer.Option("--store", help="Folder with the finished runs.")]
DataSets = Annotated[
    list[str] | None, typer.Option("--dataset", help="Data set. Repeatable; default: all.")
]
Seeds = Annotated[
    list[int] | None,
    typer.Option(
        "--seed", min=0, max=MAX_SEED, help="Seed. Repeatable; default: the paper's four."
    ),
]
Folder = Annotated[Path | None, typer.Option("--out", help="Folder for the files.")]

resumable = functools.partial(
    command, kept="Finished runs are kept; run the same command again to resume"
)


@bench_app.command(epilog="Example: falcon-discover bench run --dataset adult --seed 7")
@resumable
def run(
    store: StoreFolder = STORE,
    dataset: DataSets = None,
    seed: Seeds = None,
    backbone: Annotated[
        list[str] | None, typer.Option("--backbone", help="Model. Repeatable; default: all.")
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            "--part",
            help="paper: the paper's study; states, rankers, actions: our extensions. "
            "Repeatable; default: all, in this order.",
        ),
    ] = None,
    jobs: Jobs = -1,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    workers: Workers = 2,
) -> None:
    """Fit every candidate on every split. Takes hours for all.

    If interrupted, run the same command again to resume.
    """
    from joblib import effective_n_jobs

    from falcon_discover.bench.parts import PARTS, Wanted, do

    n_jobs, spread = effective_n_jobs(jobs), None
    if is_dask(engine, scheduler):
        from falcon_discover.bench.cluster import dask_runs

        # A worker has one core; the others have theirs.
        n_jobs, spread = 1, dask_runs(scheduler, workers=workers)
    names = _known(dataset, (*plan.DATASETS, "miniboone"), "data set") or list(plan.DATASETS)
    for deep in set(backbone or []) & set(plan.DEEP_MODELS):
        raise InputError(
            f"backbone {deep!r} is fitted once and frozen in the study, not cross-fitted: run it "
            f"with the repository's 'python scripts/comparators.py --only {deep}'."
        )
    chosen = _known(backbone, plan.BACKBONES, "backbone")
    wanted = Wanted(store, names, seed or list(PAPER.seeds), chosen)
    for name in _known(part, tuple(PARTS), "part") or PARTS:
        with progress.logged():
            done = do(PARTS[name], wanted, n_jobs, spread)
        echo(
            f"{name}: {number_of(done.finished, 'run')} finished now, "
            f"{done.planned - done.left} of {done.planned} in {store}"
            + (f"; another process is working on {done.left}." if done.left else ".")
        )


def _known(given: list[str] | None, known: tuple[str, ...], what: str) -> list[str]:
    for name in given or []:
        if name not in known:
            raise InputError(f"there is no {what} {name!r}: choose one of {', '.join(known)}.")
    return given or []


@bench_app.command(epilog="Example: falcon-discover bench tables --out tables")
@command
def tables(
    store: StoreFolder = STORE,
    table: Annotated[
        list[str] | None, typer.Option("--table", help="LaTeX label. Default: all.")
    ] = None,
    dataset: DataSets = None,
    out: Folder = None,
) -> None:
    """Rebuild the paper's tables from finished runs, without fitting anything.

    Prints Markdown; --out also writes CSV and LaTeX.
    """
    from falcon_discover.bench.output import build, markdown, wide, write_tables

    study = _study(store, dataset)
    built = build(study, table)
    for label, cells in built.items():
        echo(f"\n{label}\n\n{markdown(wide(cells))}")
    if out is not None:
        write_tables(built, study, out)
        echo(f"\n{number_of(len(built), 'table')} in {out}")


@bench_app.command(epilog="Example: falcon-discover bench beyond --out beyond")
@command
def beyond(store: StoreFolder = STORE, dataset: DataSets = None, out: Folder = None) -> None:
    """Show what goes beyond the paper: gated rankers, calibrated risk, the guarantee.

    Reads finished runs and fits nothing.
    """
    from falcon_discover.bench.figures import draw_beyond
    from falcon_discover.bench.output import beyond_tables
    from falcon_discover.bench.ranker_study import summary

    built = beyond_tables(_study(store, dataset))
    _show_and_write(built, out)
    echo(f"\n{summary(built)}")
    if out is not None:
        drawn = draw_beyond(built, out)
        echo(f"\n{number_of(len(built), 'table')} and {number_of(len(drawn), 'figure')} in {out}")


@bench_app.command(epilog="Example: falcon-discover bench actions --dataset adult")
@command
def actions(store: StoreFolder = STORE, dataset: DataSets = None, out: Folder = None) -> None:
    """Show how well regions and calibrators do on test rows.

    Reads finished runs and fits nothing.
    """
    from falcon_discover.bench.actions import action_tables

    built = action_tables(_study(store, dataset))
    _show_and_write(built, out)
    if out is not None:
        echo(f"\n{number_of(len(built), 'table')} in {out}")


@bench_app.command(epilog="Example: falcon-discover bench comparators --out comparators")
@command
def comparators(store: StoreFolder = STORE, dataset: DataSets = None, out: Folder = None) -> None:
    """Show what an audit finds in stronger, frozen models.

    Reads finished runs and fits nothing.
    """
    from falcon_discover.bench.comparators import comparator_tables
    from falcon_discover.bench.figures import draw_comparators

    built = comparator_tables(store, _known(dataset, plan.DATASETS, "data set"))
    _show_and_write(built, out)
    if out is not None:
        draw_comparators(built, out)
        echo(f"\n{number_of(len(built), 'table')} and 1 figure in {out}")


def _show_and_write(built: dict[str, DataFrame], out: Path | None) -> None:
    from falcon_discover.bench.output import write_beyond

    for name, frame in built.items():
        echo(f"\n{name}\n\n{frame.round(4).to_string(index=False)}")
    if out is not None:
        write_beyond(built, out)


@bench_app.command(epilog="Example: falcon-discover bench figures --out figures")
@command
def figures(
    store: StoreFolder = STORE,
    dataset: DataSets = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for the figures.")] = Path("figures"),
) -> None:
    """Draw the paper's figures from finished runs, without fitting anything."""
    from falcon_discover.bench.figures import draw_all

    drawn = draw_all(_study(store, dataset), out)
    echo(f"{number_of(len(drawn), 'figure')} in {out}")


@bench_app.command(epilog="Example: falcon-discover bench check --out check.csv")
@command
def check(
    store: StoreFolder = STORE,
    dataset: DataSets = None,
    out: Annotated[Path | None, typer.Option("--out", help="CSV file for all comparisons.")] = None,
) -> None:
    """Compare every number printed in the paper with ours, with a verdict.

    Reads finished runs and fits nothing.
    """
    from falcon_discover.bench.check import check as compare
    from falcon_discover.bench.check import counted as by_verdict

    lines = compare(_study(store, dataset))
    if out is not None:
        lines.to_csv(out, index=False, float_format="%.6g")
    shown = ["table", "row", "column", "paper", "ours", "difference", "half_width", "verdict"]
    echo(lines[shown].round(4).to_string(index=False, na_rep="-"))
    echo(
        "\nA figure that two tables share counts once among the distinct values.\n\n"
        + by_verdict(lines).to_string()
    )


def _study(folder: Path, names: list[str] | None) -> Study:
    """Return the study in a store; what is missing is listed before anything is computed."""
    from falcon_discover.bench.loading import Study
    from falcon_discover.bench.store import Store

    study = Study(Store(folder), names)
    missing = study.missing()
    if missing or not study.datasets:
        shown = "\n".join(f"  {key}" for key in missing[:20])
        more = f"\n  and {len(missing) - 20} more" if len(missing) > 20 else ""
        raise InputError(
            f"{number_of(len(missing), 'run')} missing in {folder}: make them with "
            f"'bench run':\n{shown}{more}"
            if missing
            else f"there are no runs in {folder}: make them with 'bench run'."
        )
    return study
