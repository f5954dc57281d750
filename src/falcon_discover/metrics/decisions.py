"""Which predictions are confident and wrong, and what every figure checks of its arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from falcon_discover.exceptions import InputError, check_number
from falcon_discover.runtime.records import scalar
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.runtime.words import number_of, shortened
from falcon_discover.settings import PAPER

# One confidence from which a wrong prediction counts, or one for each class that is decided.
Tau = float | tuple[float, ...]

# Weights are added up, and so are their squares.
LARGEST_WEIGHT = 1e100

Marks = TypeVar("Marks", BoolArray, IntArray)


def probabilities(p: npt.ArrayLike) -> FloatArray:
    """Return probabilities as an array, or say which one is none.

    One per row, or one for each class in a row.
    """
    values = numbers_of(p, "p")
    if values.ndim == 2 and values.shape[1] < 2:
        raise InputError(
            f"p has the shape {values.shape}: give one number for each row, or a column for each "
            "class."
        )
    if not ((values >= 0) & (values <= 1)).all():
        bad = np.argwhere(~((values >= 0) & (values <= 1)))[0]
        raise InputError(
            f"p is {values[tuple(bad)]} in row {bad[0]}: give probabilities between 0 and 1."
        )
    return values


def scores_of(score: npt.ArrayLike) -> FloatArray:
    """Return scores as an array, or say that some are missing."""
    values = numbers_of(score, "score", (1,))
    if np.isnan(values).any():
        raise InputError(
            f"score is NaN in {number_of(int(np.isnan(values).sum()), 'row')}: give each row a "
            "number."
        )
    return values


def events_with_scores(
    events: npt.ArrayLike, score: npt.ArrayLike, name: str = "fc"
) -> tuple[BoolArray, FloatArray]:
    """Return which rows are events, and the scores of the same rows."""
    return _same_rows(_zero_one(events, name), scores_of(score))


def eligible_rows(
    fc: npt.ArrayLike, score: npt.ArrayLike, confidence: npt.ArrayLike, tau: float
) -> tuple[BoolArray, FloatArray, BoolArray]:
    """Return events and scores of the eligible rows, and which rows these are."""
    check_number("tau", tau, lambda level: 0 <= level <= 1, "give a confidence between 0 and 1")
    eligible = numbers_of(confidence, "confidence", (1,)) >= tau
    marks, values = array_of(fc, "fc"), numbers_of(score, "score", (1,))
    if not len(eligible) == len(values) == marks.size:
        raise InputError(
            f"the arrays have {marks.size}, {len(values)} and {len(eligible)} rows: they must "
            "match."
        )
    # Only eligible rows need a score.
    events, scores = events_with_scores(marks.reshape(-1)[eligible], values[eligible])
    return events, scores, eligible


def labels_with_probabilities(y: npt.ArrayLike, p: npt.ArrayLike) -> tuple[IntArray, FloatArray]:
    """Return the labels as positions among the classes, and the probabilities of the same rows."""
    scores = probabilities(p)
    if scores.ndim == 1:
        return _same_rows(_zero_one(y, "y").astype(np.intp), scores)
    codes, n_classes = array_of(y, "y"), scores.shape[1]
    if codes.ndim != 1 or not np.isin(codes, np.arange(n_classes)).all():
        raise InputError(f"y must contain class numbers from 0 to {n_classes - 1}.")
    return _same_rows(codes.astype(np.intp), scores)


def weights_of(sample_weight: npt.ArrayLike | None, n: int) -> FloatArray | None:
    """Return how many rows each of n rows stands for; None where each stands for itself."""
    if sample_weight is None:
        return None
    weight = numbers_of(sample_weight, "sample_weight")
    if weight.shape != (n,):
        raise InputError(f"sample_weight has the shape {weight.shape}: give one for each row, {n}.")
    if not ((weight >= 0) & (weight <= LARGEST_WEIGHT)).all():
        raise InputError(
            f"sample_weight must contain finite numbers of 0 or more, at most {LARGEST_WEIGHT:g}."
        )
    return weight


def _same_rows(marks: Marks, scores: FloatArray) -> tuple[Marks, FloatArray]:
    if len(marks) != len(scores):
        raise InputError(f"the arrays have {len(marks)} and {len(scores)} rows: they must match.")
    return marks, scores


def _zero_one(values: npt.ArrayLike, name: str) -> BoolArray:
    array = array_of(values, name)
    if array.ndim != 1 or not _is_zero_one(array):
        raise InputError(f"{name} must contain only 0/1 or booleans, one for each row.")
    return array.astype(np.bool_)


def _is_zero_one(array: npt.NDArray[Any]) -> bool:
    numbers = array.dtype.kind in "iufO"
    return array.dtype == np.bool_ or (numbers and bool(np.isin(array, (0, 1)).all()))


def array_of(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """Return an array of any type, or say that these values are none."""
    if np.ma.is_masked(values):
        raise InputError(f"{name} contains masked values: give one value for each row.")
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}.") from error


def numbers_of(
    values: npt.ArrayLike, name: str, dimensions: tuple[int, ...] = (1, 2)
) -> FloatArray:
    """Return real numbers, one or some for each row."""
    array = array_of(values, name)
    try:
        if array.dtype.kind in "cmM":
            raise TypeError(f"it is of the type {array.dtype}")
        found = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must contain numbers: {shortened(error)}.") from error
    if found.ndim not in dimensions:
        raise InputError(f"{name} has the shape {found.shape}: give one number for each row.")
    return found


def decided(p: npt.ArrayLike, threshold: float = PAPER.decision_threshold) -> IntArray:
    """Return the class that is decided for each row, by its position among the classes.

    Of two classes the second, where its probability reaches the threshold (eq:hard_prediction);
    of more, the likeliest, the first of equals.

    Parameters
    ----------
    p : the probability of the second of two classes, or one column for each class
    threshold : of the second of two classes

    Examples
    --------
    >>> decided([0.5, 0.1]), decided([[0.2, 0.4, 0.4]])
    (array([1, 0]), array([1]))
    """
    p = np.asarray(p, dtype=np.float64)
    if p.ndim == 2 and p.shape[1] > 2:
        return p.argmax(axis=1)
    positive = p if p.ndim == 1 else p[:, 1]
    return (positive >= threshold).astype(np.intp)


def confidence(p: npt.ArrayLike, threshold: float = PAPER.decision_threshold) -> FloatArray:
    """Return the probability of the decided class (eq:confidence).

    Parameters
    ----------
    p, threshold : as in `decided`

    Examples
    --------
    >>> confidence([0.5, 0.1, 1.0])
    array([0.5, 0.9, 1. ])
    >>> confidence([[0.2, 0.7, 0.1]])
    array([0.7])
    """
    p = probabilities(p)
    if p.ndim == 1:
        return np.where(p >= threshold, p, 1.0 - p)
    return of_class(p, decided(p, threshold))


def class_count(p: FloatArray) -> int:
    """Return how many classes scores speak of: two where there is one number for each row."""
    return 2 if p.ndim == 1 else p.shape[1]


def of_class(values: npt.NDArray[Any], codes: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
    """Return, of columns that belong to classes, each row's value for its class.

    Examples
    --------
    >>> of_class(np.array([[0.1, 0.9], [0.3, 0.7]]), np.array([1, 0]))
    array([0.9, 0.3])
    """
    return values[np.arange(len(values)), codes]


def level_of(tau: Tau, decision: npt.NDArray[np.integer]) -> float | FloatArray:
    """Return the threshold of confidence of each row; one number where it is the same for all."""
    return np.asarray(tau, dtype=np.float64)[decision] if isinstance(tau, tuple) else tau


def least(tau: Tau) -> float:
    """Return the lowest threshold of confidence, below which no row is eligible."""
    return min(tau) if isinstance(tau, tuple) else tau


def by_name(tau: Tau, classes: npt.NDArray[Any]) -> float | dict[str, float]:
    """Return the threshold of confidence; where it differs by class, with the classes' names.

    Examples
    --------
    >>> by_name((0.95, 0.8), np.array(["no", "yes"]))
    {'no': 0.95, 'yes': 0.8}
    """
    if not isinstance(tau, tuple):
        return tau
    return {str(scalar(label)): level for label, level in zip(classes, tau, strict=True)}


def false_confidence(
    y: npt.ArrayLike,
    p: npt.ArrayLike,
    tau: Tau = PAPER.tau,
    threshold: float = PAPER.decision_threshold,
) -> BoolArray:
    """Return which rows are wrong although the confidence is at least `tau`.

    Parameters
    ----------
    y : array of 0/1, or of the positions of more classes
    p : array of positive-class scores, or one column for each class
    tau : confidence threshold, or one for each class
    threshold : of the decision between two classes

    Examples
    --------
    >>> false_confidence([1, 1, 0], [0.05, 0.95, 0.60], tau=0.90)
    array([ True, False, False])
    """
    _check_levels(tau, threshold)
    labels, scores = labels_with_probabilities(y, p)
    decision = decided(scores, threshold)
    sure = confidence(scores, threshold) >= level_of(tau, decision)
    return np.asarray((decision != labels) & sure)


def _check_levels(tau: Tau, threshold: float) -> None:
    levels = tau if isinstance(tau, tuple | list) else (tau,)
    for name, level in [*(("tau", level) for level in levels), ("threshold", threshold)]:
        check_number(name, level, lambda value: 0 <= value <= 1, "give a number between 0 and 1")


def gated_confidence(confidence: npt.ArrayLike, tau: npt.ArrayLike = PAPER.tau) -> FloatArray:
    """Return the suspicion that puts eligible rows first, least confident leading.

    Eligible rows score from 1 to 1.5; the others follow with their confidence, those
    closest to the threshold first. `tau` may be one number for each row.

    Examples
    --------
    >>> gated_confidence([0.91, 0.99, 0.6], tau=0.90)
    array([1.09, 1.01, 0.6 ])
    """
    values = np.asarray(confidence, dtype=np.float64)
    return np.where(values >= np.asarray(tau), 2.0 - values, values)


def gated(
    values: npt.ArrayLike, confidence: npt.ArrayLike, tau: npt.ArrayLike = PAPER.tau
) -> FloatArray:
    """Return the suspicion that puts eligible rows first, those with large values leading.

    `values` lie from 0 to 1, so eligible rows score from 1 to 2 and the others below 0.

    Examples
    --------
    >>> gated([0.2, 0.7, 0.9], [0.95, 0.95, 0.6], tau=0.90)
    array([ 1.2,  1.7, -0.4])
    """
    sure = np.asarray(confidence, dtype=np.float64)
    eligible = sure >= np.asarray(tau)
    return np.where(eligible, 1.0 + np.asarray(values, dtype=np.float64), sure - 1.0)


def surprise(confidence: npt.ArrayLike) -> FloatArray:
    """Return `-log(1 - confidence)`: how surprising it is that a prediction is wrong.

    Examples
    --------
    >>> surprise([0.5, 0.99]).round(2)
    array([0.69, 4.61])
    """
    doubt = np.maximum(1.0 - np.asarray(confidence, dtype=np.float64), PAPER.logit_clip)
    return np.asarray(-np.log(doubt))
