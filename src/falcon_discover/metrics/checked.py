"""What every figure checks of the arrays it is given."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.types import BoolArray, FloatArray


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
