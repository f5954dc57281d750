"""The folds of cross-fitting: which rows a model is fitted on, and which it is asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold, check_cv

from falcon_discover.data.drawing import group_folds
from falcon_discover.data.labels import Labels, label_repr
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.runtime.words import number_of
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


def make_folds(
    cv: Any,
    labels: Labels,
    seed: int,
    group: IntArray | None = None,
    weight: FloatArray | None = None,
) -> Folds:
    """Return folds in which every row is held out at most once; stratified for a number.

    Parameters
    ----------
    group : the number of each row's group; no fold splits one
    weight : how many rows each stands for; nothing is learned from those of weight 0
    """
    # Rows that count and rows that do not are spread over the folds alike.
    counts = None if weight is None or weight.all() else weight > 0
    kind = labels.codes if counts is None else 2 * labels.codes.astype(np.intp) + counts
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise InputError(f"cv is {cv}: cross-fitting needs at least 2 folds.")
        if group is not None:
            return _folds_of_groups(int(cv), labels, group, seed, kind, counts)
        count = _fold_count(int(cv), labels, counts)
        splitter = StratifiedKFold(count, shuffle=True, random_state=seed)
    else:
        splitter = check_cv(cv, labels.codes, classifier=True)
    try:
        # Said here in words of ours.
        known = (kind,) if group is None else (kind, group)
        with (
            notices.ignoring(UserWarning, "The least populated class"),
            notices.ignoring(UserWarning, "The groups parameter is ignored"),
        ):
            folds = list(splitter.split(np.zeros(len(labels)), *known))
        folds = [tuple(map(np.asarray, fold)) for fold in folds]
        held_out = np.sort(np.concatenate([test for _, test in folds]))
        every = np.concatenate([held_out, *(train for train, _ in folds)])
    except (TypeError, ValueError) as error:
        raise InputError(_no_folds(cv, error)) from error
    _check_folds(folds, held_out, every, len(labels))
    if group is not None:
        _check_whole_groups(cv, folds, group)
    return _learnable(folds, labels, counts)


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
            f"cv holds out {number_of(twice, 'row')} more than once: give a splitter that holds "
            "out each row at most once, such as KFold or TimeSeriesSplit, or a list of (train, "
            "test) pairs of row positions."
        )
    for number, (others, own) in enumerate(folds, start=1):
        if len(np.intersect1d(others, own)):
            raise InputError(f"fold {number} of cv tests rows that it trains on: keep them apart.")


def _learnable(folds: Folds, labels: Labels, counts: BoolArray | None) -> Folds:
    """Return the folds that leave two classes to learn from, and say which do not."""
    known = [_both(labels, others, counts) for others, _ in folds]
    if all(known):
        return folds
    if not any(known):
        raise InputError("no fold of cv trains on rows of two classes: give another splitter.")
    rows = sum(len(own) for (_, own), good in zip(folds, known, strict=True) if not good)
    notices.warn(
        f"{known.count(False)} of {len(folds)} folds of cv train on rows of one class only: the "
        f"{rows:,} rows they hold out are not judged, only used for comparison."
    )
    return [fold for fold, good in zip(folds, known, strict=True) if good]


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


def _folds_of_groups(
    cv: int,
    labels: Labels,
    group: IntArray,
    seed: int,
    kind: npt.NDArray[np.integer],
    counts: BoolArray | None,
) -> Folds:
    """Return as many folds as groups and classes allow, and say so where it is fewer."""
    codes = labels.codes if counts is None else np.where(counts, labels.codes, -1)
    present = np.unique(labels.codes)
    holding = [len(np.unique(group[codes == code])) for code in present]
    if labels.n_classes == 2 and min(holding) < 2:
        rare = labels.classes[present[int(np.argmin(holding))]]
        raise InputError(
            f"class {label_repr(rare)} occurs in {_few(min(holding), 'group', counts)}: "
            "cross-fitting needs at least 2 groups with rows of each class."
        )
    if int(group.max()) < 1:
        raise InputError("there is only 1 group: cross-fitting needs at least 2.")
    wanted = min(cv, min(holding) if labels.n_classes == 2 else int(group.max()) + 1)
    for count in range(wanted, 1, -1):
        folds = group_folds(kind, group, count, seed)
        # A large group may take a whole fold, and all rows of a class with it.
        good = labels.n_classes > 2 and counts is None
        if len(folds) > 1 and (good or all(_both(labels, o, counts) for o in _left(folds, counts))):
            break
    else:
        raise InputError(
            "the groups cannot be split into two folds that both have rows of each class: too "
            "few groups contain the rarer one."
        )
    if len(folds) < cv:
        notices.warn(
            f"{int(group.max()) + 1:,} groups, the rarest class in {min(holding):,} of them, "
            f"allow only {len(folds)} folds: cv is lowered from {cv} to {len(folds)}."
        )
    return folds


def _left(folds: Folds, counts: BoolArray | None) -> Iterator[IntArray]:
    """Yield the rows without each fold; among rows of weight 0, without each two folds too."""
    for others, _ in folds:
        yield others
    for first, second in combinations(folds, 2) if counts is not None and len(folds) > 2 else ():
        yield np.intersect1d(first[0], second[0])


def _both(labels: Labels, rows: IntArray, counts: BoolArray | None) -> bool:
    """Return whether there is more than one class among the rows that count."""
    codes = labels.codes[rows]
    return len(np.unique(codes if counts is None else codes[counts[rows]])) > 1


def _few(number: int, what: str, counts: BoolArray | None) -> str:
    few = f"only {number_of(number, what)}" if number else f"no {what}"
    return f"{few}{'' if counts is None else ' with a weight above 0'}"


def _fold_count(cv: int, labels: Labels, counting: BoolArray | None) -> int:
    """Return how many folds the rows of each class allow, and say so where it is fewer."""
    codes = labels.codes if counting is None else labels.codes[counting]
    counts = np.bincount(codes, minlength=labels.n_classes)
    if labels.n_classes == 2:
        smallest = int(counts.min())
        if smallest < 2:
            rare = labels.classes[int(counts.argmin())]
            raise InputError(
                f"class {label_repr(rare)} has {_few(smallest, 'sample', counting)}: cross-fitting "
                "needs at least 2 of each."
            )
        if smallest < cv:
            notices.warn(
                f"the rarer class has {smallest} rows: cv is lowered from {cv} to {smallest}."
            )
        return min(cv, smallest)
    if len(labels) < 2:
        raise InputError("there is only 1 row: cross-fitting needs at least 2.")
    rare = [label_repr(labels.classes[c]) for c in np.flatnonzero((counts > 0) & (counts < cv))]
    if rare:
        shown = ", ".join(rare[:5]) + (", ..." if rare[5:] else "")
        notices.warn(
            f"fewer than {cv} rows are of class {shown}: some folds have none, and models fitted "
            "without them cannot predict it."
        )
    # A fold needs a row, and so do the folds of the largest class.
    return max(2, min(cv, int(counts.max())))


def _no_folds(cv: Any, error: Exception) -> str:
    if "groups" in str(error):
        return (
            f"cv is {cv!r}, which needs groups: pass the group of each row, fit(X, y, groups=...)."
        )
    return (
        f"cv cannot split the rows ({error}): give a number of folds, a scikit-learn splitter, or "
        "a list of (train, test) pairs of row positions."
    )
