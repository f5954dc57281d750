"""`demo` and `audit`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from falcon_discover import notices, progress
from falcon_discover.cli.common import AsJson, Jobs, Quiet, command
from falcon_discover.exceptions import InputError
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.audit import Audit, Question

Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
Tau = Annotated[float, typer.Option(help="Confidence from which an error is a confident error.")]
Budget = Annotated[float, typer.Option(help="Share of the rows to review.")]
RankerName = Annotated[str, typer.Option(help="How rows are ranked; a wrong name lists all.")]
Severity = Annotated[str, typer.Option(help="For auto: count errors, or weigh by surprise.")]
ResidualRate = Annotated[
    float | None,
    typer.Option(help="Highest rate of confident errors among rows not reviewed: asks how much."),
]
Earned = Annotated[
    bool | None,
    typer.Option(
        "--contributions/--no-contributions",
        help="Measure what each family of signals earns; by default where that takes little.",
    ),
]
Saved = Annotated[
    Path | None,
    typer.Option("--save", help="File for the fitted audit, to score new rows with ('score')."),
]
Seed = Annotated[int, typer.Option(help="Seed of splits, folds and models.")]


@command
def demo(
    out: Out = Path("falcon-report"),
    backbone: Annotated[str | None, typer.Option(help="Base model to train and audit.")] = None,
    contributions: Earned = None,
    save: Saved = None,
    seed: Seed = PAPER.seeds[0],
    jobs: Jobs = -1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Audit a model trained on the embedded Adult data."""
    from falcon_discover import backbones, datasets
    from falcon_discover.audit import Question

    X, y = datasets.load("adult")
    fast = "xgboost" if backbones.CANDIDATES["xgboost"].installed else "hist_gradient_boosting"
    question = Question(
        target="target",
        backbone=backbone or fast,
        contributions=contributions,
        seed=seed,
        n_jobs=jobs,
    )
    _run(X.assign(target=y), question, "Adult (embedded)", out, save, as_json=as_json, quiet=quiet)


@command
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
    severity: Severity = "count",
    max_residual_rate: ResidualRate = None,
    contributions: Earned = None,
    save: Saved = None,
    seed: Seed = PAPER.seeds[0],
    jobs: Jobs = -1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Audit a fitted model, a column of predictions, or a model trained here."""
    from falcon_discover.audit import Question
    from falcon_discover.files import read_model, read_table

    given = [option for option in (model, proba, backbone) if option is not None]
    if len(given) > 1:
        raise InputError("--model, --proba and --backbone exclude each other: give one.")
    if positive is not None and proba is None:
        raise InputError("--positive belongs to --proba.")
    if save is not None and proba is not None:
        raise InputError("--save needs a model: bare predictions cannot be made for new rows.")
    with notices.collected() as noticed:
        # Ids are texts even where they look like numbers: 007 is not 7.
        table = read_table(data, text_columns=[identity] if identity else ())
    for note in noticed:
        typer.echo(f"note: {note}", err=True)
    question = Question(
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
        severity=severity,
        max_residual_rate=max_residual_rate,
        contributions=contributions,
        seed=seed,
        n_jobs=jobs,
    )
    _run(table, question, data.name, out, save, as_json=as_json, quiet=quiet)


def _run(
    table: Any,
    question: Question,
    name: str,
    out: Path,
    save: Path | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    from falcon_discover.audit import run
    from falcon_discover.report.write import PAGE, write_folder

    with progress.shown(not quiet):
        result = run(table, question, name=name)
    paths = write_folder(result.report, out)
    if save is not None and result.falcon is not None:
        result.falcon.save(save)
    if as_json:
        typer.echo(json.dumps(result.summary, indent=2))
        return
    if not quiet:
        _show(result)
    typer.echo(f"Review list: {paths[0]} (also {paths[1].name}); summary: {paths[2]}")
    if save is not None:
        typer.echo(f"Audit, for 'falcon-discover score': {save}")
    typer.echo(f"Report: {out / PAGE}")
    if not quiet:
        typer.echo(result.evaluation.verdict())


def _show(result: Audit) -> None:
    how = result.summary["how"]
    typer.echo(f"Audited: {how.get('model', 'given predictions')} ({how['rows']}).\n")
    typer.echo(f"{result.evaluation}\n")
    typer.echo("Review first:")
    for row in result.review.head(5).itertuples():
        typer.echo(f"  row {row.row}: predicted {row.predicted!r}, {row.reason}")
    typer.echo(f"\nHow much is enough:\n{result.guarantee or result.missed}")
    typer.echo(f"\n{result.regions}\n")
    for note in result.summary["notes"]:
        typer.echo(f"note: {note}")
