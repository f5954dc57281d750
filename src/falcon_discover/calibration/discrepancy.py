"""A calibrator that may use the state: confidence drops where the evidence does not bear it out.

The log-odds of the model are recalibrated together with what the evidence says about the positive
class: a ridge regression, and small boosted trees that also see the features. Both can only rise
with the model's own score when everything else is the same. The result is mixed with plain Platt
scaling, as far as rows that the fit has not seen allow. On request its log-odds are scaled down
("caution"): fewer confident errors, because there are fewer confident predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from falcon_discover import metrics
from falcon_discover.calibration.calibrators import Beta, Platt, Temperature, Weights, clipped_logit
from falcon_discover.data.table import telling_columns
from falcon_discover.exceptions import check_number
from falcon_discover.runtime import notices
from falcon_discover.runtime.threads import one_blas_thread
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import State

# Evidence that has a direction: each is turned to speak for the positive class.
DIRECTED = (
    "log_trust_1",
    "log_trust_5",
    "log_trust_25",
    "opinion_boosting",
    "opinion_forest",
    "opinion_linear",
    "signed_drift",
)
# The model's own log-odds are scaled up, which almost frees them from the ridge.
OWN_SCALE = 10.0
RIDGE_C = 1.0
# Share of the trees, with many wrong predictions, and the number at which it is half of that.
TREES_SHARE = 0.3
TREES_HALF_ERRORS = 100
FOLDS = 5
# How much of the calibrator the mix with Platt scaling may take.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# Shrinkage of the log-odds that is tried, and the part of the gain in log loss it may cost. That
# part was chosen on the seven data sets of the study; where the evidence earns more than it does
# there, "auto" shrinks further.
CAUTIONS = tuple(round(0.01 * i, 2) for i in range(31))
SPEND = 2 / 3

Caution = float | Literal["auto"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The inputs of the calibrator: own log-odds first, then what speaks for the positive class."""

    signals: FloatArray
    features: npt.NDArray[np.float32]

    @classmethod
    def of(cls, state: State) -> Evidence:
        """Return the inputs of each row; what could not be measured is left out."""
        sign = np.where(state.decision, 1.0, -1.0)
        columns = [clipped_logit(state.p)]
        known = state.evidence
        if "labelled_as_predicted" in known:
            k = known["neighbours"].to_numpy(dtype=np.float64)
            share = known["labelled_as_predicted"].to_numpy() * k
            columns.append(sign * np.log((share + 0.5) / (k - share + 0.5)))
        columns += [sign * known[name].to_numpy() for name in DIRECTED if name in known]
        features = state.features
        if features is None:
            features = np.empty((len(state), 0), dtype=np.float32)
        return cls(np.column_stack(columns), features)

    def take(self, rows: npt.NDArray[np.intp]) -> Evidence:
        """Return some of the rows."""
        return Evidence(self.signals[rows], self.features[rows])


class Discrepancy:
    """Recalibration by the model's score and the evidence about each row.

    Parameters
    ----------
    caution : how far log-odds are shrunk, 0 (the default) for not at all. More of it gives fewer
        confident errors by fewer confident predictions, and probabilities that are less well
        calibrated; the order of confidence stays. "auto" shrinks as far as two thirds of the gain
        in log loss over the best plain calibrator pay for, and not so far that the Brier score is
        worse than the uncalibrated model's
    random_state : seed of the trees and of the folds

    Attributes
    ----------
    share_ : share of the evidence in the mix with Platt scaling
    caution_ : how far log-odds are shrunk
    """

    def __init__(self, caution: Caution = 0.0, random_state: int = 0) -> None:
        self.caution = caution
        self.random_state = random_state

    def fit(self, state: State, y: npt.ArrayLike, sample_weight: Weights = None) -> Self:
        """Learn from labelled rows whose scores come from models that have not seen them."""
        if self.caution != "auto":
            must = "give a number from 0 on and below 1, or 'auto'"
            check_number("caution", self.caution, lambda part: 0 <= part < 1, must)
        codes = np.asarray(y)
        inputs = Evidence.of(state)
        self._plain = Platt().fit(state.p, codes, sample_weight)
        self._blend = _Blend(self.random_state).fit(inputs, codes, state.p, sample_weight)
        plain = clipped_logit(self._plain.predict(state.p))
        held_out = self._cross_fitted(inputs, codes, state.p, sample_weight)
        loss = [metrics.nll(codes, expit(_mixed(plain, held_out, share))) for share in SHARES]
        self.share_ = SHARES[int(np.argmin(loss))]
        odds = _mixed(plain, held_out, self.share_)
        self.caution_ = (
            affordable_caution(codes, odds, state.p, plain=self._plain_scores(state.p, codes))
            if self.caution == "auto"
            else float(self.caution)
        )
        return self

    def _plain_scores(self, p: FloatArray, y: npt.NDArray[Any]) -> list[FloatArray]:
        others = (Temperature().fit(p, y), Beta().fit(p, y))
        return [calibrator.predict(p) for calibrator in (self._plain, *others)]

    def log_odds(self, state: State) -> FloatArray:
        """Return the recalibrated log-odds before they are shrunk."""
        plain = clipped_logit(self._plain.predict(state.p))
        return _mixed(plain, self._blend.log_odds(Evidence.of(state)), self.share_)

    def predict(self, state: State) -> FloatArray:
        """Return the recalibrated positive-class scores."""
        return np.asarray(expit((1.0 - self.caution_) * self.log_odds(state)))

    def _cross_fitted(
        self, inputs: Evidence, y: npt.NDArray[Any], p: FloatArray, weight: Weights
    ) -> FloatArray:
        folds = min(FOLDS, int(np.bincount(y.astype(int)).min()))
        if folds < 2:
            return clipped_logit(self._plain.predict(p))
        odds = np.empty(len(p))
        splitter = StratifiedKFold(folds, shuffle=True, random_state=self.random_state)
        for seen, held_out in splitter.split(p, y):
            own = None if weight is None else weight[seen]
            part = _Blend(self.random_state).fit(inputs.take(seen), y[seen], p[seen], own)
            odds[held_out] = part.log_odds(inputs.take(held_out))
        return odds


def affordable_caution(
    y: npt.ArrayLike,
    odds: FloatArray,
    before: FloatArray,
    plain: Sequence[FloatArray] = (),
) -> float:
    """Return the strongest shrinkage that part of the gain in log loss pays for.

    Parameters
    ----------
    odds : recalibrated log-odds of rows they were not fitted on
    before, plain : scores of the uncalibrated model and of plain calibrators

    Examples
    --------
    >>> y = np.repeat([0, 1], 50)
    >>> affordable_caution(y, np.where(y, 2.0, -2.0), before=np.full(100, 0.5))
    0.3
    >>> affordable_caution(y, np.where(y, 2.0, -2.0), before=np.where(y, 0.9, 0.1))
    0.0
    """
    best = min(metrics.nll(y, p) for p in (before, *plain))
    now, worst = metrics.nll(y, expit(odds)), metrics.brier(y, before)
    paid = [0.0]
    for caution in CAUTIONS:
        p = expit((1.0 - caution) * odds)
        if metrics.nll(y, p) <= now + SPEND * (best - now) and metrics.brier(y, p) <= worst:
            paid.append(caution)
    return max(paid) if best > now else 0.0


class _Blend:
    """The ridge regression and the trees, averaged in log-odds."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, inputs: Evidence, y: npt.NDArray[Any], p: FloatArray, weight: Weights) -> Self:
        wrong = int(((p >= PAPER.decision_threshold) != y).sum())
        self.scale = np.maximum(inputs.signals.std(axis=0), 1e-9)
        self.scale[0] /= OWN_SCALE
        self.kept = telling_columns(inputs.features)
        self.trees_share = TREES_SHARE * wrong / (wrong + TREES_HALF_ERRORS)
        with one_blas_thread(), notices.solving():
            ridge = LogisticRegression(C=RIDGE_C, solver="newton-cholesky", tol=1e-8)
            self.ridge = ridge.fit(inputs.signals / self.scale, y, weight)
        n_signals = inputs.signals.shape[1]
        monotone = [1] * n_signals + [0] * len(self.kept)
        trees = HistGradientBoostingClassifier(
            max_iter=60,
            learning_rate=0.08,
            max_leaf_nodes=8,
            min_samples_leaf=30,
            l2_regularization=10.0,
            monotonic_cst=monotone,
            early_stopping=False,
            random_state=self.seed,
        )
        self.trees = trees.fit(self._rows(inputs), y, weight)
        return self

    def log_odds(self, inputs: Evidence) -> FloatArray:
        """Return the log-odds of the positive class; never falling with the own log-odds."""
        coefficients = self.ridge.coef_[0].copy()
        coefficients[0] = max(coefficients[0], 0.0)
        linear = inputs.signals / self.scale @ coefficients + self.ridge.intercept_[0]
        trees = self.trees.decision_function(self._rows(inputs))
        return np.asarray((1 - self.trees_share) * linear + self.trees_share * trees)

    def _rows(self, inputs: Evidence) -> FloatArray:
        return np.hstack([inputs.signals, inputs.features[:, self.kept]])


def _mixed(plain: FloatArray, odds: FloatArray, share: float) -> FloatArray:
    return np.asarray((1.0 - share) * plain + share * odds)
