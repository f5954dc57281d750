"""The folds of cross-fitting: which rows a model is fitted on, and which it is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from falcon_discover.data.labels import Labels, label_repr
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import IntArray
from falcon_discover.settings import PAPER

Folds = list[tuple[IntArray, IntArray]]
# The mark of rows that are in no fold: none was ever held out from a model of theirs.
NO_FOLD = -1


def fold_numbers(folds: Sequence[tuple[IntArray, IntArray]], n: int) -> IntArray:
    """Return the fold in which each of n rows is held out; `NO_FOLD` for those that never are.

    Examples
    --------
    >>> fold_numbers([(np.array([0, 1]), np.array([2])), (np.array([0, 1, 2]), np.array([3]))], 4)
    array([-1, -1,  0,  1])
    """
    fold = np.full(n, NO_FOLD, dtype=np.intp)
    for number, (_, held_out) in enumerate(folds):
        fold[held_out] = number
    return fold


def dealt(n: int, seed: int) -> IntArray:
    """Return folds for rows that were held out together, so that rankers can be judged by them."""
    return np.random.default_rng(seed).permutation(n) % min(PAPER.n_folds, n)


def is_partition(folds: Sequence[tuple[IntArray, IntArray]], n: int) -> bool:
    """Return whether each row is held out, and each fold learns from all rows of the others."""
    return all(len(others) + len(held_out) == n for others, held_out in folds) and (
        sum(len(held_out) for _, held_out in folds) == n
    )


def make_folds(cv: Any, labels: Labels, seed: int) -> Folds:
    """Return folds in which every row is held out at most once; stratified for a number."""
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise InputError(f"cv is {cv}: cross-fitting needs at least 2 folds.")
        count = _fold_count(int(cv), labels)
        splitter = StratifiedKFold(count, shuffle=True, random_state=seed)
    else:
        splitter = check_cv(cv, labels.codes, classifier=True)
    try:
        # Said here in words of ours.
        with notices.ignoring(UserWarning, "The least populated class"):
            folds = list(splitter.split(np.zeros(len(labels)), labels.codes))
        folds = [tuple(map(np.asarray, fold)) for fold in folds]
        held_out = np.sort(np.concatenate([test for _, test in folds]))
        every = np.concatenate([held_out, *(train for train, _ in folds)])
    except (TypeError, ValueError) as error:
        raise InputError(_no_folds(cv, error)) from error
    _check_folds(folds, held_out, every, len(labels))
    return _learnable(folds, labels)


def _check_folds(folds: Folds, held_out: IntArray, every: IntArray, n: int) -> None:
    """Raise if a row is held out twice, learned from in its own fold, or not there."""
    if not len(held_out) or every.dtype.kind not in "iu" or every.min() < 0 or every.max() >= n:
        raise InputError(
            f"cv must give (train, test) pairs of row positions from 0 to {n - 1}, with rows to "
            "test."
        )
    twice = len(held_out) - len(np.unique(held_out))
    if twice:
        raise InputError(
            f"cv holds out {twice:,} row(s) more than once: every row may be held out once at "
            "most, as in a K-fold or TimeSeriesSplit. Give such a splitter, or a list of (train, "
            "test) pairs of row positions."
        )
    for number, (others, own) in enumerate(folds, start=1):
        if len(np.intersect1d(others, own)):
            raise InputError(f"fold {number} of cv tests rows that it trains on: keep them apart.")


def _learnable(folds: Folds, labels: Labels) -> Folds:
    """Return the folds that leave two classes to learn from, and say which do not."""
    known = [len(np.unique(labels.codes[others])) > 1 for others, _ in folds]
    if all(known):
        return folds
    if not any(known):
        raise InputError(
            "no fold of cv leaves rows of two classes to train on: give another splitter."
        )
    rows = sum(len(own) for (_, own), good in zip(folds, known, strict=True) if not good)
    notices.warn(
        f"{known.count(False)} of {len(folds)} folds of cv train on rows of one class only: their "
        f"{rows:,} rows are not judged, and serve as rows to compare with."
    )
    return [fold for fold, good in zip(folds, known, strict=True) if good]


def _fold_count(cv: int, labels: Labels) -> int:
    """Return how many folds the rows of each class allow, and say so where it is fewer."""
    counts = np.bincount(labels.codes, minlength=labels.n_classes)
    if labels.n_classes == 2:
        smallest = int(counts.min())
        if smallest < 2:
            rare = labels.classes[int(counts.argmin())]
            raise InputError(
                f"class {label_repr(rare)} has 1 sample only: cross-fitting needs 2 or more "
                "of each."
            )
        if smallest < cv:
            notices.warn(
                f"the rarer class has {smallest} rows: cv is lowered from {cv} to {smallest}."
            )
        return min(cv, smallest)
    if len(labels) < 2:
        raise InputError("there is 1 row only: cross-fitting needs 2 or more.")
    rare = [label_repr(labels.classes[c]) for c in np.flatnonzero((counts > 0) & (counts < cv))]
    if rare:
        shown = ", ".join(rare[:5]) + (", ..." if rare[5:] else "")
        notices.warn(
            f"fewer than {cv} rows are of class {shown}: some folds hold none of it, and models "
            "that were fitted without them do not know it."
        )
    # A fold needs a row, and so do the folds of the largest class.
    return max(2, min(cv, int(counts.max())))


def _no_folds(cv: Any, error: Exception) -> str:
    if "groups" in str(error):
        return (
            f"cv is {cv!r}, which needs groups, and fit does not take any yet: give cv the splits "
            "themselves, such as list(GroupKFold(5).split(X, y, groups))."
        )
    return (
        f"cv cannot split the rows ({error}): give a number of folds, a splitter of scikit-learn, "
        "or a list of (train, test) pairs of row positions."
    )
