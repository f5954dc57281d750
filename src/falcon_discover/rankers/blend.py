"""The model inside the gated ranker: log-odds of an error, and how they are calibrated."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtri
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from falcon_discover.data.table import telling_columns
from falcon_discover.rankers.inputs import doubt, features, signal_columns
from falcon_discover.runtime import notices
from falcon_discover.runtime.threads import one_blas_thread
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import NO_FOLD, State

# Errors below the threshold are of the same kind as those above it, and far more numerous:
# they count, but less.
BELOW_TAU_WEIGHT = 0.5
# Ridge strength with many errors, and the number of errors at which it is twice as strong. The
# model's own doubt is scaled up, which almost frees it from the ridge: with few errors everything
# else shrinks away, and what remains is gated confidence.
RIDGE_C = 0.1
RIDGE_HALF_ERRORS = 20
DOUBT_SCALE = 10.0
# Eligible errors at which the trees count half as much as the linear part.
TREES_HALF_WEIGHT = 30
# Standardise by eligible rows where there are this many.
ENOUGH_ROWS = 50
INNER_FOLDS = 4
# Strength of the belief that cross-fitted log-odds are calibrated as they are, and that they say
# more than the model's own doubt.
SLOPE_PRIOR = 10.0
GATE_PRIOR = 1.0
# Confident errors at which the gate is believed to deserve half of the weight.
FEW_EVENTS = 5
# Below this many cells threads cost more than they bring.
ONE_THREAD_CELLS = 2_000_000


class OwnDoubt:
    """The model's own doubt, scaled to the rate of confident errors: nothing is learned."""

    def __init__(self, state: State, wrong: BoolArray, eligible: BoolArray) -> None:
        rate = (int((wrong & eligible).sum()) + 0.5) / (int(eligible.sum()) + 1.0)
        own = float((1.0 - state.confidence[eligible]).mean()) if eligible.any() else 1.0
        self.shift = float(logit(rate) - logit(min(max(own, 1e-9), 0.5)))

    def log_odds(self, state: State) -> FloatArray:
        """Return the log-odds that a prediction is wrong."""
        return self.shift + doubt(state)


class Blend:
    """The average log-odds of a ridge regression and of small boosted trees.

    Parameters
    ----------
    leave_out : signal families not to use
    seed : seed of the trees
    """

    def __init__(self, leave_out: Collection[str] = (), seed: int = 0) -> None:
        self.leave_out = tuple(leave_out)
        self.seed = seed

    def fit(self, state: State, wrong: BoolArray, eligible: BoolArray) -> Self:
        """Learn which predictions are wrong; eligible rows count most."""
        columns = signal_columns(state, self.leave_out)
        weights = np.where(eligible, 1.0, BELOW_TAU_WEIGHT)
        events = int((wrong & eligible).sum())
        self.names = list(columns)
        self.trees_weight = events / (events + TREES_HALF_WEIGHT)
        signals = _stacked(columns, len(state))
        raw = features(state, self.leave_out)
        self.kept = telling_columns(raw)
        rows = np.hstack([signals, raw[:, self.kept]])
        wide = rows.size > ONE_THREAD_CELLS
        with one_blas_thread(openmp=None if wide else 1):
            self._fit_linear(signals, wrong, weights, eligible)
            # Weights would make the trees' binning several times slower and change nothing else.
            self.trees = HistGradientBoostingClassifier(
                max_iter=40,
                learning_rate=0.12,
                max_depth=5,
                min_samples_leaf=20,
                l2_regularization=10.0,
                max_features=0.5,
                early_stopping=False,
                random_state=self.seed,
            ).fit(rows, wrong)
        return self

    def _fit_linear(
        self, signals: FloatArray, wrong: BoolArray, weights: FloatArray, eligible: BoolArray
    ) -> None:
        typical = signals[eligible] if eligible.sum() >= ENOUGH_ROWS else signals
        self.scaler = StandardScaler().fit(typical)
        errors = min(int(wrong.sum()), int((~wrong).sum()))
        strength = RIDGE_C * errors / (errors + RIDGE_HALF_ERRORS)
        self.linear = LogisticRegression(C=strength, solver="newton-cholesky", max_iter=100)
        with notices.solving():
            self.linear.fit(self._scaled(signals), wrong, sample_weight=weights)

    def _scaled(self, signals: FloatArray) -> FloatArray:
        scaled = self.scaler.transform(signals)
        if self.names and self.names[0] == "doubt":
            scaled[:, 0] *= DOUBT_SCALE
        return np.asarray(scaled, dtype=np.float64)

    def log_odds(self, state: State) -> FloatArray:
        """Return the log-odds that a prediction is wrong."""
        signals = _stacked(signal_columns(state, self.leave_out), len(state))
        rows = np.hstack([signals, features(state, self.leave_out)[:, self.kept]])
        linear = self.linear.decision_function(self._scaled(signals))
        trees = self.trees.decision_function(rows)
        share = 0.5 * self.trees_weight
        return np.asarray((1.0 - share) * linear + share * trees, dtype=np.float64)


def _stacked(columns: dict[str, FloatArray], n: int) -> FloatArray:
    return np.column_stack(list(columns.values())) if columns else np.zeros((n, 1))


def inner_folds(state: State, wrong: BoolArray, eligible: BoolArray, seed: int) -> IntArray:
    """Return the fold in which each row is scored by a model that learned from the others.

    Rows of a fit keep their folds: their evidence is known without each of these. Other rows,
    whose evidence no other row's label is in, are dealt out.
    """
    rarer = min(int(wrong.sum()), int((~wrong).sum()))
    apart = state.apart is not None and state.fold is not None
    fold = np.full(len(state), NO_FOLD) if not apart else np.array(state.fold)
    loose = np.flatnonzero(fold == NO_FOLD)
    if not len(loose):
        return fold
    count = int(fold.max()) + 1 if apart else min(INNER_FOLDS, rarer)
    # Errors are spread over the folds, and eligible ones among them too.
    kind = wrong.astype(int) + (wrong & eligible if (wrong & eligible).sum() >= rarer / 4 else 0)
    dealt = StratifiedKFold(count, shuffle=True, random_state=seed)
    with notices.ignoring(UserWarning, "The least populated class"):
        for number, (_, held_out) in enumerate(dealt.split(loose, kind[loose])):
            fold[loose[held_out]] = number
    return fold


def cross_fitted(
    blend: Blend, state: State, wrong: BoolArray, eligible: BoolArray, fold: IntArray
) -> FloatArray:
    """Return the log-odds of each row by a blend that was fitted without its fold."""
    odds = np.empty(len(state))
    for number in np.unique(fold):
        own, others = fold == number, np.flatnonzero(fold != number)
        part: Blend | OwnDoubt
        if len(np.unique(wrong[others])) < 2:
            # All errors are in this fold: there is nothing to learn without it.
            part, shift = OwnDoubt(state, wrong, eligible), 0.0
        else:
            part = Blend(blend.leave_out, blend.seed).fit(
                state.without(int(number)).take(others), wrong[others], eligible[others]
            )
            # A fold with many errors leaves few to learn from, and would be scored low for it.
            shift = _rate_odds(wrong, eligible) - _rate_odds(wrong[others], eligible[others])
        odds[own] = part.log_odds(state.take(own)) + shift
    return odds


def _rate_odds(wrong: BoolArray, eligible: BoolArray) -> float:
    """Return the log-odds of an error over all rows, as the ridge regression weighs them."""
    weights = np.where(eligible, 1.0, BELOW_TAU_WEIGHT)
    return float(np.log((weights[wrong].sum() + 0.5) / (weights[~wrong].sum() + 0.5)))


@dataclass(frozen=True)
class Calibration:
    """How held-out log-odds become a probability: a shift, their slope, and the own doubt's.

    The second slope is the share of the gate: where the learned log-odds say no more than the
    model's own doubt, held-out rows move the weight from the one to the other.
    """

    shift: float = 0.0
    slope: float = 1.0
    gate: float = 0.0
    # The covariance of the three, row by row; without it nothing is known about how sure they are.
    spread: tuple[float, ...] = ()

    def risk(self, odds: FloatArray, own: FloatArray) -> FloatArray:
        """Return probabilities."""
        return np.asarray(expit(self.shift + self.slope * odds + self.gate * own))

    def interval(
        self, odds: FloatArray, own: FloatArray, level: float = PAPER.interval_level
    ) -> tuple[FloatArray, FloatArray]:
        """Return between which rates rows of such log-odds are wrong; 0 to 1 if nobody knows."""
        if not self.spread:
            return np.zeros(len(odds)), np.ones(len(odds))
        middle = self.shift + self.slope * odds + self.gate * own
        design = np.column_stack([np.ones(len(odds)), odds, own])
        covariance = np.reshape(self.spread, (3, 3))
        variance = np.einsum("ij,jk,ik->i", design, covariance, design)
        reach = float(ndtri((1 + level) / 2)) * np.sqrt(np.maximum(variance, 0.0))
        return np.asarray(expit(middle - reach)), np.asarray(expit(middle + reach))


def calibrate(odds: FloatArray, own: FloatArray, wrong: BoolArray) -> Calibration:
    """Return the calibration of held-out log-odds; with few events it leans on the gate.

    Parameters
    ----------
    odds : learned log-odds of rows that were not learned from
    own : the model's own doubt about them
    wrong : which of them are errors

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> own, more = rng.normal(-3, 1, 20_000), rng.normal(size=20_000)
    >>> wrong = rng.uniform(size=20_000) < 1 / (1 + np.exp(-own))
    >>> found = calibrate(own + more, own, wrong)  # the learned part only adds noise
    >>> round(found.slope, 1), round(found.gate, 1)
    (0.1, 1.0)
    """
    target = wrong.astype(np.float64)
    # Half an error and half a non-error keep the rate off 0 and 1.
    rate = (target.sum() + 0.5) / (len(target) + 1.0)
    centre, own_centre = float(odds.mean()), float(own.mean())
    learned, doubted = odds - centre, own - own_centre
    leaning = 1.0 / (1.0 + target.sum() / FEW_EVENTS)

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        level, slope, gate = theta
        z = level + slope * learned + gate * doubted
        apart = slope + gate - 1.0
        value = (
            np.logaddexp(0.0, z).sum() - (target * z).sum()
            + np.logaddexp(0.0, level) - rate * level
            + 0.5 * (SLOPE_PRIOR * apart**2 + GATE_PRIOR * (gate - leaning) ** 2)
        )  # fmt: skip
        left = expit(z) - target
        gradient = [
            left.sum() + expit(level) - rate,
            left @ learned + SLOPE_PRIOR * apart,
            left @ doubted + SLOPE_PRIOR * apart + GATE_PRIOR * (gate - leaning),
        ]
        return float(value), np.array(gradient)

    bounds = [(-20.0, 20.0), (0.05, 5.0), (0.0, 5.0)]
    found = minimize(
        loss, [logit(rate), 1.0 - leaning, leaning], jac=True, method="L-BFGS-B", bounds=bounds
    )
    level, slope, gate = (float(v) for v in found.x)
    shift = level - slope * centre - gate * own_centre
    return Calibration(shift, slope, gate, _spread(found.x, learned, doubted, centre, own_centre))


def _spread(
    theta: FloatArray, learned: FloatArray, doubted: FloatArray, centre: float, own_centre: float
) -> tuple[float, ...]:
    """Return the covariance of shift and slopes: the inverse curvature of the penalised loss."""
    p = expit(theta[0] + theta[1] * learned + theta[2] * doubted)
    design = np.column_stack([np.ones(len(p)), learned, doubted])
    own = expit(theta[0])
    curvature = (design * (p * (1 - p))[:, None]).T @ design
    curvature[0, 0] += own * (1 - own)
    curvature[1:, 1:] += SLOPE_PRIOR
    curvature[2, 2] += GATE_PRIOR
    # From level and slopes at the centre to shift and slopes.
    to_shift = np.array([[1.0, -centre, -own_centre], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    covariance = to_shift @ np.linalg.inv(curvature) @ to_shift.T
    return tuple(float(v) for v in covariance.ravel())


def cross_calibrated(
    whole: Calibration, odds: FloatArray, own: FloatArray, wrong: BoolArray, fold: IntArray
) -> FloatArray:
    """Return held-out risks of rows, with slopes that were not fitted on their fold.

    The level is that of all rows: the level without a fold is the lower, the more errors it holds.

    Parameters
    ----------
    whole : the calibration on all of these rows
    """
    centre, own_centre = float(odds.mean()), float(own.mean())
    level = whole.shift + whole.slope * centre + whole.gate * own_centre
    risk = np.empty(len(odds))
    for number in np.unique(fold):
        inside = fold == number
        part = whole
        if not inside.all():
            part = calibrate(odds[~inside], own[~inside], wrong[~inside])
        shift = level - part.slope * centre - part.gate * own_centre
        risk[inside] = Calibration(shift, part.slope, part.gate).risk(odds[inside], own[inside])
    return risk
