"""`FalconDiscover`: the wiring from a table and a model to a review list."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from falcon_discover import rankers
from falcon_discover.audit.answers import Answers
from falcon_discover.audit.checks import (
    allows_gaps,
    check_lengths,
    check_parameters,
    check_same_rows,
    neighbour_count,
    resolved_seed,
    warn_few_rows,
    warn_own_decisions,
    warn_target_among_columns,
)
from falcon_discover.audit.finding import Discovery, signal_frame
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table, array_names, named_like
from falcon_discover.evaluation.budget import CROSS_FITTED, GIVEN_SCORES
from falcon_discover.exceptions import InputError
from falcon_discover.models import library
from falcon_discover.models.crossfit import (
    CrossFit,
    cross_fit,
    frozen_fit,
    make_folds,
    select_backbone,
)
from falcon_discover.models.proba import check_fittable
from falcon_discover.rankers.training import LabelledState, TrainingRows, check_labels
from falcon_discover.runtime import notices, progress
from falcon_discover.runtime.threads import limited, thread_count
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import SIGNALS
from falcon_discover.signals.opinions import CrossOpinions
from falcon_discover.signals.reference import Reference
from falcon_discover.signals.state import Measure, State
from falcon_discover.storage import Savable

# Two rows closer than this are the same row (float32 coordinates).
DUPLICATE_DISTANCE = 1e-6


class FalconDiscover(Answers, Savable, ClassifierMixin, TransformerMixin, BaseEstimator):
    """Find the confident predictions of a binary classifier that should not be trusted.

    Parameters
    ----------
    estimator : classifier, FrozenEstimator or None
        An unfitted scikit-learn compatible classifier or Pipeline is cross-fitted and
        refitted; so is a fitted one, with a warning. `FrozenEstimator(model)` is taken as it
        is; the rows given to `fit` must then be rows the model was not trained on. A name is a
        backbone of the library. None tries the whole library and keeps the best by
        out-of-fold AUROC.
    tau : float, default 0.90
        Confidence from which a wrong prediction counts as a confident error.
    ranker : str or ranker, default "auto"
        How rows are ranked for review; see `falcon_discover.rankers.RANKERS`. "auto" learns the
        probability that a row is a confident error.
    severity : {"count", "surprise"}, default "count"
        For "auto": "surprise" ranks by that probability times `-log(1 - confidence)`.
    n_neighbors : int, default 25
        Neighbours for agreement.
    n_mix_neighbors : int, default 6
        Neighbours each row is mixed with.
    mix : tuple of float, default (0.10, 0.20, 0.30)
        Weights of the neighbour in a mix.
    cv : int or splitter, default 5
        Folds of cross-fitting.
    n_regions : int, default 6
        Regions to look for.
    random_state : int, RandomState or None
        Seed of folds, library models, regions and switched categories.
    n_jobs : int or None
        Threads. None leaves the libraries' own defaults.
    verbose : int, default 0
        1 shows progress on a terminal.

    Attributes
    ----------
    model_ : the fitted base model
    backbone_ : its name
    candidates_ : out-of-fold AUROC of every backbone that was tried
    discovery_ : `Discovery` of the rows given to `fit`
    regions_ : `RegionSet` found on them
    neighbour_recall_ : share of the nearest reference rows that are found; 1.0 unless there are a
        million or more of them

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from falcon_discover import FalconDiscover, datasets
    >>> planted = datasets.make_planted(600, random_state=0)
    >>> X, y = planted.X.select_dtypes("number").fillna(0), planted.y
    >>> falcon = FalconDiscover(LogisticRegression(), tau=0.8, random_state=0).fit(X[:400], y[:400])
    >>> falcon.review(X[400:], budget=0.01)[["row", "predicted"]].shape
    (2, 2)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        tau: float = PAPER.tau,
        ranker: Any = "auto",
        severity: str = "count",
        n_neighbors: int = PAPER.n_neighbors,
        n_mix_neighbors: int = PAPER.n_mix_neighbors,
        mix: tuple[float, ...] = PAPER.mix,
        cv: Any = PAPER.n_folds,
        n_regions: int = PAPER.n_regions,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.tau = tau
        self.ranker = ranker
        self.severity = severity
        self.n_neighbors = n_neighbors
        self.n_mix_neighbors = n_mix_neighbors
        self.mix = mix
        self.cv = cv
        self.n_regions = n_regions
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, *, X_cal: Any = None, y_cal: Any = None) -> Self:
        """Fit the base model, measure the rows' states and fit the ranker.

        Parameters
        ----------
        X, y : table and two-class labels, matched by position; held-out rows when the estimator is
            frozen. Pandas objects with the same row labels in another order are refused
        X_cal, y_cal : further labelled rows, for rankers that learn from validation rows
        """
        check_parameters(
            tau=self.tau,
            mix=self.mix,
            cv=self.cv,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            n_neighbors=self.n_neighbors,
            n_mix_neighbors=self.n_mix_neighbors,
            n_regions=self.n_regions,
        )
        if not self._is_library and not isinstance(self.estimator, FrozenEstimator):
            check_fittable(self.estimator)
        # Fitting may take minutes: what can be wrong with the ranker is said before.
        spec = rankers.specified(self.ranker, self.severity)
        ranker = rankers.make(spec)
        check_labels(getattr(ranker, "labels", None), has_validation=X_cal is not None)
        table = self._table(X, reset=True)
        labels = Labels.from_input(y)
        check_lengths(table, labels, "X", "y")
        check_same_rows(X, y)
        calibration = self._calibration_input(X_cal, y_cal, table, labels)
        self.classes_ = labels.classes
        seed = resolved_seed(self.random_state)
        measure = Measure(
            neighbour_count(self.n_neighbors, len(table)),
            neighbour_count(self.n_mix_neighbors, len(table)),
            tuple(self.mix),
            seed,
        )
        opinions = CrossOpinions.fit if getattr(ranker, "wants_opinions", False) else None
        with self._at_work():
            folds = make_folds(self.cv, labels, seed)
            warn_few_rows(folds, self.n_neighbors)
            base = self._base_model(table, labels, folds, seed)
            warn_own_decisions(base.differing, len(table))
            state = measure.cross_fitted_state(
                table,
                labels.codes,
                base.p,
                base.reference_p,
                folds,
                base.fold_probes,
                own_view=base.own_view,
                opinions=opinions and opinions(table, labels.codes, folds, seed, self.n_jobs),
                n_jobs=self.n_jobs,
            )
            reference = Reference.build(
                table,
                labels.codes,
                base.p,
                base.probe,
                own_view=base.own_view,
                opinions_seed=seed if opinions else None,
                n_jobs=self.n_jobs,
            )
            state = replace(state, features=reference.coordinates)
            reference.view.warn_odd_columns(table)
            warn_target_among_columns(table, labels)
            validation, cal_table = None, None
            if calibration is not None:
                cal_table, cal_labels = calibration
                validation = LabelledState(measure.state(cal_table, reference), cal_labels.codes)
            rows = TrainingRows(LabelledState(state, labels.codes), validation)
            self.discovery_ = Discovery.of_training_rows(
                table,
                rows,
                validation=cal_table,
                classes=labels.classes,
                tau=self.tau,
                ranker=spec,
                n_regions=self.n_regions,
                seed=seed,
                source=GIVEN_SCORES if self._is_frozen else CROSS_FITTED,
            )
            self.ranker_ = rows.ranker(spec, self.tau)
        self.model_ = base.model
        self.backbone_ = base.name
        self.candidates_ = base.auroc
        self.regions_ = self.discovery_.regions
        self._measure, self._reference = measure, reference
        self._probe, self._kinds = base.probe, table.kinds
        self._decides_otherwise = base.differing > 0
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> pd.DataFrame:
        """Fit, and return the ten signals of the rows of the fit, each measured out-of-fold.

        As with scikit-learn's `TargetEncoder`, this is not `fit(X, y).transform(X)`: there each
        row would find itself among the rows it is compared with, and the next step of a Pipeline
        would learn to trust such signals too much.
        """
        return self.fit(X, y, **fit_params).discovery_.frame()

    def transform(self, X: Any) -> pd.DataFrame:
        """Return the ten signals of new rows.

        For the rows given to `fit`, whose signals must be cross-fitted, see `fit_transform` and
        `discovery_.frame()`.
        """
        table = self._new_rows(X)
        return signal_frame(self._state(table, extended=False), table.index)

    @property
    def neighbour_recall_(self) -> float:
        """Share of the nearest reference rows that are found: 1.0 unless there are very many."""
        check_is_fitted(self)
        return float(getattr(self._reference, "recall", 1.0))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the signals."""
        check_is_fitted(self)
        return np.array(SIGNALS, dtype=object)

    def score_samples(self, X: Any = None) -> FloatArray:
        """Return the suspicion of each row, higher = review first; by default of the fit rows."""
        check_is_fitted(self)
        if X is None:
            return self.discovery_.suspicion()
        return self.ranker_.score(self._state(self._new_rows(X)))

    def examine(self, X: Any = None, y: Any = None) -> Discovery:
        """Return everything known about new rows at once: signals, suspicion, regions.

        Cheaper than calling `transform`, `review` and `evaluate` one after another. Without `X`
        it is the `Discovery` of the rows given to `fit`.
        """
        check_is_fitted(self)
        if X is None:
            if y is not None:
                raise InputError("y was given without X: give both, or neither.")
            return self.discovery_
        table = self._new_rows(X)
        codes = None
        if y is not None:
            labels = Labels.from_input(y, self.classes_)
            check_lengths(table, labels, "X", "y")
            check_same_rows(X, y)
            codes = labels.codes
        state = self._state(table)
        if getattr(self, "_decides_otherwise", False):
            differing = self._probe.differing(self._probe.encode(table), state.p)
            warn_own_decisions(differing, len(table))
        return self.discovery_.of_new_rows(table, state, codes)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the base model's probabilities, unchanged, in the order of `classes_`."""
        table = self._new_rows(X, warn=False)
        p = self._probe.score(table)
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the base model's own predictions."""
        table = self._new_rows(X, warn=False)
        if self._is_library:
            decision = self._probe.score(table) >= PAPER.decision_threshold
            return self.classes_[decision.astype(int)]
        return np.asarray(self.model_.predict(table.native))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # Our own part works with gaps; whether the whole does depends on the base model.
        tags.input_tags.allow_nan = self._is_library or allows_gaps(self.estimator)
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    @property
    def _is_library(self) -> bool:
        return self.estimator is None or isinstance(self.estimator, str)

    @property
    def _is_frozen(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator)

    def _base_model(
        self, table: Table, labels: Labels, folds: list[tuple[IntArray, IntArray]], seed: int
    ) -> CrossFit:
        if self._is_library:
            names = [self.estimator] if self.estimator else library.names()
            n_jobs = effective_n_jobs(self.n_jobs)
            return select_backbone(names, table, labels, folds, seed=seed, n_jobs=n_jobs)
        if self._is_frozen:
            return frozen_fit(self.estimator, table, labels, folds)
        return cross_fit(self.estimator, table, labels, folds)

    def _table(self, X: Any, *, reset: bool) -> Table:
        table = Table.from_input(X, None if reset else self._kinds)
        validate_data(self, table.native, reset=reset, skip_check_array=True)
        if reset:
            return table
        return self._as_fitted(table, getattr(self._reference, "encoded", None))

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

    def _new_rows(self, X: Any, *, warn: bool = True) -> Table:
        check_is_fitted(self)
        table = self._table(X, reset=False)
        if warn:
            self._reference.view.warn_unseen(table)
        return table

    def _state(self, table: Table, *, extended: bool = True) -> State:
        with self._at_work():
            state = self._measure.state(table, self._reference, extended=extended)
        self._warn_rows_of_fit(state)
        return state

    def _warn_rows_of_fit(self, state: State) -> None:
        twins = float((state.evidence["nearest_distance"] < DUPLICATE_DISTANCE).mean())
        usual = (self.discovery_.state.evidence["nearest_distance"] < DUPLICATE_DISTANCE).mean()
        if twins > 0.5 + float(usual) / 2:
            notices.warn(
                f"{100 * twins:.0f} % of these rows are among the rows given to fit, so each finds "
                "itself as its own neighbour: call the method without X for their out-of-fold "
                "result (signals: discovery_.frame())."
            )

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Keep to the threads that were asked for, and show progress where it was asked for."""
        threads = None if self.n_jobs is None else thread_count(self.n_jobs)
        with (
            nullcontext() if threads is None else limited(threads, threads),
            progress.shown(bool(self.verbose)),
        ):
            yield
