"""Second opinions: what other models, trained on the reference rows, say about a prediction."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs

from falcon_discover.data.table import Table, informative_columns
from falcon_discover.data.view import TransformedView
from falcon_discover.models.adapter import Probe
from falcon_discover.models.fitting import fit_candidate
from falcon_discover.models.folds import Folds, fold_numbers, is_partition
from falcon_discover.models.library import OPINIONS
from falcon_discover.runtime import progress
from falcon_discover.runtime.types import Float32Array, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Opinions:
    """Cheap, diverse models on the transformed view of the reference rows.

    Examples
    --------
    >>> rows = np.linspace(-1, 1, 80, dtype=np.float32)[:, None]
    >>> opinions = Opinions.fit(rows, (rows[:, 0] > 0).astype(int), seed=0)
    >>> opinions.predict(rows[[0, -1]]).round()
    array([[0., 0., 0.],
           [1., 1., 1.]])
    """

    models: dict[str, Any]
    columns: IntArray
    # Of more than two classes, those that the models know.
    classes: tuple[int, ...] = ()
    n_classes: int = 2

    @classmethod
    def fit(
        cls,
        coordinates: Float32Array,
        labels: npt.NDArray[np.integer],
        *,
        seed: int,
        n_jobs: int | None = None,
        n_classes: int = 2,
        weight: FloatArray | None = None,
    ) -> Opinions:
        """Fit one model of each kind; with one class only there is nothing to have views on.

        Rows of weight 0 teach nothing.
        """
        if weight is not None and not weight.all():
            there = weight > 0
            coordinates, labels, weight = coordinates[there], labels[there], weight[there]
        columns = informative_columns(coordinates)
        present = tuple(int(code) for code in np.unique(labels))
        if len(present) < 2 or not len(columns):
            return cls({}, columns)
        rows, models = coordinates[:, columns], {}
        progress.expect(len(OPINIONS))
        for name, candidate in OPINIONS.items():
            progress.step(f"second opinions: {name}")
            models[name] = fit_candidate(
                candidate,
                rows,
                labels,
                seed=seed,
                n_jobs=effective_n_jobs(n_jobs),
                weight=weight,
            )
        return cls(models, columns, present if n_classes > 2 else (), n_classes)

    def predict(self, coordinates: Float32Array) -> FloatArray:
        """Return rows x opinions: positive-class scores, or rows x opinions x classes."""
        rows = coordinates[:, self.columns]
        said = [
            Probe(model, columns=self.classes, n_classes=self.n_classes).predict(
                rows.astype(OPINIONS[name].dtype, copy=False)
            )
            for name, model in self.models.items()
        ]
        return np.stack(said, axis=1) if said else np.empty((len(rows), 0))


@dataclass(frozen=True, eq=False)
class CrossOpinions:
    """What second opinions say of the rows they might have been fitted on.

    Attributes
    ----------
    names : of the opinions
    own : rows x opinions (x classes, of more than two); by models that did not see the row's fold
    apart : folds x rows x opinions (x classes); by models that saw neither that fold nor the row's
        own. As `own` where that is all there is: in the row's own fold, and with two folds only
    """

    names: list[str]
    own: FloatArray
    apart: FloatArray

    @classmethod
    def fit(
        cls,
        table: Table,
        labels: npt.NDArray[np.integer],
        folds: Folds,
        seed: int,
        n_jobs: int | None = None,
        n_classes: int = 2,
        *,
        weight: FloatArray | None = None,
    ) -> CrossOpinions:
        """Fit the opinions without each fold, and without each pair of folds."""
        fold = fold_numbers(folds, len(table))
        partition = is_partition(folds, len(table))
        # Opinions of models that could not be fitted, on one class only, lean to neither side.
        each = (len(OPINIONS),) if n_classes == 2 else (len(OPINIONS), n_classes)
        own = np.full((len(table), *each), 0.5)
        # One view of all rows, as of the reference of new rows: it knows no labels. Where a fold
        # learns from some rows only, such as its past, the view must not know more either.
        every = TransformedView().fit(table).transform(table) if partition else None

        def said(others: IntArray, asked: IntArray) -> FloatArray | None:
            rows = every
            if rows is None:
                rows = TransformedView().fit(table.take(others)).transform(table)
            opinions = Opinions.fit(
                rows[others],
                labels[others],
                seed=seed,
                n_jobs=n_jobs,
                n_classes=n_classes,
                weight=None if weight is None else weight[others],
            )
            return opinions.predict(rows[asked]) if opinions.models else None

        for others, held_out in folds:
            views = said(others, held_out)
            if views is not None:
                own[held_out] = views
        apart = np.repeat(own[None], len(folds), axis=0)
        if not partition:
            for here, (others, held_out) in enumerate(folds):
                for there, (_, theirs) in enumerate(folds):
                    if here != there and len(np.intersect1d(others, theirs)):
                        views = said(np.setdiff1d(others, theirs), held_out)
                        if views is not None:
                            apart[there, held_out] = views
            return cls(list(OPINIONS), own, apart)
        for pair in combinations(range(len(folds)), 2) if len(folds) > 2 else ():
            asked = np.flatnonzero(np.isin(fold, pair))
            views = said(np.flatnonzero(~np.isin(fold, pair)), asked)
            if views is not None:
                for here, there in (pair, pair[::-1]):
                    apart[here, asked[fold[asked] == there]] = views[fold[asked] == there]
        return cls(list(OPINIONS), own, apart)
