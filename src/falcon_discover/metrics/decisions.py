"""Which predictions are confident and wrong, and what every figure checks of its arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER


def probabilities(p: npt.ArrayLike) -> FloatArray:
    """Return probabilities as an array, or say which one is none."""
    values = np.asarray(p, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        bad = int(np.flatnonzero(~((values >= 0) & (values <= 1)))[0])
        raise InputError(f"p holds {values[bad]} in row {bad}: a probability lies between 0 and 1.")
    return values


def scores_of(score: npt.ArrayLike) -> FloatArray:
    """Return scores as an array, or say that some are missing."""
    values = np.asarray(score, dtype=np.float64)
    if np.isnan(values).any():
        raise InputError(f"score is NaN in {int(np.isnan(values).sum())} row(s).")
    return values


def events_with_scores(
    events: npt.ArrayLike, score: npt.ArrayLike, name: str = "fc"
) -> tuple[BoolArray, FloatArray]:
    """Return which rows are events, and the scores of the same rows."""
    return _same_rows(_zero_one(events, name), scores_of(score))


def labels_with_probabilities(y: npt.ArrayLike, p: npt.ArrayLike) -> tuple[BoolArray, FloatArray]:
    """Return the labels as truth values, and the probabilities of the same rows."""
    scores = probabilities(p)
    return _same_rows(_zero_one(y, "y"), scores)


def _same_rows(marks: BoolArray, scores: FloatArray) -> tuple[BoolArray, FloatArray]:
    if len(marks) != len(scores):
        raise InputError(f"the arrays have {len(marks)} and {len(scores)} rows: they must match.")
    return marks, scores


def _zero_one(values: npt.ArrayLike, name: str) -> BoolArray:
    array = np.asarray(values)
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} must hold 0/1 or booleans only.")
    return array.astype(np.bool_)


def confidence(p: npt.ArrayLike) -> FloatArray:
    """Return `max(p, 1 - p)` (eq:confidence).

    Examples
    --------
    >>> confidence([0.5, 0.1, 1.0])
    array([0.5, 0.9, 1. ])
    """
    p = probabilities(p)
    return np.maximum(p, 1.0 - p)


def false_confidence(y: npt.ArrayLike, p: npt.ArrayLike, tau: float = PAPER.tau) -> BoolArray:
    """Return which rows are wrong although the confidence is at least `tau`.

    Parameters
    ----------
    y : array of 0/1
    p : array of positive-class scores
    tau : confidence threshold

    Examples
    --------
    >>> false_confidence([1, 1, 0], [0.05, 0.95, 0.60], tau=0.90)
    array([ True, False, False])
    """
    labels, scores = labels_with_probabilities(y, p)
    wrong = (scores >= PAPER.decision_threshold) != labels
    return wrong & (confidence(scores) >= tau)


def gated_confidence(confidence: npt.ArrayLike, tau: float = PAPER.tau) -> FloatArray:
    """Return the suspicion that puts eligible rows first, least confident leading.

    Eligible rows score from 1 to 1.5; the others follow with their confidence, those
    closest to the threshold first.

    Examples
    --------
    >>> gated_confidence([0.91, 0.99, 0.6], tau=0.90)
    array([1.09, 1.01, 0.6 ])
    """
    values = np.asarray(confidence, dtype=np.float64)
    return np.where(values >= tau, 2.0 - values, values)


def gated(values: npt.ArrayLike, confidence: npt.ArrayLike, tau: float = PAPER.tau) -> FloatArray:
    """Return the suspicion that puts eligible rows first, those with large values leading.

    `values` lie from 0 to 1, so eligible rows score from 1 to 2 and the others below 0.

    Examples
    --------
    >>> gated([0.2, 0.7, 0.9], [0.95, 0.95, 0.6], tau=0.90)
    array([ 1.2,  1.7, -0.4])
    """
    sure = np.asarray(confidence, dtype=np.float64)
    return np.where(sure >= tau, 1.0 + np.asarray(values, dtype=np.float64), sure - 1.0)


def surprise(confidence: npt.ArrayLike) -> FloatArray:
    """Return `-log(1 - confidence)`: how surprising it is that a prediction is wrong.

    Examples
    --------
    >>> surprise([0.5, 0.99]).round(2)
    array([0.69, 4.61])
    """
    doubt = np.maximum(1.0 - np.asarray(confidence, dtype=np.float64), PAPER.logit_clip)
    return np.asarray(-np.log(doubt))
