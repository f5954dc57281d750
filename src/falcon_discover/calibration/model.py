"""A recalibrated model: the same base model, other probabilities."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from falcon_discover.baselines.calibrators import CALIBRATORS, Weights
from falcon_discover.calibration.discrepancy import Caution, Discrepancy
from falcon_discover.exceptions import InputError
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import State
from falcon_discover.tables import FloatArray

METHODS = (*CALIBRATORS, "discrepancy")


class StateCalibrator(Protocol):
    """Turns states into recalibrated scores."""

    def predict(self, state: State) -> FloatArray:
        """Return positive-class scores."""


class OfScores:
    """A calibrator that looks at the score alone, as one that is given the state."""

    def __init__(self, calibrator: Any) -> None:
        self.calibrator = calibrator

    def predict(self, state: State) -> FloatArray:
        """Return the recalibrated positive-class scores."""
        return np.asarray(self.calibrator.predict(state.p))


def fitted_calibrator(
    method: str,
    state: State,
    y: npt.ArrayLike,
    sample_weight: Weights = None,
    *,
    caution: Caution = "auto",
    seed: int = 0,
) -> StateCalibrator:
    """Return a calibrator by name, fitted on labelled rows that the model has not seen."""
    if method not in METHODS:
        raise InputError(f"there is no calibration {method!r}; choose one of {', '.join(METHODS)}.")
    if method == "discrepancy":
        return Discrepancy(caution, seed).fit(state, y, sample_weight)
    return OfScores(CALIBRATORS[method]().fit(state.p, y, sample_weight))


class CalibratedModel(ClassifierMixin, BaseEstimator):
    """A fitted classifier with recalibrated probabilities; `falcon.calibrated()` returns one.

    The base model is not changed. `predict` follows the recalibrated probabilities.

    Attributes
    ----------
    falcon : the fitted `FalconDiscover` whose model is recalibrated
    method : how
    weighted : whether calibration rows were weighted by w_cal
    calibrator_ : the fitted calibrator
    """

    def __init__(self, falcon: Any, method: str, weighted: bool, calibrator: Any) -> None:
        self.falcon = falcon
        self.method = method
        self.weighted = weighted
        self.calibrator = calibrator

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The two labels, the positive one last."""
        return np.asarray(self.falcon.classes_)

    @property
    def n_features_in_(self) -> int:
        """How many columns the model takes."""
        return int(self.falcon.n_features_in_)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return recalibrated probabilities, in the order of `classes_`."""
        if self.method == "discrepancy":
            state = self.falcon.examine(X).state
        else:
            # The score alone is needed: no neighbours are searched.
            state = State.from_scores(self.falcon.predict_proba(X)[:, 1])
        p = self.calibrator.predict(state)
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the likelier class."""
        decision = self.predict_proba(X)[:, 1] >= PAPER.decision_threshold
        return self.classes_[decision.astype(int)]

    def __sklearn_is_fitted__(self) -> bool:
        return True
