"""A recalibrated model: the same base model, other probabilities."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from falcon_discover.calibration.calibrators import CALIBRATORS, EachClass, Temperature, Weights
from falcon_discover.calibration.discrepancy import Caution, Discrepancy
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import decided
from falcon_discover.runtime.types import FloatArray
from falcon_discover.signals.state import State


class StateCalibrator(Protocol):
    """Turns states into recalibrated scores."""

    def predict(self, state: State) -> FloatArray:
        """Return positive-class scores, or one column for each of more than two classes."""


class ScoreCalibrator:
    """A calibrator that looks at the score alone, as one that is given the state."""

    def __init__(self, calibrator: Any) -> None:
        self.calibrator = calibrator

    def predict(self, state: State) -> FloatArray:
        """Return the recalibrated scores."""
        return np.asarray(self.calibrator.predict(state.p))


def fitted_calibrator(
    method: str,
    state: State,
    y: npt.ArrayLike,
    sample_weight: Weights = None,
    *,
    caution: Caution = 0.0,
    seed: int = 0,
) -> StateCalibrator:
    """Return a calibrator by name, fitted on labelled rows that the model has not seen."""
    known = (*CALIBRATORS, "discrepancy")
    if method not in known:
        raise InputError(f"there is no calibration {method!r}: choose one of {', '.join(known)}.")
    # "auto" spends a gain over the plain calibrators, and these have none.
    if method != "discrepancy" and caution not in (0, "auto"):
        raise InputError(f"caution is {caution!r}, but only 'discrepancy' uses it: leave it out.")
    if method == "discrepancy":
        return Discrepancy(caution, seed).fit(state, y, sample_weight)
    kind = CALIBRATORS[method]
    each = state.p.ndim == 2 and kind is not Temperature
    calibrator = EachClass(kind) if each else kind()
    return ScoreCalibrator(calibrator.fit(state.p, y, sample_weight))


class CalibratedModel(ClassifierMixin, BaseEstimator):
    """A classifier with recalibrated probabilities; `falcon.calibrated()` returns a fitted one.

    The base model is not changed. `predict` follows the recalibrated probabilities.

    Parameters
    ----------
    falcon : FalconDiscover
        The audit whose model is recalibrated. `fit` fits a copy of it.
    method : {"temperature", "platt", "isotonic", "beta", "discrepancy"}, default "discrepancy"
        The first four use the score alone; "discrepancy" also uses the evidence.
    weighted : bool, default False
        Whether calibration rows count by `w_cal`.
    caution : float or "auto", default 0
        For "discrepancy": how far to shrink log-odds. More caution gives fewer confident errors,
        fewer confident predictions and worse calibration.

    Attributes
    ----------
    falcon_ : the fitted `FalconDiscover`
    calibrator_ : the fitted calibrator
    classes_ : the labels

    Examples
    --------
    >>> from sklearn.base import clone
    >>> from sklearn.linear_model import LogisticRegression
    >>> from falcon_discover import FalconDiscover, datasets
    >>> planted = datasets.make_planted(300, random_state=0)
    >>> X, y = planted.X.select_dtypes("number").fillna(0), planted.y
    >>> falcon = FalconDiscover(LogisticRegression(), ranker="gated_confidence", random_state=0)
    >>> model = falcon.fit(X, y).calibrated("platt")
    >>> again = clone(model).fit(X, y)
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """

    def __init__(
        self,
        falcon: Any,
        method: str = "discrepancy",
        *,
        weighted: bool = False,
        caution: Caution = 0.0,
    ) -> None:
        self.falcon = falcon
        self.method = method
        self.weighted = weighted
        self.caution = caution

    def fit(
        self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> Self:
        """Fit a copy of the audit, then the calibrator on its cross-fitted scores.

        Parameters
        ----------
        groups, sample_weight, fit_params : as in the audit's `fit`
        """
        falcon = clone(self.falcon)
        falcon.fit(X, y, groups=groups, sample_weight=sample_weight, **fit_params)
        made = falcon.calibrated(self.method, weighted=self.weighted, caution=self.caution)
        return self.with_fitted(falcon, made.calibrator_)

    def with_fitted(self, falcon: Any, calibrator: StateCalibrator) -> Self:
        """Take over an audit and a calibrator that were fitted before."""
        self.falcon_ = falcon
        self.calibrator_ = calibrator
        self.classes_: npt.NDArray[Any] = np.asarray(falcon.classes_)
        self.n_features_in_ = int(falcon.n_features_in_)
        if hasattr(falcon, "feature_names_in_"):
            self.feature_names_in_ = falcon.feature_names_in_
        return self

    def predict_proba(self, X: Any, *, proba: Any = None) -> FloatArray:
        """Return recalibrated probabilities, in the order of `classes_`.

        Parameters
        ----------
        proba : the scores of `X`, for an audit of the estimator "precomputed"
        """
        check_is_fitted(self)
        if self.method == "discrepancy":
            state = self.falcon_.examine(X, proba=proba).state
        else:
            # The score alone is needed: no neighbours are searched.
            known = self.falcon_.predict_proba(X, proba=proba)
            state = State.from_scores(known[:, 1] if known.shape[1] == 2 else known)
        p = self.calibrator_.predict(state)
        return p if p.ndim == 2 else np.column_stack([1.0 - p, p])

    def predict(self, X: Any, *, proba: Any = None) -> npt.NDArray[Any]:
        """Return the predicted class; with two classes, by the audit's threshold."""
        p = self.predict_proba(X, proba=proba)
        return self.classes_[decided(p, self.falcon_.audit_.threshold)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.falcon).input_tags
        return tags
