"""Reviewers' marks as they come back: which rows they are of, and what they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.audit.finding import Finding
from falcon_discover.exceptions import InputError
from falcon_discover.runtime.format import identifier
from falcon_discover.runtime.types import IntArray
from falcon_discover.runtime.words import listed, no_column, shortened

# Whether the prediction is right. "label wrong": it is, and the label that contradicts it is not.
JUDGED = {
    "right": "right",
    "wrong": "wrong",
    "model wrong": "wrong",
    "label wrong": "right",
    "label_wrong": "right",
}
UNSURE = "unsure"
# Confidences are written with some digits only.
SAME_CONFIDENCE = 5e-3


def marked(marks: pd.DataFrame, where: str, identity: str | None) -> tuple[pd.DataFrame, int]:
    """Return the rows that were marked right or wrong, and how many are unsure.

    Rows without a mark, as in a review list that is not finished, are left out.

    Parameters
    ----------
    where : what to call the file of the marks
    identity : the column that says which row a mark is of; None for the row's number

    Examples
    --------
    >>> table = pd.DataFrame({"row": [3, 8, 9], "mark": ["Wrong", "label wrong", "unsure"]})
    >>> judged, unsure = marked(table, "marks.csv", None)
    >>> judged["mark"].tolist(), unsure
    (['wrong', 'right'], 1)
    """
    key = "row" if identity is None else identity
    for column in (key, "mark"):
        if column not in marks.columns:
            raise InputError(
                f"{where} lacks the column {column!r}: give marks downloaded from the report. Its "
                f"columns: {listed([str(name) for name in marks.columns])}."
            )
    given = marks[marks["mark"].notna()].reset_index(drop=True)
    said = words_of(given["mark"], where)
    given, said = given[said != ""], said[said != ""]
    strange = said[~said.isin([*JUDGED, UNSURE])]
    if len(strange):
        raise InputError(
            f"{where} contains the mark {shortened(strange.iloc[0])!r}: use one of right, wrong, "
            "label wrong, unsure."
        )
    given = given.assign(mark=said.map(JUDGED))
    judged = given[given["mark"].notna()].reset_index(drop=True)
    if judged.empty:
        raise InputError(f"{where} marks no row right or wrong: there is nothing to learn from.")
    if judged[key].isna().any():
        raise InputError(f"{where} has a mark without a value in the column {key!r}.")
    twice = judged[key][texts(judged[key], str, where).duplicated()]
    if len(twice):
        raise InputError(
            f"{where} marks row {shortened(twice.iloc[0])} more than once: keep one mark."
        )
    return judged, len(given) - len(judged)


def words_of(marks: pd.Series, where: str) -> pd.Series:
    """Return marks as they are compared: lower case, without blanks around them."""
    return texts(marks, lambda mark: str(mark).strip().lower(), where)


def identifiers(names: pd.Series, where: str) -> pd.Series:
    """Return what identifies rows, as text."""
    return texts(names, identifier, where)


def texts(values: pd.Series, text: Callable[[Any], str], where: str) -> pd.Series:
    """Return each value as text, or say that one has none."""
    try:
        return pd.Series([text(value) for value in values], index=values.index, dtype=object)
    except Exception as error:  # an object of one's own may raise anything
        raise InputError(
            f"{where} has values in its column {values.name!r} that cannot be read as text."
        ) from error


def located(judged: pd.DataFrame, rows: pd.DataFrame, where: str, identity: str | None) -> IntArray:
    """Return where the marked rows stand in a table.

    Parameters
    ----------
    where : what to call the file of the rows
    """
    if identity is None:
        numbers = pd.to_numeric(judged["row"].astype(object), errors="coerce").astype(np.float64)
        odd = judged["row"][numbers.isna() | (numbers % 1 != 0)]
        if len(odd):
            raise InputError(
                f"the marks give {shortened(odd.iloc[0])!r} as a row: use row numbers, or --id."
            )
        outside = numbers[(numbers < 0) | (numbers >= len(rows))]
        if len(outside):
            raise InputError(
                f"row {int(outside.iloc[0])} is marked, but {where} has {len(rows):,} rows: are "
                "the marks from another file?"
            )
        return numbers.to_numpy(dtype=np.intp)
    if identity not in rows.columns:
        raise InputError(f"--id names {no_column(identity, rows.columns, where)}")
    names = identifiers(rows[identity], where)
    # Marks are written so that no spreadsheet runs them.
    wanted = identifiers(judged[identity], "the file of marks").map(unquoted)
    if names.duplicated().any():
        repeated = set(names[names.duplicated()])
        for name in wanted:
            if name in repeated:
                raise InputError(
                    f"{where} has more than one row with {identity} {shortened(name)!r}."
                )
    places = pd.Series(np.arange(len(rows)), index=names)
    lost = wanted[~wanted.isin(places.index)]
    if len(lost):
        raise InputError(
            f"{identity} {shortened(lost.iloc[0])!r} is marked, but {where} has no such row: are "
            "the marks from another file?"
        )
    return places[~places.index.duplicated()][wanted].to_numpy(dtype=np.intp)


def unquoted(name: str) -> str:
    """Return a name without the quote that keeps spreadsheets from reading it as a formula."""
    return name.removeprefix("'")


def check_same_predictions(found: Finding, judged: pd.DataFrame) -> None:
    """Raise if marks are not of what an audit says about these rows.

    Parameters
    ----------
    found : the marked rows, in their order
    judged : the marks; where they say what was predicted, and how confidently, it is compared
    """
    if found.audit.are_rows_of_fit(found.state):
        raise InputError(
            "the audit was fitted on these rows and knows their labels: there is nothing to learn. "
            "Give rows that were ranked and reviewed since."
        )
    if "predicted" in judged.columns:
        ours = identifiers(pd.Series(found.classes[found.state.decision]), "the audit")
        theirs = identifiers(judged["predicted"], "the file of marks")
        _check(ours == theirs, judged, "the prediction", theirs, ours)
    if "confidence" in judged.columns:
        ours = pd.Series(found.state.confidence)
        theirs = pd.to_numeric(judged["confidence"], errors="coerce")
        shown = [series.map("{:.3f}".format) for series in (theirs, ours)]
        _check((ours - theirs).abs() <= SAME_CONFIDENCE, judged, "the confidence", *shown)


def _check(
    same: pd.Series, judged: pd.DataFrame, what: str, theirs: pd.Series, ours: pd.Series
) -> None:
    if same.all():
        return
    first = int(np.flatnonzero(~same)[0])
    row = judged["row"].iloc[first] if "row" in judged.columns else first
    raise InputError(
        f"{what} for row {row} is {theirs.iloc[first]} in the marks but {ours.iloc[first]} in this "
        "audit: are the marks from another audit, or another file?"
    )
