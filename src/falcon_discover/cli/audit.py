"""`demo` and `audit`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from falcon_discover.cli.common import (
    MAX_SEED,
    AsJson,
    Jobs,
    Quiet,
    budget_of,
    command,
    command_to_trust,
    echo,
    echo_json,
    writing,
)
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices, progress
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.audit.estimator import FalconDiscover
    from falcon_discover.cli.request import Audit, AuditRequest

RESULTS = ("report.html", "report.md", "review.csv", "review.parquet", "summary.json")
Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
Tau = Annotated[
    str,
    typer.Option(
        help="Confidence from which an error is a confident error, or one for each class: "
        "a=0.9,b=0.8."
    ),
]
Threshold = Annotated[
    float,
    typer.Option(help="Probability from which the positive one of two classes is decided."),
]
Budget = Annotated[
    float,
    typer.Option(
        parser=budget_of, help="How much to review: 0.2 is a share of the rows, 50 so many rows."
    ),
]
RankerName = Annotated[str, typer.Option(help="How rows are ranked; a wrong name lists all.")]
Severity = Annotated[str, typer.Option(help="For auto: count errors, or weigh by surprise.")]
ResidualRate = Annotated[
    float | None,
    typer.Option(help="Highest rate of confident errors among rows not reviewed: asks how much."),
]
Batch = Annotated[
    int | None,
    typer.Option(min=1, help="Rows to come that budgets speak of; without it, of the long run."),
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
Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of splits, folds and models.")]


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
    from falcon_discover import datasets
    from falcon_discover.cli.request import AuditRequest
    from falcon_discover.models import library

    check_outputs(out, save)
    X, y = datasets.load("adult")
    fast = "xgboost" if library.CANDIDATES["xgboost"].installed else "hist_gradient_boosting"
    request = AuditRequest(
        target="target",
        backbone=backbone or fast,
        contributions=contributions,
        seed=seed,
        n_jobs=jobs,
    )
    _run(X.assign(target=y), request, "Adult (embedded)", out, save, as_json=as_json, quiet=quiet)


@command
def audit(
    data: Annotated[Path, typer.Argument(help="CSV, parquet or Arrow/Feather file.")],
    target: Annotated[str, typer.Option(help="Label column.")],
    model: Annotated[Path | None, typer.Option(help="Fitted model, a skops file.")] = None,
    proba: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of positive-class scores; or one for each class, called by it: p_a,p_b."
        ),
    ] = None,
    backbone: Annotated[
        str | None,
        typer.Option(
            help=f"Train one of {', '.join((*PAPER.candidates, 'lightgbm'))}, or auto for the best "
            f"of the first {len(PAPER.candidates)}; auto if there is no --model and no --proba."
        ),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Label that --proba is the probability of.")
    ] = None,
    identity: Annotated[
        str | None, typer.Option("--id", help="Column that identifies a row; not a feature.")
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="Column with the time of a row: audits the latest 30% against the earlier rows; "
            "not a feature."
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help="Column with the cost of an error: orders rows by expected cost; not a feature."
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(help="Column that says which rows belong together; not a feature."),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(help="Column that says how many rows a row stands for; not a feature."),
    ] = None,
    leave_out: Annotated[
        list[str] | None, typer.Option(help="Column that is not a feature; may be repeated.")
    ] = None,
    trust: Annotated[
        list[str] | None, typer.Option(help="Type in the model file to trust; may be repeated.")
    ] = None,
    out: Out = Path("falcon-report"),
    tau: Tau = f"{PAPER.tau:g}",
    threshold: Threshold = PAPER.decision_threshold,
    budget: Budget = PAPER.main_budget,
    ranker: RankerName = "auto",
    severity: Severity = "count",
    max_residual_rate: ResidualRate = None,
    batch: Batch = None,
    contributions: Earned = None,
    save: Saved = None,
    seed: Seed = PAPER.seeds[0],
    jobs: Jobs = -1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Audit a fitted model, a column of predictions, or a model trained here.

    With --model or --proba nothing but the audit is fitted.

    Without either, a model is trained on 70% of the rows and audited on 20%:
    the best of several, which takes minutes, or the one that --backbone names.

    Example: falcon-discover audit rows.csv --target outcome --proba score

    With more than two classes: --proba p_red,p_green,p_blue
    """
    from falcon_discover.cli.by_class import level, named_columns
    from falcon_discover.cli.request import AuditRequest
    from falcon_discover.data.files import read_table
    from falcon_discover.models import library
    from falcon_discover.storage.objects import read_model

    proba = proba or None
    given = [option for option in (model, proba, backbone) if option is not None]
    if len(given) > 1:
        raise InputError("--model, --proba and --backbone exclude each other: give one.")
    if positive is not None and proba is None:
        raise InputError("--positive belongs to --proba.")
    if save is not None and backbone in library.DEEP:
        raise InputError(f"--save cannot keep the deep model {backbone!r}: leave it out.")
    check_outputs(out, save, [data, *([model] if model else [])])
    with notices.collected() as noticed:
        # Ids are texts even where they look like numbers: 007 is not 7.
        named = dict.fromkeys(name for name in (identity, group) if name)
        table = read_table(data, text_columns=list(named))
    for note in noticed:
        echo(f"note: {note}", err=True)
    with command_to_trust():
        fitted = None if model is None else read_model(model, trust or ())
    request = AuditRequest(
        target=target,
        model=fitted,
        proba=named_columns(proba or (), table.columns),
        backbone=backbone or "auto",
        positive=positive,
        leave_out=tuple(leave_out or ()),
        identity=identity,
        time=time,
        cost=cost,
        group=group,
        weight=weight,
        tau=level(tau),
        threshold=threshold,
        budget=budget,
        ranker=ranker,
        severity=severity,
        max_residual_rate=max_residual_rate,
        batch=batch,
        contributions=contributions,
        seed=seed,
        n_jobs=jobs,
    )
    _run(table, request, data.name, out, save, as_json=as_json, quiet=quiet)


def _run(
    table: Any,
    request: AuditRequest,
    name: str,
    out: Path,
    save: Path | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    from falcon_discover.cli.request import run
    from falcon_discover.report.write import PAGE, write_folder

    # Where nobody sees a bar, lines say that the work goes on; JSON is for programs.
    watched = (
        progress.shown(not quiet) if quiet or as_json else progress.logged(every=5.0, whole=False)
    )
    with watched:
        result = run(table, request, name=name)
    for alert in result.summary["alerts"]:
        # Also where only paths or JSON are wanted, but then not among them.
        echo(f"WARNING: {alert}\n", err=quiet or as_json)
    with writing(out):
        paths = write_folder(result.report, out)
    if save is not None:
        with notices.collected() as notes:
            _save(result.falcon, save, report=out / PAGE)
        for note in notes:
            echo(f"note: {note}", err=True)
    if as_json:
        echo_json(result.summary)
        return
    if not quiet:
        _show(result, request.identity)
    echo(f"Review list: {paths[0]} (also {paths[1].name}); summary: {paths[2]}")
    if save is not None:
        echo(f"Audit, for 'falcon-discover score': {save}")
    echo(f"Report: {out / PAGE}")


def _save(falcon: FalconDiscover, path: Path, *, report: Path) -> None:
    """Save the audit; whatever stops it, what is there already is named."""
    try:
        with writing(path):
            falcon.save(path)
    except BaseException as error:
        error.add_note(f"The report is whole: {report}. The audit was not saved.")
        raise


def _show(result: Audit, identity: str | None) -> None:
    from falcon_discover.report.sections import score_words

    how, data = result.summary["how"], result.summary["data"]
    echo(f"Audited: {how.get('model', 'given predictions')} ({how['rows']}).")
    echo(f"{score_words(data)}.\n")
    echo(f"{result.evaluation.figures()}\n")
    echo("Review first:")
    for row in result.review.head(5).to_dict("records"):
        known = "" if identity is None else f" ({identity} {row[identity]})"
        echo(f"  row {row['row']}{known}: predicted {row['predicted']!r}, {row['reason']}")
    if result.periods is not None:
        echo(f"\nAs time goes on:\n{result.periods}")
    echo(f"\nHow much is enough:\n{result.guarantee or result.missed}")
    echo(f"\n{result.regions}\n")
    for note in result.summary["notes"]:
        if note not in result.summary["alerts"]:
            echo(f"note: {note}")


def check_outputs(out: Path, save: Path | None, inputs: Sequence[Path] = ()) -> None:
    """Raise if the report or the saved audit cannot be written, or would replace an input."""
    if out.exists() and not out.is_dir():
        raise InputError(f"--out is {out}, which is a file: give a folder.")
    _check_writable(out, "--out")
    written = {(out / name).resolve() for name in RESULTS}
    if save is not None:
        _check_save(save, out)
        if save.resolve() in written:
            raise InputError(f"--save is {save}, a file of the report: give it another name.")
        written.add(save.resolve())
    for path in inputs:
        if path.resolve() in written:
            raise InputError(f"{path} would be replaced by a result: give --out another folder.")


def _check_save(save: Path, out: Path) -> None:
    if save.is_dir():
        raise InputError(f"--save is {save}, which is a folder: name a file in it.")
    folder = save.parent
    # The folder of the report is made on the way.
    if folder.resolve() != out.resolve() and not folder.is_dir():
        raise InputError(f"--save is {save}, and there is no folder {folder}: make it first.")
    _check_writable(folder, "--save")


def _check_writable(folder: Path, option: str) -> None:
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    if not there.is_dir():
        raise InputError(f"{option} leads through {there}, which is a file: give another folder.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{option}: the folder {there} cannot be written to: give another one.")
