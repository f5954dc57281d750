"""How rows and labels come into the estimator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from falcon_discover.audit.checks import check_lengths, check_same_rows
from falcon_discover.audit.drawn import drawing
from falcon_discover.audit.finding import Finding
from falcon_discover.audit.fitted import FittedAudit
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table, array_names, named_like
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import progress
from falcon_discover.runtime.threads import limited, thread_count


class Door(BaseEstimator):
    """Takes in rows and labels, and examines them."""

    estimator: Any
    n_jobs: int | None
    verbose: int
    audit_: FittedAudit
    classes_: npt.NDArray[Any]

    def examine(
        self, X: Any = None, y: Any = None, *, sample_weight: Any = None, groups: Any = None
    ) -> Finding:
        """Return everything known about new rows at once: signals, suspicion, regions.

        Cheaper than calling `transform`, `review` and `evaluate` one after another. Without `X`
        it is the `Finding` of the rows given to `fit`, each judged out-of-fold.

        Parameters
        ----------
        X, y : rows, and their labels where they are known
        sample_weight : how many rows each row stands for
        groups : which rows belong together; other groups than those given to `fit`
        """
        check_is_fitted(self)
        if X is None:
            given = {"y": y, "sample_weight": sample_weight, "groups": groups}
            for name, value in given.items():
                if value is not None:
                    raise InputError(f"{name} was given without X: give both, or neither.")
            return self.audit_.examine()
        table = self.new_rows(X)
        drawn = drawing(table, groups, sample_weight)
        codes = None
        if y is not None:
            labels = Labels.from_input(y, self.classes_)
            check_lengths(table, labels, "X", "y")
            check_same_rows(X, y)
            codes = labels.codes
        with self._execution_context():
            return self.audit_.examine(table, codes, drawn)

    @property
    def _is_library(self) -> bool:
        return self.estimator is None or isinstance(self.estimator, str)

    @property
    def _is_frozen(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator)

    def _table(self, X: Any, *, reset: bool) -> Table:
        table = Table.from_input(X, None if reset else self.audit_.kinds)
        validate_data(self, table.native, reset=reset, skip_check_array=True)
        if reset:
            return table
        reference = self.audit_.reference
        return self._as_fitted(table, None if reference is None else reference.encoded)

    def _as_fitted(self, table: Table, like: Any) -> Table:
        """Return rows with the column names of the fit, or with none; validation has warned."""
        names = getattr(self, "feature_names_in_", None)
        if names is None and list(table.kinds) != array_names(len(table.kinds)):
            # Names that are not texts, which scikit-learn does not keep.
            if not hasattr(like, "columns"):
                return table
            names = like.columns
        names = None if names is None else list(names)
        return replace(table, native=named_like(table.native, names, like))

    def _calibration_input(
        self, X_cal: Any, y_cal: Any, table: Table, labels: Labels
    ) -> tuple[Table, Labels] | None:
        if X_cal is None and y_cal is None:
            return None
        if X_cal is None or y_cal is None:
            raise InputError("X_cal and y_cal belong together: give both or neither.")
        validate_data(self, X_cal, reset=False, skip_check_array=True)
        rows = self._as_fitted(Table.from_input(X_cal, table.kinds), table.native)
        known = Labels.from_input(y_cal, labels.classes)
        check_lengths(rows, known, "X_cal", "y_cal")
        check_same_rows(X_cal, y_cal, "X_cal", "y_cal")
        return rows, known

    def new_rows(self, X: Any, *, warn: bool = True) -> Table:
        """Return rows as the audit takes them, checked against those of the fit.

        Parameters
        ----------
        warn : whether to say which values of a column the fit has not seen
        """
        check_is_fitted(self)
        table = self._table(X, reset=False)
        if warn and self.audit_.view is not None:
            self.audit_.view.warn_unseen(table)
        return table

    @contextmanager
    def _execution_context(self) -> Iterator[None]:
        """Keep to the threads that were asked for, and show progress where it was asked for."""
        threads = None if self.n_jobs is None else thread_count(self.n_jobs)
        with (
            nullcontext() if threads is None else limited(threads, threads),
            progress.shown(bool(self.verbose)),
        ):
            yield
