"""A model's probabilities by its fastest way that gives the same numbers, and a check of them.

Two kinds of scikit-learn models go through all rows once per tree, and are several times faster in
blocks of rows that stay in the processor's cache, each on a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import is_classifier, is_regressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

from falcon_discover.data.table import take_rows
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.runtime.threads import one_openmp_thread, openmp_threads
from falcon_discover.runtime.types import FloatArray
from falcon_discover.runtime.words import number_of

FORESTS = (RandomForestClassifier, ExtraTreesClassifier)
# Rows of a block: fewer cost more calls, more fall out of the cache.
BLOCK_ROWS = 4096
# How far two probabilities may be from summing to one: half precision, and nothing worse.
SUM_TOLERANCE = 1e-3
ROUNDING = 1e-6

Proba = Callable[[Any], FloatArray]


def proba(model: Any, rows: Any) -> Any:
    """Return the model's probabilities of each row, as the model gives them.

    Examples
    --------
    >>> X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    >>> model = RandomForestClassifier(5, n_jobs=2, random_state=0).fit(X, y)
    >>> bool((proba(model, X) == model.predict_proba(X)).all())
    True
    """
    if isinstance(model, FORESTS):
        # A forest's own threads add up the trees' votes in the order they finish, which changes
        # the last digits from call to call.
        alone = copy(model)
        alone.n_jobs = 1
        with notices.ignoring.in_threads():
            return _in_blocks(alone.predict_proba, rows, effective_n_jobs(model.n_jobs))
    if isinstance(model, HistGradientBoostingClassifier):
        return _in_blocks(_on_one_thread(model.predict_proba), rows, openmp_threads())
    return model.predict_proba(rows)


def if_percent(p: FloatArray) -> str:
    """Return what to do with scores that look like percentages; nothing for others."""
    known = p[np.isfinite(p)]
    looks = len(known) > 0 and known.min() >= 0 and 2 < known.max() <= 100
    return " If these are percentages, divide them by 100." if looks else ""


def positive_class(
    found: Any,
    n_rows: int,
    *,
    column: int = 1,
    source: str = "proba",
    name: Callable[[int], Any] = int,
) -> FloatArray:
    """Return positive-class scores in an array of their own; raise if they are no probabilities.

    Parameters
    ----------
    found : two columns that sum to one, or the probability of the second class alone
    n_rows : how many rows were asked about
    column : the positive class's column
    source : what `found` is, in words
    name : what a row is called, by its position

    Examples
    --------
    >>> positive_class([[0.2, 0.8], [0.9, 0.1]], 2)
    array([0.8, 0.1])
    >>> positive_class([[0.8], [0.1]], 2, column=0)
    array([0.2, 0.9])
    """
    values = _real_numbers(found, source)
    if values.shape in {(n_rows,), (n_rows, 1)}:
        values = values.reshape(n_rows)
        p = values.copy() if column == 1 else 1.0 - values
    elif values.shape == (n_rows, 2):
        p = values[:, column].copy()
    else:
        raise InputError(
            f"{source} has the shape {values.shape}: give one positive-class score per row, "
            f"{n_rows} in all, or two columns, one for each class."
        )
    # What is compared with NaN is False.
    bad = np.flatnonzero(~((p >= -ROUNDING) & (p <= 1 + ROUNDING)))
    if len(bad):
        raise InputError(
            f"{source} is {p[bad[0]]} in row {name(bad[0])} ({number_of(len(bad), 'such row')}): "
            f"a probability lies between 0 and 1.{if_percent(p)}"
        )
    if values.ndim == 2:
        total = values[:, 0] + values[:, 1]
        bad = np.flatnonzero(~(np.abs(total - 1) <= SUM_TOLERANCE))
        if len(bad):
            raise InputError(
                f"{source} has two columns that sum to {total[bad[0]]:g} in row {name(bad[0])} "
                f"({number_of(len(bad), 'such row')}): the probabilities of two classes must sum "
                "to 1."
            )
    return np.clip(p, 0.0, 1.0, out=p)


def class_scores(
    found: Any,
    n_rows: int,
    columns: Sequence[int],
    n_classes: int,
    *,
    source: str = "proba",
    name: Callable[[int], Any] = int,
) -> FloatArray:
    """Return the probability of each class in an array of their own; raise if they are none.

    Parameters
    ----------
    found : one column for each of the classes that `columns` names
    n_rows : how many rows were asked about
    columns : the class that each column belongs to; other classes have the probability 0
    n_classes : how many classes there are
    source, name : as in `positive_class`

    Examples
    --------
    >>> class_scores([[0.2, 0.8]], 1, columns=[0, 2], n_classes=3)
    array([[0.2, 0. , 0.8]])
    """
    values = _real_numbers(found, source)
    if values.shape != (n_rows, len(columns)):
        raise InputError(
            f"{source} has the shape {values.shape}: give one column for each class, "
            f"{n_rows} rows of {len(columns)}."
        )
    bad = np.flatnonzero(~((values >= -ROUNDING) & (values <= 1 + ROUNDING)).all(axis=1))
    if len(bad):
        row = values[bad[0]]
        worst = row[~((row >= -ROUNDING) & (row <= 1 + ROUNDING))][0]
        raise InputError(
            f"{source} is {worst} in row {name(bad[0])} ({number_of(len(bad), 'such row')}): a "
            f"probability lies between 0 and 1.{if_percent(values.ravel())}"
        )
    total = values.sum(axis=1)
    bad = np.flatnonzero(~(np.abs(total - 1) <= SUM_TOLERANCE))
    if len(bad):
        raise InputError(
            f"{source} has columns that sum to {total[bad[0]]:g} in row {name(bad[0])} "
            f"({number_of(len(bad), 'such row')}): the probabilities of all classes must sum to "
            "1."
        )
    p = np.zeros((n_rows, n_classes))
    p[:, list(columns)] = np.clip(values, 0.0, 1.0)
    return p


def _real_numbers(found: Any, source: str) -> FloatArray:
    if np.ma.is_masked(found):
        raise InputError(f"{source} contains masked values: give a probability for each row.")
    try:
        values = np.asarray(found)
        if values.dtype.kind != "c":
            return values.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{source} has the type {type(found).__name__} and cannot be read as numbers "
            f"({error}): give an array."
        ) from error
    raise InputError(f"{source} contains complex numbers: give real probabilities.")


def check_fittable(estimator: Any) -> None:
    """Raise if this is nothing that could be fitted and then asked for probabilities."""
    name = getattr(estimator, "__name__", type(estimator).__name__)
    if isinstance(estimator, type):
        raise InputError(f"estimator is the class {name}: give an instance of it, {name}().")
    has_proba = hasattr(estimator, "predict_proba")
    if not has_proba and (_is_booster(estimator) or _is(is_regressor, estimator)):
        raise InputError(no_probabilities(estimator))
    if hasattr(estimator, "fit") and hasattr(estimator, "get_params"):
        return
    if has_proba:
        raise InputError(
            f"{name} cannot be cloned and refitted like a scikit-learn classifier: pass "
            "FrozenEstimator(model) to audit it as it is."
        )
    raise InputError(
        f"estimator is a {name}: give a classifier, FrozenEstimator(model), the name of a library "
        "model, or None."
    )


def no_probabilities(model: Any) -> str:
    """Return what is missing, and the way that leads on for this kind of model."""
    kind = type(model)
    if _is_booster(model):
        way = "pass its probabilities to discover(X, y, proba)"
        if kind.__module__.startswith("xgboost"):
            way = f"load it with XGBClassifier().load_model(path), or {way}"
        return f"{kind.__module__.partition('.')[0]}.Booster has no predict_proba: {way}."
    if _is(is_regressor, model):
        return (
            f"{kind.__name__} is a regressor and has no predict_proba: if it predicts "
            "probabilities, pass them to discover(X, y, proba)."
        )
    if _is(is_classifier, model) or hasattr(model, "decision_function"):
        return (
            f"{kind.__name__} has no predict_proba: wrap it in "
            "sklearn.calibration.CalibratedClassifierCV to get probabilities."
        )
    return (
        f"{kind.__name__} has no predict_proba: pass the probabilities of its positive class to "
        "discover(X, y, proba)."
    )


def _is(kind: Callable[[Any], bool], model: Any) -> bool:
    try:
        return kind(model)
    except (AttributeError, TypeError):
        # Not of scikit-learn's family.
        return False


def _is_booster(model: Any) -> bool:
    library = type(model).__module__.partition(".")[0]
    return type(model).__name__ == "Booster" and library in ("xgboost", "lightgbm")


def _in_blocks(predict: Proba, rows: Any, threads: int) -> FloatArray:
    n_rows = rows.shape[0]
    # At least one block per thread, and all of about the same size.
    n_blocks = max(min(threads, -(-n_rows // (BLOCK_ROWS // 4))), -(-n_rows // BLOCK_ROWS))
    if n_blocks <= 1:
        return predict(rows)
    bounds = np.linspace(0, n_rows, n_blocks + 1).astype(int)
    blocks = [take_rows(rows, slice(*pair)) for pair in pairwise(bounds)]
    if threads == 1:
        return np.concatenate([predict(block) for block in blocks])
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(predict, blocks)))


def _on_one_thread(predict: Proba) -> Proba:
    def alone(rows: Any) -> FloatArray:
        with one_openmp_thread():
            return predict(rows)

    return alone
