"""Maps from a score to a better calibrated one, fitted on validation rows.

Each has `fit(p, y, sample_weight=None)` and `predict(p)`, on positive-class scores alone. Of more
than two classes, `p` has a column for each: one temperature serves all, other calibrators are
fitted for each class against the rest (`EachClass`).
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from falcon_discover.metrics.decisions import of_class
from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

Weights = npt.NDArray[np.float64] | None


class Calibrator(Protocol):
    """A fitted or unfitted recalibration of scores."""

    def fit(self, p: FloatArray, y: npt.ArrayLike, sample_weight: Weights = None) -> Any:
        """Learn the map."""

    def predict(self, p: FloatArray) -> FloatArray:
        """Return recalibrated scores."""


class Temperature:
    """Temperature scaling: the log-odds divided by one number (Guo et al., 2017).

    Of more than two classes, the log-probabilities.

    Examples
    --------
    >>> p = np.array([0.99, 0.99, 0.01, 0.01])
    >>> bool(Temperature().fit(p, [1, 0, 0, 1]).temperature_ > 10)
    True
    """

    temperature_: float

    def fit(self, p: FloatArray, y: npt.ArrayLike, sample_weight: Weights = None) -> Self:
        """Find the temperature with the smallest log loss."""
        weight = np.ones(len(p)) if sample_weight is None else sample_weight
        if p.ndim == 2:
            logs, codes = _clipped_log(p), np.asarray(y)

            def likelihood(scale: float) -> FloatArray:
                return of_class(log_softmax(logs * scale, axis=1), codes)
        else:
            z, sign = clipped_logit(p), 2.0 * np.asarray(y) - 1.0

            def likelihood(scale: float) -> FloatArray:
                return np.asarray(log_expit(sign * z * scale))

        def loss(log_temperature: float) -> float:
            return -float(weight @ likelihood(np.exp(-log_temperature)))

        best = minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded", options={"xatol": 1e-8})
        self.temperature_ = float(np.exp(best.x))
        return self

    def predict(self, p: FloatArray) -> FloatArray:
        """Return the rescaled scores."""
        if p.ndim == 2:
            return np.asarray(softmax(_clipped_log(p) / self.temperature_, axis=1))
        return np.asarray(expit(clipped_logit(p) / self.temperature_))


class Platt:
    """Platt scaling: logistic regression on the log-odds, C = 1."""

    def fit(self, p: FloatArray, y: npt.ArrayLike, sample_weight: Weights = None) -> Self:
        """Fit slope and intercept."""
        model = LogisticRegression(C=PAPER.platt_c, solver="newton-cholesky", tol=1e-10)
        with notices.solving():
            self.model_ = model.fit(clipped_logit(p)[:, None], y, sample_weight)
        return self

    def predict(self, p: FloatArray) -> FloatArray:
        """Return the recalibrated scores."""
        return np.asarray(self.model_.predict_proba(clipped_logit(p)[:, None])[:, 1])


class Isotonic:
    """Isotonic regression of the label on the score."""

    def fit(self, p: FloatArray, y: npt.ArrayLike, sample_weight: Weights = None) -> Self:
        """Fit the monotone step function."""
        self.model_ = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        self.model_.fit(p, np.asarray(y, dtype=np.float64), sample_weight)
        return self

    def predict(self, p: FloatArray) -> FloatArray:
        """Return the recalibrated scores."""
        return np.asarray(self.model_.predict(p), dtype=np.float64)


class Beta:
    """Beta calibration: log p and -log(1 - p) with coefficients >= 0 (Kull et al., 2017)."""

    def fit(self, p: FloatArray, y: npt.ArrayLike, sample_weight: Weights = None) -> Self:
        """Fit both coefficients; one that comes out negative is dropped and the other refitted."""
        columns = self._columns(p)
        self.kept_ = [0, 1]
        while True:
            model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10)
            # Scores of one or two values make both columns alike: another solver steps in.
            with notices.solving():
                model.fit(columns[:, self.kept_], y, sample_weight)
            worst = int(np.argmin(model.coef_[0]))
            if model.coef_[0, worst] >= 0 or len(self.kept_) == 1:
                self.model_ = model
                return self
            del self.kept_[worst]

    def predict(self, p: FloatArray) -> FloatArray:
        """Return the recalibrated scores."""
        return np.asarray(self.model_.predict_proba(self._columns(p)[:, self.kept_])[:, 1])

    @staticmethod
    def _columns(p: FloatArray) -> FloatArray:
        inside = np.clip(p, PAPER.logit_clip, 1.0 - PAPER.logit_clip)
        return np.column_stack([np.log(inside), -np.log1p(-inside)])


class EachClass:
    """One calibrator for each of more than two classes against the rest, brought to a sum of one.

    Parameters
    ----------
    kind : the calibrator of one class
    """

    def __init__(self, kind: type[Calibrator]) -> None:
        self.kind = kind

    def fit(self, p: FloatArray, y: npt.ArrayLike, sample_weight: Weights = None) -> Self:
        """Fit one map for each class; that of a class without rows stays as it is."""
        codes = np.asarray(y)
        self.each_ = [
            self.kind().fit(p[:, c], (codes == c).astype(int), sample_weight)
            if 0 < (codes == c).sum() < len(codes)
            else None
            for c in range(p.shape[1])
        ]
        return self

    def predict(self, p: FloatArray) -> FloatArray:
        """Return the recalibrated scores; rows that no class is left in stay as they were."""
        columns = [p[:, c] if m is None else m.predict(p[:, c]) for c, m in enumerate(self.each_)]
        scores = np.column_stack(columns)
        total = scores.sum(axis=1, keepdims=True)
        return np.where(total > 0, scores / np.where(total > 0, total, 1.0), p)


def _clipped_log(p: FloatArray) -> FloatArray:
    return np.log(np.maximum(p, PAPER.logit_clip))


CALIBRATORS: dict[str, type[Calibrator]] = {
    "temperature": Temperature,
    "platt": Platt,
    "isotonic": Isotonic,
    "beta": Beta,
}
