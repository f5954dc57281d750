"""`demo` and `audit`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from falcon_discover.cli.common import (
    DATA,
    MAX_SEED,
    MODEL,
    OUTPUT,
    REVIEW,
    RULE,
    RUNNING,
    AsJson,
    Jobs,
    Quiet,
    Trusted,
    budget_of,
    command,
    command_to_trust,
    echo,
    echo_json,
    facts_of,
    paragraph,
    writing,
)
from falcon_discover.cli.outputs import check_outputs
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices, progress
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.audit.estimator import FalconDiscover
    from falcon_discover.cli.request import AuditRequest

# Blank lines keep the examples on lines of their own.
DEMO_EXAMPLE = "Example: falcon-discover demo --out demo-report"
AUDIT_EXAMPLES = """Examples:

falcon-discover audit rows.csv --target outcome --proba score --id customer_id

falcon-discover audit rows.csv --target outcome --model model.skops --save audit.falcon

falcon-discover audit rows.csv --target colour --proba p_red,p_green,p_blue --budget 50

falcon-discover audit rows.csv --target outcome --proba score --about version=2.3"""
Out = Annotated[Path, typer.Option("--out", help="Folder for the results.", rich_help_panel=OUTPUT)]
Details = Annotated[
    bool,
    typer.Option("--details", help="Print all tables, not a summary.", rich_help_panel=OUTPUT),
]
Tau = Annotated[
    str,
    typer.Option(
        help="Confidence from which a wrong prediction is a confident error. One number, or one "
        "per class: a=0.9,b=0.8.",
        rich_help_panel=RULE,
    ),
]
Threshold = Annotated[
    float,
    typer.Option(
        help="Probability from which the positive class is predicted (two classes only).",
        rich_help_panel=RULE,
    ),
]
Budget = Annotated[
    float,
    typer.Option(
        parser=budget_of,
        metavar="SHARE|ROWS",
        help="How much to review: 0.2 is 20% of the rows, 50 is 50 rows.",
        rich_help_panel=REVIEW,
    ),
]
RankerName = Annotated[
    str,
    typer.Option(
        help="Ranking method: auto, gated_confidence, s_disc and others; an unknown name lists "
        "them all.",
        rich_help_panel=REVIEW,
    ),
]
Severity = Annotated[
    str,
    typer.Option(
        help="With auto: count (all errors alike) or surprise (surer errors first).",
        rich_help_panel=REVIEW,
    ),
]
ResidualRate = Annotated[
    float | None,
    typer.Option(
        help="Acceptable rate of confident errors among unreviewed rows, such as 0.01; prints the "
        "budget that meets it.",
        rich_help_panel=REVIEW,
    ),
]
Batch = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Size of the next batch that budgets refer to. Default: the long run.",
        rich_help_panel=REVIEW,
    ),
]
Contributions = Annotated[
    bool | None,
    typer.Option(
        "--contributions/--no-contributions",
        help="Measure what each signal family contributes. Default: only up to 6,000 rows.",
        rich_help_panel=OUTPUT,
    ),
]
Saved = Annotated[
    Path | None,
    typer.Option(
        "--save",
        help="File for the fitted audit, to score new rows with 'score'.",
        rich_help_panel=OUTPUT,
    ),
]
About = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=TEXT",
        help="Fact to show in the report, such as version=2.3. Model, version, owner, purpose and "
        "period stand at its top. Repeatable.",
        rich_help_panel=OUTPUT,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        max=MAX_SEED,
        help="Seed of splits, folds and models; the same seed gives the same numbers.",
        rich_help_panel=RUNNING,
    ),
]
TRAINED = (*PAPER.candidates, "lightgbm")


@command
def demo(
    out: Out = Path("falcon-report"),
    backbone: Annotated[
        str | None,
        typer.Option(
            help=f"Model to train: {', '.join(TRAINED)}. Default: xgboost if it is installed, else "
            "hist_gradient_boosting.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    contributions: Contributions = None,
    save: Saved = None,
    seed: Seed = PAPER.seeds[0],
    jobs: Jobs = -1,
    as_json: AsJson = False,
    quiet: Quiet = False,
    details: Details = False,
) -> None:
    """Train a model on the built-in Adult data and audit it.

    Takes one to two minutes on two cores, and needs no network.
    Writes a report to the folder falcon-report.
    """
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
    how = Printing(as_json, quiet, details)
    _run(X.assign(target=y), request, "Adult (embedded)", out, save, how)


@command
def audit(
    data: Annotated[
        Path, typer.Argument(help="Labelled rows: a CSV, parquet or Arrow/Feather file.")
    ],
    target: Annotated[str, typer.Option(help="Column with the true label.", rich_help_panel=DATA)],
    model: Annotated[
        Path | None,
        typer.Option(
            help="Fitted model to audit: a skops file. Use rows it was not trained on.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    proba: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Column with the model's probability of the positive label: 1 of 0/1, yes of "
                "no/yes; --positive names another. With more classes, one column each: p_a,p_b."
            ),
            rich_help_panel=MODEL,
        ),
    ] = None,
    backbone: Annotated[
        str | None,
        typer.Option(
            help=f"Train this model here: {', '.join(TRAINED)}; or auto, the best of the first "
            f"{len(PAPER.candidates)}. Default without --model and --proba: auto.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(help="Label that --proba is the probability of.", rich_help_panel=MODEL),
    ] = None,
    trust: Trusted = None,
    identity: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column that identifies a row: shown in lists, never a feature.",
            rich_help_panel=DATA,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="Column with the time of a row: audits the latest 30% of the rows against the "
            "earlier ones. Not a feature.",
            rich_help_panel=DATA,
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help="Column with the cost of an error: ranks rows by expected cost. Not a feature.",
            rich_help_panel=DATA,
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="Column that says which rows belong together, such as a customer. Not a feature.",
            rich_help_panel=DATA,
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            help="Column that says how many rows each row stands for. Not a feature.",
            rich_help_panel=DATA,
        ),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(help="Column that is not a feature. Repeatable.", rich_help_panel=DATA),
    ] = None,
    about: About = None,
    tau: Tau = f"{PAPER.tau:g}",
    threshold: Threshold = PAPER.decision_threshold,
    budget: Budget = PAPER.main_budget,
    ranker: RankerName = "auto",
    severity: Severity = "count",
    max_residual_rate: ResidualRate = None,
    batch: Batch = None,
    out: Out = Path("falcon-report"),
    save: Saved = None,
    contributions: Contributions = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    details: Details = False,
    seed: Seed = PAPER.seeds[0],
    jobs: Jobs = -1,
) -> None:
    """Find the confident predictions of a classifier that are wrong, and what to review.

    Audits the probabilities in a column (--proba) or a fitted model (--model).
    By default, it trains several models on 70% of the rows and audits the best on 20%.

    On two cores --proba and --model take about half a minute for 10,000 rows.
    Training takes one to four minutes for 7,000 to 30,000 rows.
    """
    from falcon_discover.cli.by_class import level, named_columns
    from falcon_discover.cli.request import AuditRequest
    from falcon_discover.data.files import read_table
    from falcon_discover.models import library
    from falcon_discover.storage.objects import read_model

    proba = proba or None
    given = [option for option in (model, proba, backbone) if option is not None]
    if len(given) > 1:
        raise InputError("--model, --proba and --backbone cannot be combined: give one of them.")
    if positive is not None and proba is None:
        raise InputError("--positive only applies to --proba: add --proba, or leave it out.")
    if save is not None and backbone in library.DEEP:
        raise InputError(f"--save cannot store the deep model {backbone!r}: leave --save out.")
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
        about=facts_of(about or ()),
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
    _run(table, request, data.name, out, save, Printing(as_json, quiet, details))


@dataclass(frozen=True)
class Printing:
    """What to print: JSON alone, paths alone, a summary, or all tables."""

    as_json: bool
    quiet: bool
    details: bool


def _run(
    table: Any, request: AuditRequest, name: str, out: Path, save: Path | None, how: Printing
) -> None:
    from falcon_discover.cli import summary
    from falcon_discover.cli.request import run
    from falcon_discover.report.write import PAGE, write_folder

    # Where nobody sees a bar, lines say that the work goes on; JSON is for programs.
    silent = how.quiet or how.as_json
    with progress.shown(not how.quiet) if silent else progress.logged(every=5.0, whole=False):
        result = run(table, request, name=name)
    alerts = result.summary["alerts"]
    for alert in alerts:
        # Also where only paths or JSON are wanted, but then not among them.
        echo(f"WARNING: {alert}\n", err=silent)
    with writing(out):
        paths = write_folder(result.report, out)
    if save is not None:
        with notices.collected() as notes:
            _save(result.falcon, save, report=out / PAGE)
        for note in notes:
            echo(f"note: {note}", err=True)
    if how.as_json:
        echo_json(result.summary)
        return
    if not how.quiet:
        summary.show(result, request.identity, details=how.details)
    echo(f"Review list: {paths[1]} (also {paths[0].name}); all figures: {paths[2].name}")
    if save is not None:
        echo(f"Saved audit: {save}")
    if how.quiet:
        echo(f"Report: {out / PAGE}")
    else:
        for line in summary.next_step(out, PAGE, save, request, alerts).splitlines():
            paragraph(line)


def _save(falcon: FalconDiscover, path: Path, *, report: Path) -> None:
    """Save the audit; whatever stops it, what is there already is named."""
    try:
        with writing(path):
            falcon.save(path)
    except BaseException as error:
        error.add_note(f"The report was written: {report}. The audit was not saved.")
        raise
