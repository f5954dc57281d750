"""Checks of what `FalconDiscover` and `discover()` are given, each with its sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import validate_data

from falcon_discover.audit.absent import OWN_SCORES
from falcon_discover.data.labels import Labels, label_repr
from falcon_discover.data.table import Table
from falcon_discover.exceptions import InputError, check_number, check_numbers
from falcon_discover.metrics.decisions import Tau
from falcon_discover.models.proba import class_scores, positive_class
from falcon_discover.runtime import notices
from falcon_discover.runtime.records import scalar
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.settings import PAPER


def given_probabilities(
    proba: npt.ArrayLike, n: int, n_classes: int = 2, scored: int = 1
) -> FloatArray:
    """Return one positive-class score per row; of more than two classes, a column for each.

    Parameters
    ----------
    scored : which of two classes one column of scores is the probability of
    """
    if n_classes > 2:
        return class_scores(proba, n, range(n_classes), n_classes)
    p = positive_class(proba, n)
    return 1.0 - p if scored == 0 and np.ndim(proba) == 1 else p


def check_given(precomputed: bool, proba: Any, positive: Any, X_cal: Any) -> None:
    """Raise if the scores of a fit are missing, or were given and are not wanted."""
    if not precomputed:
        if proba is not None:
            raise InputError(OWN_SCORES)
        if positive is not None:
            raise InputError("positive only applies with proba: leave it out.")
        return
    if proba is None:
        raise InputError("estimator is 'precomputed': pass the scores of the rows as proba.")
    if X_cal is not None:
        raise InputError(
            "X_cal was given, but with estimator 'precomputed' there is no model to score those "
            "rows. Pass all labelled rows to fit."
        )


def scored_class(positive: Any, labels: Labels, dimensions: int) -> int:
    """Return which class a column of scores is the probability of; the last, if nothing is said.

    Parameters
    ----------
    positive : the label that was named, or None
    dimensions : of the scores
    """
    if positive is None:
        return 1
    if dimensions == 2:
        raise InputError(
            "positive only applies to a single column of scores, and proba has more: leave it out."
        )
    names = [str(label) for label in labels.classes]
    if str(positive) not in names:
        raise InputError(
            f"positive is {str(positive)!r}, but the labels are {names[0]!r} and {names[1]!r}: "
            "pass one of them."
        )
    return names.index(str(positive))


def warn_decisions(p: FloatArray) -> None:
    """Warn if given scores are decisions, not probabilities."""
    if np.isin(p, (0.0, 1.0)).all():
        notices.warn(
            "proba contains only 0 and 1, which look like decisions, not probabilities: every row "
            "counts as fully confident. Pass probabilities if you have them."
        )


def warn_few_rows(folds: list[tuple[IntArray, IntArray]], n_neighbors: int) -> None:
    """Warn where neighbourhoods must be smaller than asked for."""
    fewest = min(len(others) for others, _ in folds)
    if fewest < n_neighbors:
        notices.warn(
            f"there are only {fewest} rows to compare with: n_neighbors is lowered from "
            f"{n_neighbors} to {fewest} where necessary."
        )


def warn_own_decisions(differing: int, n_rows: int, threshold: float, n_classes: int) -> None:
    """Warn where a model decides otherwise than by its scores."""
    if differing and n_classes > 2:
        notices.warn(
            f"the model's predict differs from its most probable class in {differing:,} of "
            f"{n_rows:,} rows: the audit is about the most probable class."
        )
    elif differing:
        level = f"{threshold:g}"
        notices.warn(
            f"the model's predict differs from 'p >= {level}' in {differing:,} of {n_rows:,} "
            f"rows: the audit is about decisions at {level}, not the model's own. Set threshold "
            "to the model's."
        )


def resolved_tau(tau: Any, labels: Labels) -> Tau:
    """Return one confidence for all classes, or one for each in their order.

    Examples
    --------
    >>> resolved_tau({"yes": 0.8, "no": 0.95}, Labels.from_input(["no", "yes"]))
    (0.95, 0.8)
    """
    if not isinstance(tau, Mapping):
        return float(tau)
    given = {str(scalar(label)): float(level) for label, level in tau.items()}
    names = [str(scalar(label)) for label in labels.classes]
    strange = [name for name in given if name not in names]
    missing = [name for name in names if name not in given]
    if strange or missing:
        fault = f"names {strange[0]!r}" if strange else f"does not name {missing[0]!r}"
        raise InputError(f"tau {fault}: give one number for each of {', '.join(names)}.")
    levels = tuple(given[name] for name in names)
    return levels[0] if len(set(levels)) == 1 else levels


def check_lengths(table: Table, labels: Labels, x_name: str, y_name: str) -> None:
    """Raise if table and labels have different numbers of rows."""
    if len(table) != len(labels):
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: {x_name} has "
            f"{len(table)} rows and {y_name} has {len(labels)}."
        )


def check_parameters(
    *,
    tau: Any,
    cv: Any,
    random_state: Any,
    n_jobs: Any,
    verbose: Any = 0,
    mix: Any = PAPER.mix,
    threshold: Any = PAPER.decision_threshold,
    **counts: Any,
) -> None:
    """Raise if a parameter is of the wrong type or out of its range, before work starts.

    `counts` must be whole numbers of at least 1.
    """
    for name, level in _levels(tau).items():
        percent = isinstance(level, int | float) and 50 <= level <= 100
        meant = f" (did you mean {level / 100:g}?)" if percent else ""
        must = f"give a confidence between 0.5 and 1{meant}"
        check_number(name, level, lambda value: 0.5 <= value <= 1, must)
    must = "give a probability between 0 and 1"
    check_number("threshold", threshold, lambda value: 0 < value < 1, must)
    for name, value in counts.items():
        if not _is_whole(value) or value < 1:
            raise InputError(f"{name} is {value!r}: give a whole number of at least 1.")
    check_numbers("mix", mix, lambda weight: 0 < weight < 1, "give weights between 0 and 1")
    if isinstance(cv, bool | str | float) or not (
        cv is None or _is_whole(cv) or hasattr(cv, "split") or isinstance(cv, Iterable)
    ):
        raise InputError(
            f"cv is {cv!r}: give a number of folds, a scikit-learn splitter, or a list of "
            "(train, test) pairs of row positions."
        )
    seeded = _is_whole(random_state) and 0 <= random_state < 2**32
    if not (random_state is None or seeded or isinstance(random_state, np.random.RandomState)):
        raise InputError(
            f"random_state is {random_state!r}: give a whole number from 0 to 2**32 - 1, a "
            "numpy.random.RandomState or None."
        )
    if n_jobs is not None and (not _is_whole(n_jobs) or n_jobs == 0):
        raise InputError(
            f"n_jobs is {n_jobs!r}: give a number of threads, -1 for all cores, or None."
        )
    if not isinstance(verbose, bool) and not _is_whole(verbose):
        raise InputError(f"verbose is {verbose!r}: give 0, or 1 to show progress.")


def _levels(tau: Any) -> dict[str, Any]:
    if not isinstance(tau, Mapping):
        return {"tau": tau}
    if not tau:
        raise InputError("tau is empty: give one number, or one for each class.")
    return {f"tau[{label_repr(label)}]": level for label, level in tau.items()}


def check_threshold(threshold: float, labels: Labels) -> None:
    """Raise if a threshold is asked for and there are more than two classes."""
    if threshold != PAPER.decision_threshold and labels.n_classes != 2:
        raise InputError(
            f"threshold is {threshold:g}, but there are {labels.n_classes} classes: it only "
            "applies to two. Leave it out; the most probable class is predicted."
        )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def resolved_seed(random_state: Any) -> int:
    """Return the integer itself, so a paper seed means the same everywhere, or draw one."""
    if _is_whole(random_state):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def neighbour_count(wanted: int, n_rows: int) -> int:
    """Return how many neighbours to search: no more than there can be.

    Examples
    --------
    >>> neighbour_count(25, 10), neighbour_count(10**9, 400)
    (25, 400)
    """
    # A few more than there are cost nothing, and are missing in the same way.
    return min(wanted, max(n_rows, PAPER.n_neighbors))


def check_same_rows(X: Any, y: Any, x_name: str = "X", y_name: str = "y") -> None:
    """Raise if two pandas objects have the same row labels in another order.

    Rows are taken by position, so these would be taken for others.
    """
    if not isinstance(X, pd.DataFrame) or not isinstance(y, pd.Series | pd.DataFrame):
        return
    left, right = X.index, y.index
    if len(left) != len(right) or left.equals(right) or not (left.is_unique and right.is_unique):
        return
    if len(left.difference(right, sort=False)) == 0:
        raise InputError(
            f"{x_name} and {y_name} have the same row labels in another order: align them with "
            f"{y_name}.loc[{x_name}.index], or pass {y_name}.to_numpy() to take rows by position."
        )


def check_all_same_rows(X: Any, x_name: str = "X", **given: Any) -> None:
    """Raise if something that comes with rows has their labels in another order."""
    for name, values in given.items():
        check_same_rows(X, values, x_name, name)


def check_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Hold the columns of rows to those of the fit, as scikit-learn does."""
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from error


def warn_target_among_columns(table: Table, labels: Labels) -> None:
    """Warn about a column that says the label of every row: the target, left in by mistake."""
    some = slice(0, 200)
    for name in table.kinds:
        column = table.frame[name]
        if _one_to_one(column[some], labels.codes[some]) and _one_to_one(column, labels.codes):
            notices.warn(
                f"column {name!r} gives away the class of every row: if it is the target, or "
                "derived from it, leave it out of X."
            )


def _one_to_one(column: pd.Series, codes: npt.NDArray[np.int8]) -> bool:
    places, values = pd.factorize(column)
    found, classes = pd.factorize(codes)
    if len(values) != len(classes) or (places < 0).any():
        return False
    return bool((places == found).all())


def accepts_missing(model: Any) -> bool:
    """Return whether a model says that it takes missing values."""
    try:
        return bool(get_tags(model).input_tags.allow_nan)
    except AttributeError:
        # A model from outside scikit-learn: let it decide for itself.
        return True
