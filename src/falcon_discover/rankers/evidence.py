"""One model of evidence: what the signals of a row say about its prediction, in log-odds.

The average of a ridge regression on the signals and of small boosted trees on signals and
features. It tells how likely an error is, for the ranker `auto`, or how likely the positive class
is, for the discrepancy calibrator.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from falcon_discover.data.drawing import coarse, group_folds
from falcon_discover.data.table import informative_columns
from falcon_discover.rankers.inputs import (
    Inputs,
    against_the_prediction,
    doubt,
    for_the_class,
)
from falcon_discover.runtime import notices
from falcon_discover.runtime.threads import one_blas_thread
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.signals.state import NO_FOLD, State

Target = Literal["error", "positive"]

# Errors below the threshold are of the same kind as those above it, and far more numerous:
# they count, but less.
BELOW_TAU_WEIGHT = 0.5
# The audited model's own log-odds are scaled up, which almost frees them from the ridge: with few
# errors everything else shrinks away, and what remains is the model's own word.
OWN_SCALE = 10.0
# Standardise by eligible rows where there are this many.
ENOUGH_ROWS = 50
INNER_FOLDS = 4
# Below this many cells threads cost more than they bring.
ONE_THREAD_CELLS = 2_000_000


@dataclass(frozen=True)
class Task:
    """How a model of evidence learns to tell its target.

    Attributes
    ----------
    ridge_c, ridge_half : strength of the ridge with many rows of the rarer outcome, and the number
        of these at which it is twice as strong
    tol : where the regression stops
    trees_weight, trees_half : weight of the trees with many errors, 1 if they count as much as the
        regression; and the number of errors at which it is half of that
    by_class : whether signals speak for a class, so that the result may only rise with each. They
        are not centred then: 0 speaks for neither class
    weighs_trees : whether the trees weigh rows too, which makes their binning much slower
    trees : their parameters
    """

    ridge_c: float
    ridge_half: int
    tol: float
    trees_weight: float
    trees_half: int
    by_class: bool
    weighs_trees: bool
    trees: dict[str, float]


TASKS: dict[Target, Task] = {
    "error": Task(
        ridge_c=0.1, ridge_half=20, tol=1e-4, trees_weight=1.0, trees_half=30,
        by_class=False, weighs_trees=False,
        trees={"max_iter": 40, "learning_rate": 0.12, "max_depth": 5, "min_samples_leaf": 20,
               "max_features": 0.5},
    ),
    "positive": Task(
        ridge_c=1.0, ridge_half=0, tol=1e-8, trees_weight=0.6, trees_half=100,
        by_class=True, weighs_trees=True,
        trees={"max_iter": 60, "learning_rate": 0.08, "max_leaf_nodes": 8, "min_samples_leaf": 30},
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with a known outcome, for a model of evidence to learn from.

    Attributes
    ----------
    outcome : what is to be told of each row: whether it is an error; or whether it is of the
        positive class, of more than two of the decided one
    errors : the wrong predictions whose number decides how much the trees count
    eligible : the rows by which signals are standardised
    weights : of the rows; None if all count alike

    What the rows stand for (`state.weight`) is in the weights, and counts in all sums of rows.
    """

    state: State
    outcome: BoolArray
    errors: BoolArray
    eligible: BoolArray
    weights: FloatArray | None

    @classmethod
    def of_errors(cls, state: State, wrong: BoolArray, eligible: BoolArray) -> Sample:
        """Return rows with errors at any confidence; eligible ones count most."""
        weights = np.where(eligible, 1.0, BELOW_TAU_WEIGHT)
        if state.weight is not None:
            weights = weights * state.weight
        return cls(state, wrong, wrong & eligible, eligible, weights)

    @classmethod
    def of_classes(
        cls, state: State, codes: npt.NDArray[np.integer], weights: FloatArray | None
    ) -> Sample:
        """Return rows of known classes."""
        wrong = np.asarray(state.decision != codes)
        outcome = codes == 1 if state.p.ndim == 1 else ~wrong
        return cls(state, outcome, wrong, np.ones(len(state), bool), weights)

    @property
    def rarer(self) -> int:
        """How many rows have the rarer outcome; those of weight 0 teach nothing."""
        weight = self.state.weight
        outcome = self.outcome if weight is None else self.outcome[weight > 0]
        return min(int(outcome.sum()), int((~outcome).sum()))

    def total(self, rows: BoolArray) -> float:
        """Return how many rows some of the rows stand for."""
        return float(rows.sum() if self.state.weight is None else self.state.weight @ rows)

    def outside(self, fold: IntArray, number: int) -> Sample:
        """Return the rows outside a fold, as they are measured without its labels."""
        outside = fold != number
        if self.state.apart is not None:
            outside &= self.state.teachers(number)
        rows = np.flatnonzero(outside)
        return Sample(
            self.state.without(number).take(rows),
            self.outcome[rows],
            self.errors[rows],
            self.eligible[rows],
            None if self.weights is None else self.weights[rows],
        )


class ModelDoubt:
    """The model's own doubt, scaled to the rate of confident errors: nothing is learned."""

    def __init__(self, sample: Sample) -> None:
        sure = sample.eligible
        rate = (sample.total(sample.errors) + 0.5) / (sample.total(sure) + 1.0)
        counts = sample.state.weight
        own = 1.0
        if sample.total(sure):
            doubts = 1.0 - sample.state.confidence[sure]
            own = float(np.average(doubts, weights=None if counts is None else counts[sure]))
        self.shift = float(logit(rate) - logit(min(max(own, 1e-9), 0.5)))

    def log_odds(self, state: State) -> FloatArray:
        """Return the log-odds that a prediction is wrong."""
        return self.shift + doubt(state)


class EvidenceModel:
    """The average log-odds of a ridge regression and of small boosted trees.

    Parameters
    ----------
    target : what it tells: the probability of an error, or of the positive class
    leave_out : signal families not to use when it tells errors
    seed : seed of the trees
    """

    # Files of 0.1.0 hold models of errors, and do not say so.
    target: Target = "error"

    def __init__(self, target: Target, leave_out: Collection[str] = (), seed: int = 0) -> None:
        self.target = target
        self.leave_out = tuple(leave_out)
        self.seed = seed

    def fit(self, sample: Sample) -> Self:
        """Learn from rows with a known outcome."""
        task, inputs = TASKS[self.target], self.inputs(sample.state)
        errors = sample.total(sample.errors)
        self.trees_weight = task.trees_weight * errors / (errors + task.trees_half)
        self.kept = informative_columns(inputs.features)
        rows = self._rows(inputs)
        if sample.state.weight is not None:
            rows = coarse(rows, sample.state.weight)
        rising = [1] * inputs.signals.shape[1] + [0] * len(self.kept)
        with one_blas_thread(openmp=1 if rows.size <= ONE_THREAD_CELLS else None):
            self._fit_linear(inputs, sample)
            self.trees = HistGradientBoostingClassifier(
                **task.trees,
                l2_regularization=10.0,
                monotonic_cst=rising if task.by_class else None,
                early_stopping=False,
                random_state=self.seed,
            ).fit(
                rows,
                sample.outcome,
                sample.weights if task.weighs_trees else sample.state.weight,
            )
        return self

    def _fit_linear(self, inputs: Inputs, sample: Sample) -> None:
        task, signals, counts = TASKS[self.target], inputs.signals, sample.state.weight
        if task.by_class:
            self.scale = np.maximum(_spread(signals, counts), 1e-9)
            self.scale[0] /= OWN_SCALE
        else:
            if sample.total(sample.eligible) >= ENOUGH_ROWS:
                signals = signals[sample.eligible]
                counts = None if counts is None else counts[sample.eligible]
            with notices.solving():
                self.scaler = StandardScaler().fit(signals, sample_weight=counts)
        rarer = min(sample.total(sample.outcome), sample.total(~sample.outcome))
        strength = task.ridge_c * rarer / (rarer + task.ridge_half)
        self.linear = LogisticRegression(C=strength, solver="newton-cholesky", tol=task.tol)
        with notices.solving():
            self.linear.fit(self._scaled(inputs), sample.outcome, sample.weights)
        if task.by_class:
            self.linear.coef_[0, 0] = max(self.linear.coef_[0, 0], 0.0)

    def _scaled(self, inputs: Inputs) -> FloatArray:
        if TASKS[self.target].by_class:
            return np.asarray(inputs.signals / self.scale)
        scaled = self.scaler.transform(inputs.signals)
        if inputs.has_own:
            scaled[:, 0] *= OWN_SCALE
        return np.asarray(scaled, dtype=np.float64)

    def _rows(self, inputs: Inputs) -> FloatArray:
        return np.hstack([inputs.signals, inputs.features[:, self.kept]])

    def inputs(self, state: State) -> Inputs:
        """Return what the model is told about rows."""
        if self.target == "error":
            return against_the_prediction(state, self.leave_out)
        return for_the_class(state)

    def log_odds(self, state: State) -> FloatArray:
        """Return the log-odds that a prediction is wrong, or that a row is positive."""
        return self.log_odds_of(self.inputs(state))

    def log_odds_of(self, inputs: Inputs) -> FloatArray:
        """Return the same by what there is to tell."""
        linear = self.linear.decision_function(self._scaled(inputs))
        trees = self.trees.decision_function(self._rows(inputs))
        share = 0.5 * self.trees_weight
        return np.asarray((1.0 - share) * linear + share * trees, dtype=np.float64)


def _spread(signals: FloatArray, counts: FloatArray | None) -> FloatArray:
    """Return the standard deviation of each column."""
    if counts is None:
        return np.asarray(signals.std(axis=0))
    mean = np.average(signals, axis=0, weights=counts)
    return np.asarray(np.sqrt(np.average((signals - mean) ** 2, axis=0, weights=counts)))


def dealt(kind: npt.NDArray[Any], count: int, seed: int, group: IntArray | None = None) -> IntArray:
    """Return a fold for each row; each kind of row is spread over all folds.

    Parameters
    ----------
    group : the number of each row's group, which stays in one fold
    """
    fold = np.zeros(len(kind), dtype=np.intp)
    if group is not None:
        count = min(count, len(np.unique(group)), int(np.unique(kind, return_counts=True)[1].max()))
        if count < 2:
            return fold
        for number, (_, held_out) in enumerate(group_folds(kind, group, count, seed)):
            fold[held_out] = number
        return fold
    splitter = StratifiedKFold(count, shuffle=True, random_state=seed)
    with notices.ignoring(UserWarning, "The least populated class"):
        for number, (_, held_out) in enumerate(splitter.split(kind, kind)):
            fold[held_out] = number
    return fold


def inner_folds(sample: Sample, seed: int) -> IntArray:
    """Return the fold in which each row is scored by a model that learned from the others.

    Rows of a fit keep their folds: their evidence is known without each of these. Other rows,
    whose evidence no other row's label is in, are dealt out.
    """
    state, severe = sample.state, sample.errors
    apart = state.apart is not None and state.fold is not None
    fold = np.full(len(state), NO_FOLD) if not apart else np.array(state.fold)
    loose = np.flatnonzero(fold == NO_FOLD)
    if not len(loose):
        return fold
    count = int(fold.max()) + 1 if apart else min(INNER_FOLDS, sample.rarer)
    # Errors are spread over the folds, and eligible ones among them too.
    kind = sample.outcome.astype(int) + (severe if severe.sum() >= sample.rarer / 4 else 0)
    group = None if state.group is None else state.group[loose]
    fold[loose] = dealt(kind[loose], count, seed, group)
    return fold


def cross_fitted(
    sample: Sample, fold: IntArray, learn: Callable[[Sample], Callable[[State], FloatArray]]
) -> FloatArray:
    """Return the log-odds of each row by what was learned without its fold.

    Parameters
    ----------
    learn : learns from rows, and returns what tells the log-odds of others
    """
    odds = np.empty(len(fold))
    for number in np.unique(fold):
        own = fold == number
        odds[own] = learn(sample.outside(fold, int(number)))(sample.state.take(own))
    return odds
