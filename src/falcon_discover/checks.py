"""Checks of what `FalconDiscover` and `discover()` are given, each with its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state, get_tags

from falcon_discover import notices
from falcon_discover.exceptions import InputError
from falcon_discover.predicting import positive_class
from falcon_discover.settings import PAPER
from falcon_discover.tables import FloatArray, IntArray, Labels, Table


def positive_scores(proba: npt.ArrayLike, n: int) -> FloatArray:
    """Return one positive-class score per row, from one column or two."""
    p = positive_class(proba, n)
    if np.isin(p, (0.0, 1.0)).all():
        notices.warn(
            "proba holds only 0 and 1: these look like decisions, not probabilities, and every "
            "row counts as fully confident."
        )
    return p


def warn_few_rows(folds: list[tuple[IntArray, IntArray]], n_neighbors: int) -> None:
    """Warn where neighbourhoods must be smaller than asked for."""
    fewest = min(len(others) for others, _ in folds)
    if fewest < n_neighbors:
        notices.warn(
            f"there are only {fewest} rows to compare with: n_neighbors is lowered from "
            f"{n_neighbors} to {fewest} where it must be."
        )


def check_lengths(table: Table, labels: Labels, x_name: str, y_name: str) -> None:
    """Raise if table and labels have different numbers of rows."""
    if len(table) != len(labels):
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: {x_name} has "
            f"{len(table)} rows and {y_name} has {len(labels)}."
        )


def check_parameters(*, tau: float, mix: Sequence[float] = PAPER.mix, **counts: Any) -> None:
    """Raise if a parameter is out of its range; `counts` must be whole numbers of at least 1."""
    if not 0.5 <= tau <= 1:
        raise InputError(f"tau is {tau}: a confidence lies between 0.5 and 1.")
    for name, value in counts.items():
        if not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"{name} is {value!r}: it must be a whole number of at least 1.")
    if not len(mix) or not all(0 < weight < 1 for weight in mix):
        raise InputError(f"mix is {mix!r}: give weights between 0 and 1.")


def resolved_seed(random_state: Any) -> int:
    """Return the integer itself, so a paper seed means the same everywhere, or draw one."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def allows_gaps(model: Any) -> bool:
    """Return whether a model says that it takes missing values."""
    try:
        return bool(get_tags(model).input_tags.allow_nan)
    except AttributeError:
        # A model from outside scikit-learn: let it decide for itself.
        return True
