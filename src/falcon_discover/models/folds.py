"""The folds of cross-fitting: which rows a model is fitted on, and which it is asked about."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from falcon_discover.data.labels import Labels, label_repr
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import IntArray

Folds = list[tuple[IntArray, IntArray]]


def make_folds(cv: Any, labels: Labels, seed: int) -> Folds:
    """Return stratified folds in which every row is held out exactly once."""
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
        held_out = np.sort(np.concatenate([test for _, test in folds]))
    except (TypeError, ValueError) as error:
        raise InputError(_no_folds(cv, error)) from error
    if not np.array_equal(held_out, np.arange(len(labels))):
        raise InputError(
            "cv must hold out every row exactly once, as a K-fold does: give such a splitter, or a "
            "list of (train, test) pairs of row positions. For rows in the order of time, "
            "KFold(5) holds out one period after another; or freeze a model that was fitted on "
            "earlier rows and audit later ones."
        )
    return folds


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
