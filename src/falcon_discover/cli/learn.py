"""`learn`: a saved audit that also knows what reviewers said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from falcon_discover.cli.common import (
    DATA,
    OUTPUT,
    AsJson,
    GivenScores,
    Trusted,
    command,
    command_to_trust,
    echo,
    echo_json,
    writing,
)
from falcon_discover.cli.outputs import check_save
from falcon_discover.cli.score import Saved
from falcon_discover.exceptions import InputError
from falcon_discover.runtime.words import number_of

if TYPE_CHECKING:
    import pandas as pd

    from falcon_discover.audit.estimator import FalconDiscover

LEARN_EXAMPLE = (
    "Example: falcon-discover learn audit.falcon marks.csv rows.csv --save learned.falcon"
)


@command
def learn(
    saved: Saved,
    marks: Annotated[
        Path,
        typer.Argument(help="Marks of reviewed rows: downloaded from the report, or review.csv."),
    ],
    data: Annotated[Path, typer.Argument(help="File of the rows that were ranked and reviewed.")],
    save: Annotated[
        Path, typer.Option("--save", help="File for the new audit.", rich_help_panel=OUTPUT)
    ],
    identity: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column that identifies a row in both files. Default: row number.",
            rich_help_panel=DATA,
        ),
    ] = None,
    proba: GivenScores = None,
    trust: Trusted = None,
    as_json: AsJson = False,
) -> None:
    """Learn from reviewers' marks: save a new audit that also knows what they found.

    The old audit stays as it is. Takes seconds.
    """
    from falcon_discover.cli.by_class import named_columns
    from falcon_discover.data.files import read_table
    from falcon_discover.models.score_columns import scores_in
    from falcon_discover.monitoring.marks import located, marked
    from falcon_discover.storage.load import load

    if save.resolve() == saved.resolve():
        raise InputError(
            f"--save is {save}, which is the saved audit itself: give the new one another name."
        )
    check_save(save, [marks, data])
    texts = [] if identity is None else [identity]
    judged, unsure = marked(read_table(marks, text_columns=texts), str(marks), identity)
    rows = read_table(data, text_columns=texts)
    table = rows.iloc[located(judged, rows, str(data), identity)].reset_index(drop=True)
    with command_to_trust():
        falcon = load(saved, trusted=trust or [])
    columns = named_columns(proba or (), rows.columns)
    if falcon.audit_.model is None and not columns:
        raise InputError(
            "this audit was made from predictions alone: name the column of the scores with "
            "--proba."
        )
    _check_columns(rows, columns, str(data))
    scores = scores_in(table, columns, falcon.classes_)
    X = _features(falcon, table, str(data), {*columns, *texts})
    _check_predictions(falcon, X, scores, judged)
    other = falcon.learn(X, wrong=(judged["mark"] == "wrong").to_numpy(), proba=scores)
    with writing(save):
        other.save(save)
    told = other.learned_
    assert told is not None
    if as_json:
        echo_json(told.to_dict() | {"unsure": unsure, "saved": str(save)})
        return
    echo(told.words())
    if unsure:
        echo(f"Left out: {number_of(unsure, 'unsure mark')}.")
    echo(f"\nSaved {save}; {saved} is unchanged.")
    echo(f"Next: falcon-discover score {save} NEXT_ROWS --out scores")


def _check_columns(rows: pd.DataFrame, columns: tuple[str, ...], where: str) -> None:
    from falcon_discover.runtime.words import no_column

    for column in columns:
        if column not in rows.columns:
            raise InputError(f"--proba names {no_column(column, rows.columns, where)}")


def _features(falcon: FalconDiscover, table: pd.DataFrame, where: str, others: set[str]) -> Any:
    """Return the columns that the audit was fitted on."""
    from falcon_discover.runtime.words import meant

    names = getattr(falcon, "feature_names_in_", None)
    if names is None:
        left = [name for name in table.columns if name not in others]
        if len(left) != falcon.n_features_in_:
            raise InputError(
                f"the audit was fitted on {falcon.n_features_in_} columns without names, but "
                f"{where} has {len(left)} besides id and scores: give the same columns."
            )
        return table[left].to_numpy()
    for name in names:
        if name not in table.columns:
            raise InputError(f"{where} lacks the column {name!r}.{meant(name, table.columns)}")
    return table[list(names)]


def _check_predictions(falcon: FalconDiscover, X: Any, scores: Any, judged: pd.DataFrame) -> None:
    """Raise if the marks cannot be of what this audit says about these rows."""
    from falcon_discover.monitoring.marks import check_same_predictions
    from falcon_discover.runtime import notices

    with notices.collected():
        found = falcon.examine(X, proba=scores)
    check_same_predictions(found, judged)
