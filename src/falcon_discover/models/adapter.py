"""Any fitted model as two steps.

`encode` takes a table to the space in which rows are mixed, `predict` takes rows of that space
to positive-class scores. For a Pipeline the space is the one before its last step; for any other
model it is the table itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from falcon_discover.data.labels import label_repr
from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from falcon_discover.exceptions import InputError
from falcon_discover.models.proba import no_probabilities, positive_class, proba
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

Steps = tuple[tuple[str, Any], ...]
# Scores closer to one half than this, rounding may decide either way.
TIE = 1e-6


@dataclass(frozen=True, eq=False)
class Probe:
    """A fitted binary classifier as the stability signals need it.

    Parameters
    ----------
    classifier : the model's last step, or the model itself
    column : the column of its `predict_proba` that belongs to the positive class
    head : the transformed view before it, the named steps before it, or None
    """

    classifier: Any
    column: int
    head: TransformedView | Steps | None = None

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
        rows = table.native
        for _, step in self.head:
            rows = step.transform(rows)
        return _mixable(rows, len(table), self.head[-1][0])

    def predict(self, rows: Any, *, name: Callable[[int], Any] = int, what: str = "") -> FloatArray:
        """Take such rows to positive-class scores.

        Parameters
        ----------
        name : what a row is called, by its position
        what : what the rows are, where they are not the user's own
        """
        return positive_class(
            proba(self.classifier, rows),
            rows.shape[0],
            column=self.column,
            source=f"the output of {type(self.classifier).__name__}.predict_proba{what}",
            name=name,
        )

    def differing(self, rows: Any, p: FloatArray) -> int:
        """Return in how many such rows the model's own decision is not that of its scores `p`.

        A model may have a threshold of its own. Scores of one half decide nothing; a model that
        does not say what it decides in the words of its classes is not compared.
        """
        try:
            classes = self.classifier.classes_
            said = np.asarray(self.classifier.predict(rows)).reshape(len(p))
            yes, no = said == classes[self.column], said == classes[1 - self.column]
            if not np.all(yes | no):
                return 0
        except Exception:
            # Whatever keeps a model from deciding, its scores are what is audited.
            return 0
        decided = np.abs(p - PAPER.decision_threshold) > TIE
        return int((decided & (yes != (p >= PAPER.decision_threshold))).sum())

    def score(self, table: Table) -> FloatArray:
        """Return the model's positive-class score of each row."""
        return self.scored(table)[0]

    def scored(self, table: Table) -> tuple[FloatArray, Any]:
        """Return the model's positive-class score of each row, and the encoded rows."""
        rows = self.encode(table)
        return self.predict(rows, name=table.index.__getitem__), rows


def probe(model: Any, positive: Any) -> Probe:
    """Return the two-step form of a fitted model for the given positive class."""
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    if not hasattr(model, "predict_proba"):
        raise InputError(no_probabilities(model))
    column = _positive_column(model, positive)
    if not isinstance(model, Pipeline) or len(model.steps) == 1:
        return Probe(model, column)
    *steps, (_, classifier) = model.steps
    if len(steps) == 1 and isinstance(steps[0][1], TransformedView):
        return Probe(classifier, column, steps[0][1])
    return Probe(classifier, column, tuple(step for step in steps if _transforms(step[1])) or None)


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
            f"the pipeline's step {step!r} makes more than one column {repeated!r}: "
            "give its columns different names."
        )
    return rows


def _positive_column(model: Any, positive: Any) -> int:
    classes = list(getattr(model, "classes_", [0, 1]))
    if len(classes) != 2:
        raise InputError(
            f"the model has {len(classes)} classes ({classes}): only two-class models are audited."
        )
    if positive not in classes:
        raise InputError(
            f"the model's classes are {label_repr(classes[0])} and {label_repr(classes[1])}, but "
            f"the labels hold {label_repr(positive)}: use the labels the model was trained on."
        )
    return classes.index(positive)
