"""`FalconDiscover`: the scikit-learn surface of an audit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import ClassifierMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from falcon_discover import rankers
from falcon_discover.audit.checks import (
    accepts_missing,
    check_all_same_rows,
    check_given,
    check_lengths,
    check_parameters,
    check_same_rows,
    check_threshold,
    given_probabilities,
    resolved_seed,
    resolved_tau,
    scored_class,
    warn_decisions,
    warn_few_rows,
)
from falcon_discover.audit.drawn import fit_drawing
from falcon_discover.audit.finding import Finding
from falcon_discover.audit.fitted import FittedAudit
from falcon_discover.audit.fitting import Recipe, check_ranker, fit_audit
from falcon_discover.audit.later import Later
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.evaluation.sources import CROSS_FITTED, GIVEN_SCORES
from falcon_discover.metrics.decisions import array_of, decided
from falcon_discover.models import library
from falcon_discover.models.crossfit import (
    CrossFit,
    cross_fit,
    frozen_fit,
    given_scores,
    select_backbone,
)
from falcon_discover.models.folds import Folds, make_folds
from falcon_discover.models.proba import check_fittable
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import SIGNALS


class FalconDiscover(ClassifierMixin, TransformerMixin, Later):
    """Find the confident predictions of a classifier that you should not trust.

    Parameters
    ----------
    estimator : classifier, FrozenEstimator or None
        An unfitted scikit-learn compatible classifier or Pipeline is cross-fitted and
        refitted; so is a fitted one, with a warning. `FrozenEstimator(model)` is audited as it
        is; give `fit` rows that the model was not trained on. A name trains that model of the
        library. None trains the whole library and keeps the best by out-of-fold AUROC.
        "precomputed" uses no model: every call that takes rows also takes their scores as `proba`.
    tau : float or {class: float}, default 0.90
        Confidence from which a wrong prediction counts as a confident error: one number, or one
        per predicted class.
    threshold : float, default 0.5
        Probability from which the positive class is predicted (two classes only). A model with
        its own threshold (`FixedThresholdClassifier`, `TunedThresholdClassifierCV`) is audited at
        that one. With more classes the most probable one is predicted.
    ranker : str or ranker, default "auto"
        How to rank rows for review; see `falcon_discover.rankers.RANKERS`. "auto" learns the
        probability that a row is a confident error.
    severity : {"count", "surprise"}, default "count"
        For "auto": "surprise" ranks by that probability times `-log(1 - confidence)`.
    n_neighbors : int, default 25
        Number of most similar rows whose labels are compared.
    n_mix_neighbors : int, default 6
        Number of most similar rows that each row is blended with to test its stability.
    mix : tuple of float, default (0.10, 0.20, 0.30)
        Weights of the neighbour in a blend.
    cv : int or splitter, default 5
        Folds of cross-fitting. A splitter must hold out each row at most once. Rows that it never
        holds out, such as the first ones of a `TimeSeriesSplit`, are used for training and
        comparison only. Groups are never split; a splitter that splits them is refused.
    n_regions : int, default 6
        Maximum number of regions to look for.
    weigh_model : bool, default True
        Whether to fit the base model with the weights given to `fit`. A model that takes none is
        refused unless this is False; then only the audit uses the weights.
    random_state : int, RandomState or None
        Seed of folds, library models, regions and blended categories.
    n_jobs : int or None
        Number of threads; -1 for all cores. None leaves the libraries' own defaults.
    verbose : int, default 0
        1 shows progress: on a terminal, in a notebook, and as lines in a log.

    Attributes
    ----------
    model_ : the fitted base model
    backbone_ : its name
    candidates_ : out-of-fold AUROC of every library model that was tried
    audit_ : the `FittedAudit`
    learned_ : what `learn` changed; None before
    regions_ : `RegionSet` found on the rows given to `fit`
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
        tau: Any = PAPER.tau,
        threshold: float = PAPER.decision_threshold,
        ranker: Any = "auto",
        severity: str = "count",
        n_neighbors: int = PAPER.n_neighbors,
        n_mix_neighbors: int = PAPER.n_mix_neighbors,
        mix: tuple[float, ...] = PAPER.mix,
        cv: Any = PAPER.n_folds,
        n_regions: int = PAPER.n_regions,
        weigh_model: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.tau = tau
        self.threshold = threshold
        self.ranker = ranker
        self.severity = severity
        self.n_neighbors = n_neighbors
        self.n_mix_neighbors = n_mix_neighbors
        self.mix = mix
        self.cv = cv
        self.n_regions = n_regions
        self.weigh_model = weigh_model
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        proba: Any = None,
        positive: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        X_cal: Any = None,
        y_cal: Any = None,
        groups_cal: Any = None,
        sample_weight_cal: Any = None,
    ) -> Self:
        """Fit the base model, measure the signals of the rows, and fit the ranker.

        Parameters
        ----------
        X, y : table and class labels, matched by position; held-out rows when the estimator is
            frozen. Pandas objects with the same row labels in another order are refused
        proba : for the estimator "precomputed": the probability of the positive label, the last
            in sorted order (`yes` of no/yes, 1 of 0/1), or one column per class in sorted order,
            from a model that was not trained on these rows
        positive : the label that `proba` is the probability of, if it is the other one
        groups : which rows belong together (a customer, a patient, a device): no row is judged by
            anything that saw its group, and intervals and bounds treat groups as independent
        sample_weight : how many rows each row stands for
        X_cal, y_cal : further labelled rows, for rankers that learn from validation rows
        groups_cal, sample_weight_cal : the same for these rows; no group may be on both sides
        """
        check_parameters(
            tau=self.tau,
            threshold=self.threshold,
            mix=self.mix,
            cv=self.cv,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            n_neighbors=self.n_neighbors,
            n_mix_neighbors=self.n_mix_neighbors,
            n_regions=self.n_regions,
        )
        if not (self._is_library or self._is_frozen or self._is_precomputed):
            check_fittable(self.estimator)
        check_given(self._is_precomputed, proba, positive, X_cal)
        # Fitting may take minutes: what can be wrong with the ranker is said before.
        spec = rankers.specified(self.ranker, self.severity)
        check_ranker(spec, has_validation=X_cal is not None)
        table = self._table(X, reset=True)
        labels = Labels.from_input(y, self._classes_of_model())
        check_threshold(self.threshold, labels)
        check_lengths(table, labels, "X", "y")
        check_same_rows(X, y)
        check_all_same_rows(X, groups=groups, sample_weight=sample_weight)
        check_all_same_rows(
            X_cal, "X_cal", groups_cal=groups_cal, sample_weight_cal=sample_weight_cal
        )
        validation = self._calibration_input(X_cal, y_cal, table, labels)
        scored = scored_class(positive, labels, array_of(proba, "proba").ndim)
        drawn = fit_drawing(
            table,
            groups,
            sample_weight,
            None if validation is None else validation[0],
            groups_cal,
            sample_weight_cal,
        )
        recipe = Recipe(
            tau=resolved_tau(self.tau, labels),
            spec=spec,
            seed=resolved_seed(self.random_state),
            source=GIVEN_SCORES if self._is_frozen or self._is_precomputed else CROSS_FITTED,
            n_neighbors=self.n_neighbors,
            n_mix_neighbors=self.n_mix_neighbors,
            mix=self.mix,
            n_regions=self.n_regions,
            n_jobs=self.n_jobs,
            scored=scored,
        )
        p = None
        if proba is not None:
            check_same_rows(X, proba, y_name="proba")
            p = given_probabilities(proba, len(table), labels.n_classes, scored)
            warn_decisions(p)
        with self._execution_context():
            folds = make_folds(self.cv, labels, recipe.seed, drawn.group, drawn.weight)
            warn_few_rows(folds, self.n_neighbors)
            if p is None:
                weight = drawn.weight if self.weigh_model else None
                base = self._base_model(table, labels, folds, recipe.seed, weight)
            else:
                base = given_scores(p, folds, self.threshold)
            audit = fit_audit(table, labels, folds, base, recipe, validation, drawn=drawn)
            # Learned now rather than when first asked for.
            _ = audit.ranker
        return self.with_audit(audit, base.model, base.name, base.auroc)

    def with_audit(
        self, audit: FittedAudit, model: Any, backbone: str, candidates: dict[str, float]
    ) -> Self:
        """Take over what was fitted, here or before it was saved."""
        self.audit_ = audit
        self.classes_ = audit.classes
        self.regions_ = audit.regions
        self.model_ = model
        self.backbone_ = backbone
        self.candidates_ = candidates
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> pd.DataFrame:
        """Fit, and return the ten signals of the rows of the fit, each measured out-of-fold.

        As with scikit-learn's `TargetEncoder`, this is not `fit(X, y).transform(X)`, in which each
        row would be compared with itself, and the next step of a Pipeline would learn to trust
        the signals too much. Rows that `cv` never holds out get missing values.
        """
        signals = self.fit(X, y, **fit_params).examine().frame()
        held_out = self.audit_.held_out
        if held_out is None:
            return signals
        rows = np.full((len(held_out), signals.shape[1]), np.nan)
        rows[held_out] = signals
        return pd.DataFrame(rows, self._table(X, reset=False).index, signals.columns)

    def transform(self, X: Any, *, proba: Any = None) -> pd.DataFrame:
        """Return the ten signals of new rows.

        For the rows given to `fit`, whose signals must be cross-fitted, see `fit_transform` and
        `examine().frame()`.
        """
        table = self.new_rows(X)
        p = self.given_scores(X, table, proba)
        with self._execution_context():
            return self.audit_.state(table, p, extended=False).frame(table.index)

    @property
    def neighbour_recall_(self) -> float:
        """Share of the nearest reference rows that are found; 1.0 unless there are very many."""
        check_is_fitted(self)
        reference = self.audit_.reference
        return 1.0 if reference is None else float(reference.recall)

    @property
    def ranker_(self) -> rankers.Ranker:
        """The fitted ranker."""
        check_is_fitted(self)
        return self.audit_.ranker

    @property
    def discovery_(self) -> Finding:
        """The old name of `examine()`."""
        notices.deprecated("discovery_", "examine()")
        return self.examine()

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the signals."""
        check_is_fitted(self)
        return np.array(SIGNALS, dtype=object)

    def score_samples(self, X: Any = None, *, proba: Any = None) -> FloatArray:
        """Return the suspicion of each row, higher = review first; by default of the fit rows."""
        check_is_fitted(self)
        if X is None:
            return self.examine(proba=proba).suspicion()
        table = self.new_rows(X)
        p = self.given_scores(X, table, proba)
        with self._execution_context():
            return self.audit_.score(self.audit_.state(table, p))

    def predict_proba(self, X: Any, *, proba: Any = None) -> FloatArray:
        """Return the base model's probabilities, unchanged, in the order of `classes_`.

        With the estimator "precomputed" these are the given ones.
        """
        table = self.new_rows(X, warn=False)
        p = self.audit_.scores(table, self.given_scores(X, table, proba))
        return p if p.ndim == 2 else np.column_stack([1.0 - p, p])

    def predict(self, X: Any, *, proba: Any = None) -> npt.NDArray[Any]:
        """Return the base model's own predictions."""
        table = self.new_rows(X, warn=False)
        p = self.given_scores(X, table, proba)
        if self._is_library or p is not None:
            return self.classes_[decided(self.audit_.scores(table, p), self.audit_.threshold)]
        return np.asarray(self.model_.predict(table.native))

    def _base_model(
        self,
        table: Table,
        labels: Labels,
        folds: Folds,
        seed: int,
        weight: FloatArray | None,
    ) -> CrossFit:
        if self._is_library:
            names = [self.estimator] if self.estimator else library.names()
            n_jobs = effective_n_jobs(self.n_jobs)
            if self.estimator in library.DEEP:
                model = library.known(self.estimator).make(seed, n_jobs)
                return cross_fit(
                    model, table, labels, folds, self.threshold, name=self.estimator, weight=weight
                )
            return select_backbone(
                names,
                table,
                labels,
                folds,
                seed=seed,
                n_jobs=n_jobs,
                threshold=self.threshold,
                weight=weight,
            )
        if self._is_frozen:
            return frozen_fit(self.estimator, table, labels, folds, self.threshold)
        return cross_fit(self.estimator, table, labels, folds, self.threshold, weight=weight)

    def _classes_of_model(self) -> npt.NDArray[Any] | None:
        """Return the classes of a frozen model that has more than two; rows may lack some."""
        classes = getattr(self.estimator, "classes_", None) if self._is_frozen else None
        return classes if classes is not None and len(classes) > 2 else None

    @property
    def threshold_(self) -> float:
        """Probability from which the positive class is predicted, if there are two classes."""
        check_is_fitted(self)
        return self.audit_.threshold

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Our own part works with gaps; whether the whole does depends on the base model.
        own = self._is_library or self._is_precomputed
        tags.input_tags.allow_nan = own or accepts_missing(self.estimator)
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
