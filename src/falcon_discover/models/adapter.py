"""Any fitted model as two steps.

`encode` takes a table to the space in which rows are mixed, `predict` takes rows of that space
to scores: the probability of the positive class, or of each of more than two classes. For a
Pipeline the space is the one before its last step; for any other model it is the table itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from falcon_discover.data.labels import label_repr
from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import decided
from falcon_discover.models.proba import class_scores, no_probabilities, positive_class, proba
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

Steps = tuple[tuple[str, Any], ...]
# Scores closer to one half than this, rounding may decide either way.
TIE = 1e-6


@dataclass(frozen=True, eq=False)
class Probe:
    """A fitted classifier as the stability signals need it.

    Parameters
    ----------
    classifier : the model's last step, or the model itself
    column : the column of its `predict_proba` that belongs to the positive one of two classes
    head : the transformed view before it, the named steps before it, or None
    columns : of more than two classes: the class that each column belongs to
    n_classes : how many classes there are; the model may know fewer
    """

    classifier: Any
    column: int = 1
    head: TransformedView | Steps | None = None
    columns: tuple[int, ...] = ()
    n_classes: int = 2

    @property
    def view(self) -> TransformedView | None:
        """The model's own transformed view, when that is its encoding."""
        return self.head if isinstance(self.head, TransformedView) else None

    def encode(self, table: Table) -> Any:
        """Take a table to the rows that are mixed."""
        if self.head is None:
            return table.native
        if isinstance(self.head, TransformedView):
            return self.head.transform(table)
        # Step by step: a Pipeline of these steps would ask the last whether it is fitted, which a
        # transformer that learns nothing cannot say.
        rows = _lent(table.native)
        for _, step in self.head:
            rows = step.transform(rows)
        return _mixable(rows, len(table), self.head[-1][0])

    def predict(self, rows: Any, *, name: Callable[[int], Any] = int, what: str = "") -> FloatArray:
        """Take such rows to positive-class scores, or to one column for each class.

        Parameters
        ----------
        name : what a row is called, by its position
        what : what the rows are, where they are not the user's own
        """
        found = proba(self.classifier, _lent(rows))
        source = f"the output of {type(self.classifier).__name__}.predict_proba{what}"
        if self.columns:
            return class_scores(
                found, rows.shape[0], self.columns, self.n_classes, source=source, name=name
            )
        return positive_class(found, rows.shape[0], column=self.column, source=source, name=name)

    def differing(
        self, rows: Any, p: FloatArray, threshold: float = PAPER.decision_threshold
    ) -> int:
        """Return in how many such rows the model's own decision is not that of its scores `p`.

        A model may have a threshold of its own. Scores at the threshold decide nothing; a model
        that does not say what it decides in the words of its classes is not compared.
        """
        try:
            classes = self.classifier.classes_
            said = np.asarray(self.classifier.predict(_lent(rows))).reshape(len(p))
            ours = np.full(len(p), -1)
            for place, label in enumerate(classes):
                ours[said == label] = self.columns[place] if self.columns else place == self.column
            if (ours < 0).any():
                return 0
        except Exception:
            # Whatever keeps a model from deciding, its scores are what is audited.
            return 0
        if p.ndim == 2:
            second, first = np.sort(p, axis=1)[:, -2:].T
            clear = first - second > TIE
        else:
            clear = np.abs(p - threshold) > TIE
        return int((clear & (ours != decided(p, threshold))).sum())

    def score(self, table: Table) -> FloatArray:
        """Return the model's scores of each row."""
        return self.scored(table)[0]

    def scored(self, table: Table) -> tuple[FloatArray, Any]:
        """Return the model's scores of each row, and the encoded rows."""
        rows = self.encode(table)
        return self.predict(rows, name=table.index.__getitem__), rows


def _lent(rows: Any) -> Any:
    """Return rows that a model may add columns to without changing the user's own table."""
    return rows.copy(deep=False) if isinstance(rows, pd.DataFrame) else rows


def probe(model: Any, classes: npt.ArrayLike) -> Probe:
    """Return the two-step form of a fitted model.

    Parameters
    ----------
    classes : the labels, of two the positive one last; the model may have seen fewer of them
    """
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    if not hasattr(model, "predict_proba"):
        raise InputError(no_probabilities(model))
    labels = np.asarray(classes).tolist()
    order: dict[str, Any] = {}
    if len(labels) == 2:
        order["column"] = _positive_column(model, labels[1])
    else:
        order |= {"columns": _class_columns(model, labels), "n_classes": len(labels)}
    if not isinstance(model, Pipeline) or len(model.steps) == 1:
        return Probe(model, **order)
    *steps, (_, classifier) = model.steps
    if len(steps) == 1 and isinstance(steps[0][1], TransformedView):
        return Probe(classifier, head=steps[0][1], **order)
    kept = tuple(step for step in steps if _transforms(step[1]))
    return Probe(classifier, head=kept or None, **order)


def _transforms(step: Any) -> bool:
    """Return whether a step does something to new rows; one that resamples has done its work."""
    return step is not None and step != "passthrough" and not hasattr(step, "fit_resample")


def _mixable(rows: Any, n_rows: int, step: str) -> Any:
    """Return what the last step before the classifier made, as rows that can be mixed."""
    if sp.issparse(rows):
        rows = rows.tocsr()
    elif isinstance(rows, np.matrix):
        rows = np.asarray(rows)
    is_table = isinstance(rows, np.ndarray) or sp.issparse(rows) or hasattr(rows, "columns")
    if not is_table or len(rows.shape) != 2 or rows.shape[0] != n_rows:
        shape = f" of the shape {rows.shape}" if hasattr(rows, "shape") else ""
        raise InputError(
            f"the pipeline's step {step!r} makes a {type(rows).__name__}{shape} of {n_rows} rows: "
            "the step before the classifier must return a table, one row for each it was given."
        )
    if isinstance(rows, pd.DataFrame) and rows.columns.has_duplicates:
        repeated = rows.columns[rows.columns.duplicated()][0]
        raise InputError(
            f"the pipeline's step {step!r} makes more than one column {repeated!r}: give its "
            "columns distinct names."
        )
    return rows


def _class_columns(model: Any, labels: list[Any]) -> tuple[int, ...]:
    """Return the class that each column of the model's probabilities belongs to."""
    known = np.asarray(getattr(model, "classes_", labels)).tolist()
    strange = [label for label in known if label not in labels]
    if strange:
        raise InputError(
            f"the model has a class {label_repr(strange[0])}, which is not among the labels: use "
            "the labels the model was trained on."
        )
    return tuple(labels.index(label) for label in known)


def _positive_column(model: Any, positive: Any) -> int:
    classes = list(getattr(model, "classes_", [0, 1]))
    if len(classes) != 2:
        raise InputError(
            f"the model has {len(classes)} classes ({classes}), but the labels have two: give "
            "rows with the labels the model was trained on."
        )
    if positive not in classes:
        raise InputError(
            f"the model's classes are {label_repr(classes[0])} and {label_repr(classes[1])}, but "
            f"the labels hold {label_repr(positive)}: use the labels the model was trained on."
        )
    return classes.index(positive)
