"""`bench run | tables | figures | check`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

import typer

from falcon_discover import progress
from falcon_discover.bench import plan
from falcon_discover.cli.common import Jobs, command
from falcon_discover.exceptions import InputError
from falcon_discover.settings import PAPER

bench_app = typer.Typer(help="Run the paper's study and rebuild its tables.", no_args_is_help=True)

StoreFolder = Annotated[Path, typer.Option("--store", help="Folder of the finished runs.")]
DataSets = Annotated[list[str] | None, typer.Option("--dataset", help="May be repeated; all.")]
Seeds = Annotated[list[int] | None, typer.Option("--seed", help="May be repeated; all four.")]

resumable = functools.partial(command, kept="finished runs are kept, the same command goes on")


@bench_app.command()
@resumable
def run(
    store: StoreFolder = Path("bench-store"),
    dataset: DataSets = None,
    seed: Seeds = None,
    backbone: Annotated[
        list[str] | None, typer.Option("--backbone", help="May be repeated; all.")
    ] = None,
    jobs: Jobs = -1,
) -> None:
    """Fit every candidate on every split; may be interrupted and started again."""
    from joblib import effective_n_jobs

    from falcon_discover.bench.run import planned, run_all
    from falcon_discover.bench.store import Store

    names = _known(dataset, (*plan.DATASETS, "miniboone"), "data set") or list(plan.DATASETS)
    chosen = _known(backbone, plan.BACKBONES, "backbone") or list(plan.BACKBONES)
    keys = planned(names, seed or PAPER.seeds, chosen)
    place = Store(store, plan.settings())
    with progress.shown():
        finished = run_all(place, keys, effective_n_jobs(jobs))
    left = sum(not place.done(key) for key in keys)
    typer.echo(
        f"{finished} run(s) done now, {len(keys) - left} of {len(keys)} in {store}"
        + (f"; {left} are being done by another process." if left else ".")
    )


def _known(given: list[str] | None, known: tuple[str, ...], what: str) -> list[str]:
    for name in given or []:
        if name not in known:
            raise InputError(f"there is no {what} {name!r}; choose one of {', '.join(known)}.")
    return given or []
