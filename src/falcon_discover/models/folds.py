"""The folds of cross-fitting: which rows a model is fitted on, and which it is asked about."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from falcon_discover.data.drawing import group_folds
from falcon_discover.data.labels import Labels, label_repr
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import IntArray

Folds = list[tuple[IntArray, IntArray]]


def make_folds(cv: Any, labels: Labels, seed: int, group: IntArray | None = None) -> Folds:
    """Return stratified folds in which every row is held out exactly once.

    Parameters
    ----------
    group : the number of each row's group; no fold splits one
    """
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise InputError(f"cv is {cv}: cross-fitting needs at least 2 folds.")
        if group is not None:
            return _folds_of_groups(int(cv), labels, group, seed)
        count = _fold_count(int(cv), labels)
        splitter = StratifiedKFold(count, shuffle=True, random_state=seed)
    else:
        splitter = check_cv(cv, labels.codes, classifier=True)
    try:
        # Said here in words of ours.
        known = (labels.codes,) if group is None else (labels.codes, group)
        with (
            notices.ignoring(UserWarning, "The least populated class"),
            notices.ignoring(UserWarning, "The groups parameter is ignored"),
        ):
            folds = list(splitter.split(np.zeros(len(labels)), *known))
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
    if group is not None:
        _check_whole_groups(cv, folds, group)
    return folds


def _check_whole_groups(cv: Any, folds: Folds, group: IntArray) -> None:
    """Raise if a row would be held out while rows of its group are fitted on."""
    for others, held_out in folds:
        split = np.intersect1d(group[others], group[held_out])
        if len(split):
            row = held_out[np.isin(group[held_out], split)].min()
            raise InputError(
                f"cv is {cv!r}, which splits {len(split):,} of the groups, first that of row "
                f"{row}: give a number of folds, or a splitter that keeps groups together, such as "
                "StratifiedGroupKFold(5)."
            )


def _folds_of_groups(cv: int, labels: Labels, group: IntArray, seed: int) -> Folds:
    """Return as many folds as groups and classes allow, and say so where it is fewer."""
    present = np.unique(labels.codes)
    holding = [len(np.unique(group[labels.codes == code])) for code in present]
    if labels.n_classes == 2 and min(holding) < 2:
        rare = labels.classes[present[int(np.argmin(holding))]]
        raise InputError(
            f"class {label_repr(rare)} is in one group only: cross-fitting needs 2 groups or more "
            "with rows of each class."
        )
    if int(group.max()) < 1:
        raise InputError("there is 1 group only: cross-fitting needs 2 or more.")
    wanted = min(cv, min(holding) if labels.n_classes == 2 else int(group.max()) + 1)
    for count in range(wanted, 1, -1):
        folds = group_folds(labels.codes, group, count, seed)
        # A large group may take a whole fold, and all rows of a class with it.
        if len(folds) > 1 and (labels.n_classes > 2 or all(_both(labels, o) for o, _ in folds)):
            break
    else:
        raise InputError(
            "the groups cannot be dealt out into two folds with rows of both classes each: too few "
            "groups hold the rarer one."
        )
    if len(folds) < cv:
        notices.warn(
            f"{int(group.max()) + 1:,} groups, the rarest class in {min(holding):,} of them, allow "
            f"no more than {len(folds)} folds: cv is lowered from {cv} to {len(folds)}."
        )
    return folds


def _both(labels: Labels, rows: IntArray) -> bool:
    return len(np.unique(labels.codes[rows])) > 1


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
            f"cv is {cv!r}, which needs groups: give fit the group of each row, "
            "fit(X, y, groups=...)."
        )
    return (
        f"cv cannot split the rows ({error}): give a number of folds, a splitter of scikit-learn, "
        "or a list of (train, test) pairs of row positions."
    )
