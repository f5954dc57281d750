"""The command line: parse, call, exit code."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ParamSpec

import pandas as pd
import typer

from falcon_discover import __version__, backbones, datasets, progress
from falcon_discover import audit as audits
from falcon_discover.exceptions import InputError
from falcon_discover.files import read_model, read_table, write_results
from falcon_discover.rankers import RANKERS
from falcon_discover.settings import PAPER

app = typer.Typer(
    name="falcon-discover",
    help="Find the confident predictions of a classifier that should not be trusted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
data_app = typer.Typer(help="The data sets of the study.", no_args_is_help=True)
app.add_typer(data_app, name="datasets")

INTERRUPTED = 130  # what shells report for Ctrl-C
P = ParamSpec("P")


def _command(function: Callable[P, None]) -> Callable[P, None]:
    """Turn foreseeable failures into one sentence on standard error and an exit code."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except BrokenPipeError:
            # Whoever read our output has seen enough; Python must not flush into the closed pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (ValueError, OSError) as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(1) from error
        except KeyboardInterrupt as error:
            typer.echo("interrupted: nothing was written.", err=True)
            raise typer.Exit(INTERRUPTED) from error

    return guarded


Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
Tau = Annotated[float, typer.Option(help="Confidence from which an error is a confident error.")]
Budget = Annotated[float, typer.Option(help="Share of the rows to review.")]
RankerName = Annotated[str, typer.Option(help=f"One of {', '.join(RANKERS)}.")]
Seed = Annotated[int, typer.Option(help="Seed of splits, folds and models.")]
Jobs = Annotated[int, typer.Option(help="Threads; -1 for all cores.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON, nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only where the results are.")]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
@_command
def demo(
    out: Out = Path("falcon-report"),
    backbone: Annotated[str | None, typer.Option(help="Base model to train and audit.")] = None,
    seed: Seed = PAPER.seeds[0],
    jobs: Jobs = -1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Audit a model trained on the embedded Adult data."""
    X, y = datasets.load("adult")
    fast = "xgboost" if backbones.CANDIDATES["xgboost"].installed else "hist_gradient_boosting"
    question = audits.Question(target="target", backbone=backbone or fast, seed=seed, n_jobs=jobs)
    _run(X.assign(target=y), question, "Adult (embedded)", out, as_json=as_json, quiet=quiet)


@app.command()
@_command
def audit(
    data: Annotated[Path, typer.Argument(help="CSV, parquet or Arrow/Feather file.")],
    target: Annotated[str, typer.Option(help="Label column.")],
    model: Annotated[Path | None, typer.Option(help="Fitted model, a skops file.")] = None,
    proba: Annotated[str | None, typer.Option(help="Column of positive-class scores.")] = None,
    backbone: Annotated[
        str | None,
        typer.Option(help=f"Train one of {', '.join(PAPER.candidates)}, or auto for the best."),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Label that --proba is the probability of.")
    ] = None,
    identity: Annotated[
        str | None, typer.Option("--id", help="Column that identifies a row; not a feature.")
    ] = None,
    leave_out: Annotated[
        list[str] | None, typer.Option(help="Column that is not a feature; may be repeated.")
    ] = None,
    trust: Annotated[
        list[str] | None, typer.Option(help="Type in the model file to trust; may be repeated.")
    ] = None,
    out: Out = Path("falcon-report"),
    tau: Tau = PAPER.tau,
    budget: Budget = PAPER.main_budget,
    ranker: RankerName = "auto",
    seed: Seed = PAPER.seeds[0],
    jobs: Jobs = -1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Audit a fitted model, a column of predictions, or a model trained here."""
    given = [option for option in (model, proba, backbone) if option is not None]
    if len(given) > 1:
        raise InputError("--model, --proba and --backbone exclude each other: give one.")
    if positive is not None and proba is None:
        raise InputError("--positive belongs to --proba.")
    table = read_table(data)
    question = audits.Question(
        target=target,
        model=None if model is None else read_model(model, trust or ()),
        proba=proba,
        backbone=backbone or "auto",
        positive=positive,
        leave_out=tuple(leave_out or ()),
        identity=identity,
        tau=tau,
        budget=budget,
        ranker=ranker,
        seed=seed,
        n_jobs=jobs,
    )
    _run(table, question, data.name, out, as_json=as_json, quiet=quiet)


def _run(
    table: Any, question: audits.Question, name: str, out: Path, *, as_json: bool, quiet: bool
) -> None:
    with progress.shown(not quiet):
        result = audits.run(table, question, name=name)
    paths = write_results(out, result.review, result.summary)
    if as_json:
        typer.echo(json.dumps(result.summary, indent=2))
        return
    if not quiet:
        _show(result)
    typer.echo(f"Review list: {paths[0]} (also {paths[1].name}); summary: {paths[2]}")


def _show(result: audits.Audit) -> None:
    how = result.summary["how"]
    typer.echo(f"Audited: {how.get('model', 'given predictions')} ({how['rows']}).\n")
    typer.echo(f"{result.evaluation}\n")
    typer.echo("Review first:")
    for row in result.review.head(5).itertuples():
        typer.echo(f"  row {row.row}: predicted {row.predicted!r}, {row.reason}")
    typer.echo(f"\nRegions, by the confident errors they hold:\n{result.regions}\n")
    for note in result.summary["notes"]:
        typer.echo(f"note: {note}")


@app.command()
@_command
def settings(as_json: AsJson = False) -> None:
    """Print every number of the paper that this package uses."""
    values = PAPER.to_dict()
    if as_json:
        typer.echo(json.dumps(values, indent=2))
        return
    width = max(map(len, values))
    for name, value in values.items():
        typer.echo(f"{name:<{width}}  {value}")


@data_app.command("list")
@_command
def list_datasets(as_json: AsJson = False) -> None:
    """List the known data sets and where they are."""
    found = {name: datasets.find(name) for name in datasets.names()}
    if as_json:
        typer.echo(json.dumps({name: path and str(path) for name, path in found.items()}, indent=2))
        return
    rows = []
    for name, path in found.items():
        known = datasets.entry(name)
        rows.append(
            {
                "name": name,
                "OpenML": known.openml_id or "-",
                "rows": f"{known.rows:,}",
                "features": known.features,
                "positive": f"{known.positives:,}",
                "where": path or "not on this machine",
            }
        )
    typer.echo(pd.DataFrame(rows).to_string(index=False))


@data_app.command()
@_command
def fetch(names: Annotated[list[str], typer.Argument(help="Data sets to download.")]) -> None:
    """Download data sets from OpenML into the user's cache."""
    for name in names:
        typer.echo(f"{name}: {datasets.fetch(name)}")


@data_app.command()
@_command
def verify(
    names: Annotated[list[str] | None, typer.Argument(help="Data sets; all if none.")] = None,
) -> None:
    """Check that the local copies hold what they must."""
    for name in names or datasets.names():
        typer.echo(f"{name}: {datasets.verify(name)}")


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
