"""Scores of the rows that a row is compared with, by models that saw neither of the two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.models.adapter import Probe
from falcon_discover.models.folds import NO_FOLD, Folds, fold_numbers, is_partition
from falcon_discover.runtime import progress
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.settings import PAPER

Fit = Callable[[IntArray], Probe]
Take = Callable[[IntArray], Table]


def repeated(p: FloatArray, times: int) -> FloatArray:
    """Return the same scores for each fold."""
    return np.repeat(p[None], times, axis=0)


def held_out_of(
    folds: Folds, codes: npt.NDArray[np.integer], p: FloatArray, weight: FloatArray | None
) -> tuple[npt.NDArray[np.integer], FloatArray, FloatArray | None]:
    """Return labels, scores and weights of the rows that were held out."""
    held_out = fold_numbers(folds, len(codes)) != NO_FOLD
    return codes[held_out], p[held_out], None if weight is None else weight[held_out]


def scores_as_reference(
    folds: Folds,
    p: FloatArray,
    labels: Labels,
    fit: Fit,
    take: Take,
    weight: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the scores of all rows, and `CrossFit.reference_p`.

    Parameters
    ----------
    p : out-of-fold scores of the rows that are held out; those of the others do not count
    fit : fits the base model on some rows
    take : returns some rows
    weight : how many rows each stands for; nothing is learned from those of weight 0
    """
    if not is_partition(folds, len(p)):
        counts = np.ones(len(p), dtype=np.bool_) if weight is None else weight > 0
        return _partial(folds, p, labels, fit, take, counts)
    scores = repeated(p, len(folds))
    fold_of = fold_numbers(folds, len(p))
    pairs = list(combinations(range(len(folds)), 2))
    if len(folds) == 2:
        # Without both folds nothing is left to fit on; the other fold's model must do.
        return p, scores
    progress.expect(len(pairs))
    for first, second in pairs:
        model = fit(np.flatnonzero((fold_of != first) & (fold_of != second)))
        for here, there in ((first, second), (second, first)):
            rows = np.flatnonzero(fold_of == there)
            scores[here, rows] = model.score(take(rows))
    return p, scores


def _partial(
    folds: Folds, p: FloatArray, labels: Labels, fit: Fit, take: Take, counts: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the same where a fold learns from some rows only, such as those of its past.

    The own score of a row serves where its model did not see the fold: so it is in the order of
    time. Elsewhere a model is fitted on what the fold learns from, less the row's own fold.
    """
    fold_of = fold_numbers(folds, len(p))
    never = np.flatnonzero(fold_of == NO_FOLD)
    known: dict[bytes, FloatArray] = {}

    def among(rows: IntArray) -> FloatArray:
        if rows.tobytes() not in known:
            known[rows.tobytes()] = _cross_fitted(rows, p, labels, fit, take, counts)
        return known[rows.tobytes()]

    p = p.copy()
    if len(never):
        p[never] = among(never)
    scores = repeated(p, len(folds))
    for number, (others, held_out) in enumerate(folds):
        rest = np.sort(others[fold_of[others] == NO_FOLD])
        if len(rest):
            scores[number, rest] = among(rest)
        for other, (seen, theirs) in enumerate(folds):
            rows = np.intersect1d(others, theirs)
            if other == number or not len(rows) or not len(np.intersect1d(seen, held_out)):
                continue
            left = np.setdiff1d(others, theirs)
            scores[number, rows] = _scored(left, rows, labels, fit, take, counts)
    return p, scores


def _cross_fitted(
    rows: IntArray, p: FloatArray, labels: Labels, fit: Fit, take: Take, counts: BoolArray
) -> FloatArray:
    """Return scores of rows that are never held out, each by a model of others among them."""
    scores = np.empty((len(rows), *p.shape[1:]))
    for train, test in _inner(labels.codes[rows]):
        scores[test] = _scored(rows[train], rows[test], labels, fit, take, counts)
    return scores


def _inner(codes: npt.NDArray[np.integer]) -> Iterator[tuple[IntArray, IntArray]]:
    counts = np.bincount(codes)
    count = min(PAPER.n_folds, int(counts[counts > 0].min()))
    if count < 2:
        # Too few to part: their own shares of the classes must do.
        every = np.arange(len(codes))
        return iter([(every[:0], every)])
    return iter(StratifiedKFold(count, shuffle=True, random_state=0).split(codes, codes))


def _scored(
    train: IntArray, rows: IntArray, labels: Labels, fit: Fit, take: Take, counts: BoolArray
) -> FloatArray:
    """Return scores by a model of some rows; shares of the classes where there are not two."""
    progress.expect(1)
    if len(np.unique(labels.codes[train[counts[train]]])) > 1:
        return fit(train).score(take(rows))
    codes = labels.codes[rows if not len(train) else train]
    shares = np.bincount(codes, minlength=labels.n_classes) / len(codes)
    if labels.n_classes == 2:
        return np.full(len(rows), shares[1])
    return np.tile(shares, (len(rows), 1))
