"""What reviewers' marks change: the observed error rate against the predicted risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.exceptions import InputError
from falcon_discover.metrics import surprise
from falcon_discover.metrics.intervals import share_interval
from falcon_discover.monitoring.marks import identifiers, texts, unquoted, words_of
from falcon_discover.report.rows import LIST_COLUMNS
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import records
from falcon_discover.runtime.types import FloatArray
from falcon_discover.runtime.words import counted, level, listed, rate, shortened
from falcon_discover.settings import PAPER

# Whether the prediction is right; "label wrong": it is, and the label that contradicts it is not.
MARKS = ("right", "wrong", "label wrong", "unsure")
# What people may write instead.
ALIASES = {"model wrong": "wrong", "label_wrong": "label wrong"}
BANDS = ("highest suspicion", "middle", "lowest suspicion")
# Smaller bands say nothing by themselves.
MIN_BAND = 5


@dataclass(frozen=True, eq=False, repr=False)
class Feedback(Result):
    """What was marked, and how it compares with what was predicted.

    Attributes
    ----------
    table : overall and by band of suspicion: rows judged, wrong ones, the observed rate and its
        exact interval, the rate that the risk predicted, and what the model's own confidence
        promised
    unsure, below : marks that are not counted: unsure ones, and rows below the threshold
    disputed : rows whose mark contradicts the known label; None where no label is known
    tau : the threshold; one for each class by name where it differs
    labels_wrong : labels that were marked wrong; they are among the disputed ones
    labels_expected : how many of the judged labels the audit expected to be wrong; None where it
        did not say
    """

    table: pd.DataFrame
    unsure: int
    below: int
    disputed: int | None
    tau: float | Mapping[str, float]
    labels_wrong: int = 0
    labels_expected: float | None = None

    def frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        return {
            "bands": records(self.table),
            "unsure": self.unsure,
            "below_threshold": self.below,
            "disputed_labels": self.disputed,
            "model_wrong": int(self.table["wrong"].iloc[0]),
            "label_wrong": self.labels_wrong,
            "label_wrong_expected": self.labels_expected,
            "tau": self.tau,
            "words": self.words(),
        }

    def words(self) -> str:
        """Return the finding in words."""
        whole = self.table.iloc[0]
        n, wrong = int(whole["rows"]), int(whole["wrong"])
        if not n:
            return "No confident prediction is marked right or wrong yet: mark some first."
        parts = [
            f"{wrong:,} of {n:,} reviewed confident predictions {'was' if wrong == 1 else 'were'} "
            f"wrong ({rate(whole['observed'])}, 95% interval {rate(whole['low'])} to "
            f"{rate(whole['high'])})."
        ]
        if not np.isnan(whole["predicted"]):
            parts.append(_against("predicted risk", whole["predicted"], whole))
        parts.append(_against("model's own confidence", whole["promised"], whole))
        parts += self._label_words()
        left = [
            f"{count:,} {why}"
            for count, why in (
                (self.unsure, "unsure"),
                (self.below, f"below the {level(self.tau)} threshold"),
            )
            if count
        ]
        if left:
            parts.append(f"Not counted: {', '.join(left)}.")
        return " ".join(parts)

    def _label_words(self) -> list[str]:
        """Return what marks say about the labels in the data, where these are known."""
        if self.disputed is None:
            return []
        said = []
        if self.labels_wrong:
            many = self.labels_wrong > 1
            text = f"Reviewers marked {self.labels_wrong:,} label{'s' if many else ''} wrong"
            if self.labels_expected is not None:
                text += f"; the audit expected {counted(self.labels_expected)}"
            said.append(f"{text}.")
        others = self.disputed - self.labels_wrong
        if others or not self.labels_wrong:
            more = " other" if self.labels_wrong else ""
            contradict = "mark contradicts" if others == 1 else "marks contradict"
            said.append(
                f"{others:,}{more} {contradict} the label in the data: the reviewer or the label "
                "is wrong there."
            )
        return said

    NEXT = "add the rows that you reviewed, with their true labels, to your next audit."

    def text(self) -> str:
        """Return the finding in words, and the table."""
        shown = self.table.rename(columns={"low": "95% low", "high": "95% high"})
        table = shown.to_string(index=False, float_format=lambda v: f"{v:.3f}", na_rep="")
        return f"{self.words()}\n\n{table}"


def feedback(
    review: pd.DataFrame,
    marks: pd.DataFrame,
    *,
    tau: float | Mapping[str, float] = PAPER.tau,
    ranker: str = "auto",
    severity: str = "count",
) -> Feedback:
    """Return what marked rows say about the predicted risk.

    Parameters
    ----------
    review : a review list with `row`, `suspicion` and `confidence`; with `actual` and
        `predicted` marks are compared with the known labels too
    marks : `row` and `mark`, one of right, wrong (the model), label wrong (the prediction is right,
        the label that contradicts it is not), unsure
    tau, ranker, severity : of the audit; only with "auto" the suspicion is a probability

    Examples
    --------
    >>> review = pd.DataFrame(
    ...     {"row": [4, 9], "suspicion": [0.4, 0.2], "confidence": [0.95, 0.97]}
    ... )
    >>> marks = pd.DataFrame({"row": [4, 9], "mark": ["wrong", "right"]})
    >>> found = feedback(review, marks)
    >>> found.table[["rows", "wrong", "predicted"]].iloc[0].round(2).tolist()
    [2.0, 1.0, 0.3]
    """
    known = _known(review, marks)
    _check_labels_wrong(known)
    judged = known[known["mark"] != "unsure"]
    below = judged["confidence"] < _levels(judged, tau)
    judged = judged[~below].assign(wrong=lambda rows: rows["mark"] == "wrong")
    judged = judged.assign(risk=_risk(judged, ranker, severity))
    judged = judged.sort_values("suspicion", ascending=False, kind="stable")
    lines = [{"band": "all", **_figures(judged)}]
    if len(judged) >= MIN_BAND * len(BANDS):
        parts = np.array_split(np.arange(len(judged)), len(BANDS))
        lines += [
            {"band": name, **_figures(judged.iloc[part])}
            for name, part in zip(BANDS, parts, strict=True)
        ]
    disputed = None
    if {"actual", "predicted"} <= set(known.columns):
        wrong = _text(judged, "actual") != _text(judged, "predicted")
        disputed = int((wrong != judged["wrong"]).sum())
    return Feedback(
        pd.DataFrame(lines),
        int((known["mark"] == "unsure").sum()),
        int(below.sum()),
        disputed,
        tau,
        int((judged["mark"] == "label wrong").sum()),
        _expected_labels(judged),
    )


def _expected_labels(judged: pd.DataFrame) -> float | None:
    if "label_doubt" not in judged.columns:
        return None
    doubts = pd.to_numeric(judged["label_doubt"], errors="coerce").fillna(0.0)
    return float(doubts.clip(0.0, 1.0).sum())


def _check_labels_wrong(known: pd.DataFrame) -> None:
    """Raise if a label is marked wrong that is not known, or that is the prediction."""
    marked = known[known["mark"] == "label wrong"]
    if not len(marked):
        return
    row = marked["row"].iloc[0]
    if not {"actual", "predicted"} <= set(known.columns):
        raise InputError(
            f"row {row} is marked 'label wrong', but the audit has no labels: mark the "
            "prediction right, wrong or unsure."
        )
    same = marked[_text(marked, "actual") == _text(marked, "predicted")]
    if len(same):
        raise InputError(
            f"row {same['row'].iloc[0]} is marked 'label wrong', but its label agrees with the "
            "prediction: mark it wrong if both are wrong."
        )


def _levels(rows: pd.DataFrame, tau: float | Mapping[str, float]) -> float | pd.Series:
    """Return the threshold of each row, which may differ by predicted class."""
    if not isinstance(tau, Mapping):
        return tau
    if "predicted" not in rows.columns:
        raise InputError("the review list lacks the column 'predicted', but tau differs by class.")
    levels = _text(rows, "predicted").map(tau).astype(np.float64)
    if levels.isna().any():
        strange = rows["predicted"][levels.isna()].iloc[0]
        raise InputError(f"the review list predicts {strange!r}, for which there is no tau.")
    return levels


def _known(review: pd.DataFrame, marks: pd.DataFrame) -> pd.DataFrame:
    _check_review(review)
    for column in ("row", "mark"):
        if column not in marks.columns:
            raise InputError(
                f"the marks lack the column {column!r}: download them from the report. Their "
                f"columns: {listed([str(name) for name in marks.columns])}."
            )
    if not _holds_numbers(marks["row"]):
        raise InputError(
            "the column 'row' of the marks has values that are not numbers: download the marks "
            "from the report."
        )
    # Labels of rows mean nothing here, and might occur twice.
    given = marks.reset_index(drop=True)
    given = given.assign(mark=words_of(given["mark"], "the marks"))
    given["mark"] = given["mark"].replace(ALIASES)
    strange = given.loc[~given["mark"].isin(MARKS), "mark"]
    if len(strange):
        raise InputError(
            f"the marks contain {shortened(strange.iloc[0])!r} in row "
            f"{given['row'][strange.index[0]]}: use one of {', '.join(MARKS)}."
        )
    repeated = given["row"][given["row"].duplicated()]
    if len(repeated):
        raise InputError(f"row {repeated.iloc[0]} is marked more than once: keep one mark.")
    lost = given["row"][~given["row"].isin(review["row"])]
    if len(lost):
        raise InputError(
            f"row {lost.iloc[0]} is marked but not in the review list: are the marks from another "
            "audit?"
        )
    for column in review.columns.intersection(given.columns).difference(LIST_COLUMNS):
        _check_identity(review, given, str(column))
    return review.merge(given[["row", "mark"]], on="row")


def _check_review(review: pd.DataFrame) -> None:
    """Raise if a review list is not as an audit writes it."""
    changed = "it was changed since the audit wrote it; run the audit again."
    for column in ("row", "suspicion", "confidence"):
        if column not in review.columns:
            raise InputError(f"the review list lacks the column {column!r}: {changed}")
        values = review[column]
        if not _holds_numbers(values) or values.isna().any():
            raise InputError(
                f"the review list has values that are not numbers in its column {column!r}: "
                f"{changed}"
            )
    if review["row"].duplicated().any():
        raise InputError(f"the review list has a row more than once: {changed}")
    if not review["confidence"].between(0.0, 1.0).all():
        raise InputError(f"the review list has a confidence that is not between 0 and 1: {changed}")


def _text(rows: pd.DataFrame, column: str) -> pd.Series:
    return texts(rows[column], str, "the review list")


def _holds_numbers(values: pd.Series) -> bool:
    """Return whether these are the numbers that a file can hold."""
    kind = values.dtype
    if isinstance(kind, np.dtype):
        return kind.kind in "iuf" and kind.itemsize <= 8 and kind.isnative
    sparse = isinstance(kind, pd.SparseDtype)
    return bool(pd.api.types.is_numeric_dtype(kind)) and kind.kind in "iuf" and not sparse


def _check_identity(review: pd.DataFrame, marks: pd.DataFrame, column: str) -> None:
    """Raise if marks call a row by another name than the review list does."""
    pairs = review[["row", column]].merge(
        marks[["row", column]], on="row", suffixes=("", " marked")
    )
    ours, theirs = (
        identifiers(pairs[name], "the marks or the review list")
        for name in (column, f"{column} marked")
    )
    # Marks are written so that no spreadsheet runs them, and read back as numbers where they can.
    same = (ours == theirs.map(unquoted)) | (
        pd.to_numeric(ours, errors="coerce") == pd.to_numeric(theirs, errors="coerce")
    )
    if not same.all():
        first = int(np.flatnonzero(~same)[0])
        raise InputError(
            f"row {pairs['row'].iloc[first]} has the {column} "
            f"{shortened(theirs.iloc[first])!r} in the marks and "
            f"{shortened(ours.iloc[first])!r} in the review list: are the marks from another "
            "audit? If not, delete that column from the marks."
        )


def _risk(rows: pd.DataFrame, ranker: str, severity: str) -> FloatArray:
    """Return the predicted probability of a confident error; NaN where it was not estimated."""
    suspicion = rows["suspicion"].to_numpy(dtype=np.float64)
    if ranker != "auto":
        return np.full(len(rows), np.nan)
    if severity == "surprise":
        return np.asarray(suspicion / surprise(rows["confidence"].to_numpy()))
    return suspicion


def _figures(rows: pd.DataFrame) -> dict[str, float]:
    n, wrong = len(rows), int(rows["wrong"].sum())
    low, high = share_interval(wrong, n)
    return {
        "rows": n,
        "wrong": wrong,
        "observed": wrong / n if n else np.nan,
        "low": low,
        "high": high,
        "predicted": float(rows["risk"].mean()) if n else np.nan,
        "promised": float((1.0 - rows["confidence"]).mean()) if n else np.nan,
    }


def _against(what: str, claimed: float, seen: pd.Series) -> str:
    if claimed < seen["low"]:
        return f"The {what} implied {rate(claimed)}, which is too low."
    if claimed > seen["high"]:
        return f"The {what} implied {rate(claimed)}, which is too high."
    return f"The {what} implied {rate(claimed)}, which fits the marks."
