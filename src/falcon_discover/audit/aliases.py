"""How rows and labels come into the estimator, and what a finding of them can be asked there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

import falcon_discover.audit.checks as checks  # the package answers to an older `checks`
from falcon_discover.audit.absent import NO_SCORES, OWN_SCORES, PRECOMPUTED, PREDICTIONS
from falcon_discover.audit.drawn import drawing
from falcon_discover.audit.finding import Finding
from falcon_discover.audit.fitted import FittedAudit
from falcon_discover.calibration.discrepancy import Caution
from falcon_discover.calibration.model import CalibratedModel
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table, array_names, named_like
from falcon_discover.evaluation.budget import ReviewBudget
from falcon_discover.evaluation.contributions import Contributions
from falcon_discover.evaluation.results import Evaluation
from falcon_discover.exceptions import InputError
from falcon_discover.regions.conflict import Conflict
from falcon_discover.runtime import progress
from falcon_discover.runtime.threads import limited, thread_count
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.plots.accessor import Plots

Keep = Literal["full", "sample", "none"]


class Aliases(BaseEstimator):
    """Takes in rows and labels, and asks the finding on them, or on the rows of the fit."""

    estimator: Any
    n_jobs: int | None
    verbose: int
    audit_: FittedAudit
    classes_: npt.NDArray[Any]
    backbone_: str

    def examine(
        self,
        X: Any = None,
        y: Any = None,
        *,
        proba: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Finding:
        """Return everything known about rows: signals, suspicion, risk, regions.

        Cheaper than calling `transform`, `review` and `evaluate` one after another. Without `X`,
        it returns the `Finding` of the rows given to `fit`, each judged out-of-fold.

        Parameters
        ----------
        X, y : new rows, and their labels if known
        proba : the scores of `X`, for the estimator "precomputed"; as in `fit`
        sample_weight : how many rows each row stands for
        groups : which rows belong together; other groups than those given to `fit`
        """
        check_is_fitted(self)
        if X is None:
            given = {"y": y, "proba": proba, "sample_weight": sample_weight, "groups": groups}
            for name, value in given.items():
                if value is not None:
                    raise InputError(f"{name} was given without X: pass both or neither.")
            return self.audit_.examine()
        table = self.new_rows(X)
        p = self.given_scores(X, table, proba)
        drawn = drawing(table, groups, sample_weight)
        checks.check_all_same_rows(X, y=y, groups=groups, sample_weight=sample_weight)
        codes = None
        if y is not None:
            labels = Labels.from_input(y, self.classes_)
            checks.check_lengths(table, labels, "X", "y")
            codes = labels.codes
        with self._execution_context():
            return self.audit_.examine(table, codes, p, drawn)

    @property
    def _is_library(self) -> bool:
        return not self._is_precomputed and isinstance(self.estimator, str | None)

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.estimator, str) and self.estimator == PRECOMPUTED

    @property
    def _is_frozen(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator)

    def _table(self, X: Any, *, reset: bool) -> Table:
        table = Table.from_input(X, None if reset else self.audit_.kinds)
        checks.check_columns(self, table.native, reset=reset)
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
            raise InputError("X_cal and y_cal belong together: pass both or neither.")
        checks.check_columns(self, X_cal, reset=False)
        rows = self._as_fitted(Table.from_input(X_cal, table.kinds), table.native)
        known = Labels.from_input(y_cal, labels.classes)
        checks.check_lengths(rows, known, "X_cal", "y_cal")
        checks.check_same_rows(X_cal, y_cal, "X_cal", "y_cal")
        return rows, known

    def new_rows(self, X: Any, *, warn: bool = True) -> Table:
        """Return rows as the audit takes them, checked against those of the fit.

        With `warn` it says which values of a column the fit has not seen.
        """
        check_is_fitted(self)
        table = self._table(X, reset=False)
        if warn and self.audit_.view is not None:
            self.audit_.view.warn_unseen(table)
        return table

    def given_scores(self, X: Any, table: Table, proba: Any) -> FloatArray | None:
        """Return the scores of new rows where there is no model to ask, and None where there is."""
        if not self._is_precomputed:
            if proba is not None:
                raise InputError(OWN_SCORES)
            return None
        if proba is None:
            raise InputError(NO_SCORES)
        checks.check_same_rows(X, proba, y_name="proba")
        return checks.given_probabilities(proba, len(table), len(self.classes_), self.audit_.scored)

    @contextmanager
    def _execution_context(self) -> Iterator[None]:
        """Keep to the threads that were asked for, and show progress where it was asked for."""
        threads = None if self.n_jobs is None else thread_count(self.n_jobs)
        with (
            nullcontext() if threads is None else limited(threads, threads),
            progress.watched(bool(self.verbose)),
        ):
            yield

    @property
    def plot(self) -> Plots:
        """Plots of the rows given to `fit`: `plot.capture()` and more.

        For other rows: `examine(X, y).plot.capture()`.
        """
        return self.examine().plot

    def review(
        self,
        X: Any = None,
        budget: float = PAPER.main_budget,
        *,
        cost: Any = None,
        proba: Any = None,
    ) -> pd.DataFrame:
        """Return the rows to review first, with a reason for each.

        Parameters
        ----------
        X : new rows; without it, the rows given to `fit`, each judged out-of-fold
        budget : how much to review: 0.05 is 5% of the rows, 50 is 50 rows
        cost : cost of a confident error in each row; rows are then ranked by risk times cost, see
            `Finding.review`
        proba : the scores of `X`, for the estimator "precomputed"; the same in every method here

        Returns
        -------
        frame, as of `Finding.review`; its index holds the row labels of `X`
        """
        return self.examine(X, proba=proba).review(budget, cost)

    def evaluate(
        self,
        X: Any = None,
        y: Any = None,
        budgets: Sequence[float] = PAPER.budgets,
        taus: Sequence[float] = PAPER.taus,
        *,
        cost: Any = None,
        proba: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Evaluation:
        """Return how well the ranker and the baselines find the confident errors of labelled rows.

        Without `X` and `y` the rows given to `fit` are used, each judged out-of-fold.
        `sample_weight` and `groups` are those of `X`, as in `examine`.
        """
        with self._execution_context():
            found = self.examine(X, y, proba=proba, sample_weight=sample_weight, groups=groups)
            return found.evaluate(budgets=budgets, taus=taus, cost=cost)

    def review_budget(
        self,
        max_residual_rate: float,
        confidence_level: float = PAPER.interval_level,
        *,
        X: Any = None,
        y: Any = None,
        proba: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        batch: int | None = None,
        confidence: float | None = None,
    ) -> ReviewBudget:
        """Return the smallest review budget that keeps confident errors rare in the rest.

        For what a given budget leaves behind, see `examine(X, y).missed_bound(0.2)`.

        Parameters
        ----------
        X, y : labelled rows that were not given to `fit`, for an exact statement; without them,
            the rows given to `fit`, each judged out-of-fold
        sample_weight, groups : of `X`, as in `examine`
        max_residual_rate, confidence_level, batch, confidence : as in `Finding.review_budget`
        """
        found = self.examine(X, y, proba=proba, sample_weight=sample_weight, groups=groups)
        return found.review_budget(
            max_residual_rate, confidence_level, batch=batch, confidence=confidence
        )

    def report(
        self,
        path: str | Path,
        X: Any = None,
        y: Any = None,
        *,
        proba: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        name: str = "rows",
        budget: float = PAPER.main_budget,
        max_residual_rate: float | None = None,
        batch: int | None = None,
        contributions: bool | None = None,
        cost: Any = None,
        times: Any = None,
        how: dict[str, Any] | None = None,
    ) -> Path:
        """Write the audit as an offline HTML page, as Markdown and as JSON.

        Parameters
        ----------
        path : a folder for all files and the review list, or one file ending in .html, .md, .json
        X, y : labelled rows to report on; without `y` they are ranked, not judged; without both,
            the rows given to `fit`, each judged out-of-fold
        sample_weight, groups : of `X`, as in `examine`
        name, budget and all others : as in `Finding.report`

        Returns
        -------
        path of the page, or of the one file

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from falcon_discover import FalconDiscover, datasets
        >>> planted = datasets.make_planted(600, random_state=0)
        >>> falcon = FalconDiscover("precomputed", random_state=0)
        >>> falcon = falcon.fit(planted.X, planted.y, proba=planted.proba)
        >>> with TemporaryDirectory() as folder:
        ...     falcon.report(f"{folder}/audit", how={"version": "2.3"}).name
        'report.html'
        """
        with self._execution_context():
            found = self.examine(X, y, proba=proba, sample_weight=sample_weight, groups=groups)
            known = PREDICTIONS if self._is_precomputed else {"model": self.backbone_}
            return found.report(
                path,
                name=name,
                budget=budget,
                max_residual_rate=max_residual_rate,
                batch=batch,
                contributions=contributions,
                cost=cost,
                times=times,
                how={**known, **(how or {})},
            )

    def contributions(self) -> Contributions:
        """Return what each signal family contributes: the loss in eligible AUROC without it."""
        check_is_fitted(self)
        with self._execution_context():
            return self.audit_.contributions()

    def conflict(
        self,
        X: Any = None,
        y: Any = None,
        *,
        proba: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Conflict:
        """Return conflict amplification over a grid of thresholds, and the regime of the rows."""
        found = self.examine(X, y, proba=proba, sample_weight=sample_weight, groups=groups)
        return found.conflict()

    def calibration_weights(self, X: Any = None, y: Any = None, *, proba: Any = None) -> FloatArray:
        """Return w_cal (eq:cal_weight) of labelled rows: emphasis on confident errors.

        Without `X` and `y`, of the rows given to `fit`, each judged out-of-fold.
        """
        return self.examine(X, y, proba=proba).calibration_weights()

    def calibrated(
        self, method: str = "discrepancy", *, weighted: bool = False, caution: Caution = 0.0
    ) -> CalibratedModel:
        """Return a fitted classifier with the same model and recalibrated probabilities.

        It learns from the cross-fitted scores of the rows given to `fit`, and from `X_cal`.

        Parameters
        ----------
        method : {"temperature", "platt", "isotonic", "beta", "discrepancy"}
            The first four use the score alone; "discrepancy" also uses the evidence
        weighted : whether rows count by `w_cal`, clipped as in the paper
        caution : for "discrepancy": how far to shrink log-odds; 0 (the default) for not at all,
            "auto" to give up two thirds of the gain in log loss. It leaves fewer confident errors
            only because it leaves fewer confident predictions, and it worsens calibration; the same
            number of the surest predictions has as many errors as before

        Examples
        --------
        >>> from sklearn.frozen import FrozenEstimator
        >>> from falcon_discover import FalconDiscover, datasets
        >>> planted = datasets.make_planted(600, random_state=0)
        >>> frozen = FrozenEstimator(planted.model)
        >>> falcon = FalconDiscover(frozen, random_state=0).fit(planted.X, planted.y)
        >>> falcon.calibrated("platt").predict_proba(planted.X[:3]).shape
        (3, 2)
        """
        check_is_fitted(self)
        with self._execution_context():
            calibrator = self.audit_.calibrator(method, weighted=weighted, caution=caution)
        model = CalibratedModel(self, method, weighted=weighted, caution=caution)
        return model.with_fitted(self, calibrator)

    def save(self, path: str | Path, reference: Keep = "full") -> Path:
        """Save the fitted audit to one file; `falcon_discover.load` reads it.

        Parameters
        ----------
        path : the file; an older one is replaced in one step
        reference : {"full", "sample", "none"}
            Which of the rows given to `fit` go into the file. "full" gives the same scores after
            loading, to the last bit. "sample" keeps a tenth of the rows (at least 1,000),
            stratified by class; signals are measured against these, so scores change.
            "none" keeps no row: the loaded audit ranks by gated confidence. The file always
            contains the model and the values of text columns.

        Warns
        -----
        DataWarning : if loading the file will require trusting types not known to be safe

        Examples
        --------
        >>> import tempfile
        >>> from falcon_discover import FalconDiscover, datasets, load
        >>> rows = datasets.make_planted(300, random_state=0)
        >>> falcon = FalconDiscover("logistic_regression", random_state=0).fit(rows.X, rows.y)
        >>> new = datasets.make_planted(50, random_state=1).X
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = load(falcon.save(f"{folder}/audit.falcon"))
        >>> bool((again.score_samples(new) == falcon.score_samples(new)).all())
        True
        """
        check_is_fitted(self)
        from falcon_discover.storage.load import save

        return save(self, Path(path), reference)
