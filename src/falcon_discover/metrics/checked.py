"""What every figure checks of the arrays it is given."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray

Marks = TypeVar("Marks", BoolArray, IntArray)


def probabilities(p: npt.ArrayLike) -> FloatArray:
    """Return probabilities as an array, or say which one is none.

    One per row, or one for each class in a row.
    """
    values = np.asarray(p, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        bad = np.argwhere(~((values >= 0) & (values <= 1)))[0]
        raise InputError(
            f"p holds {values[tuple(bad)]} in row {bad[0]}: a probability lies between 0 and 1."
        )
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


def labels_with_probabilities(y: npt.ArrayLike, p: npt.ArrayLike) -> tuple[IntArray, FloatArray]:
    """Return the labels as positions among the classes, and the probabilities of the same rows."""
    scores = probabilities(p)
    if scores.ndim == 1:
        return _same_rows(_zero_one(y, "y").astype(np.intp), scores)
    codes, n_classes = np.asarray(y), scores.shape[1]
    if not np.isin(codes, np.arange(n_classes)).all():
        raise InputError(f"y must hold the numbers of the {n_classes} classes, from 0 on.")
    return _same_rows(codes.astype(np.intp), scores)


def weights_of(sample_weight: npt.ArrayLike | None, n: int) -> FloatArray | None:
    """Return how many rows each of n rows stands for; None where each stands for itself."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise InputError(f"sample_weight has the shape {weight.shape}: give one for each row, {n}.")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise InputError("sample_weight must hold finite numbers of at least 0.")
    return weight


def _same_rows(marks: Marks, scores: FloatArray) -> tuple[Marks, FloatArray]:
    if len(marks) != len(scores):
        raise InputError(f"the arrays have {len(marks)} and {len(scores)} rows: they must match.")
    return marks, scores


def _zero_one(values: npt.ArrayLike, name: str) -> BoolArray:
    array = np.asarray(values)
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} must hold 0/1 or booleans only.")
    return array.astype(np.bool_)
