"""What reviewed rows change about the risk, aware of how they were chosen.

Reviewed rows are the most suspicious ones, so their rate says nothing about other rows. But given
what is known about a row, its label is fair however the row was chosen. So the audit's risk stays
as it is, and a correction of its log-odds is learned: a regression with that risk as its offset, on
the reviewed rows and on the rows of the fit. The rows of the fit hold it in place where nothing is
reviewed. One of its columns is the share of such rows that are reviewed (the propensity), so that
what is seen at the top of the list need not move the rest.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from falcon_discover.rankers.inputs import against_the_prediction
from falcon_discover.runtime.threads import one_blas_thread
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.signals.state import State

# Before any mark, each of the three columns of the level is believed to change the odds of an error
# by a factor of about two, up or down; signals and features together by at most as much. How much
# less is told by the marks: so many times as sure that they change nothing.
DOUBLED = float(np.log(2.0))
SURER = (1.0, 4.0, 16.0, 64.0, 10_000.0)
# The level, the share of such rows that are reviewed, and the odds themselves.
LEVEL_COLUMNS = 3
LEVEL_PRECISION = 1.0 / DOUBLED**2
# Rows further out than this many standard deviations are corrected as if they were there.
FURTHEST = 4.0
# Odds are learned from within these.
TINY = 1e-9
STEPS = 50
ENOUGH = 1e-10


@dataclass(frozen=True, eq=False)
class Judged:
    """Confident rows with the risk that they had, and whether they are wrong.

    Attributes
    ----------
    inputs : signals and features
    odds : log-odds of the risk before any correction
    weight : how many rows each stands for
    """

    inputs: FloatArray
    odds: FloatArray
    wrong: BoolArray
    weight: FloatArray

    @classmethod
    def of(
        cls, state: State, risk: FloatArray, wrong: BoolArray, leave_out: Collection[str]
    ) -> Judged:
        """Return rows by their state; the risk is that of rows that it was not learned from."""
        weight = np.ones(len(state)) if state.weight is None else state.weight
        return cls(told(state, leave_out), log_odds(risk), wrong, weight)

    def take(self, rows: BoolArray) -> Judged:
        """Return some of the rows."""
        return Judged(self.inputs[rows], self.odds[rows], self.wrong[rows], self.weight[rows])


def told(state: State, leave_out: Collection[str]) -> FloatArray:
    """Return what a correction is told about rows: signals and features side by side."""
    inputs = against_the_prediction(state, leave_out)
    return np.hstack([inputs.signals, inputs.features])


def log_odds(risk: FloatArray) -> FloatArray:
    """Return the log-odds of a risk, off infinity."""
    return np.asarray(logit(np.clip(risk, TINY, 1.0 - TINY)))


@dataclass(frozen=True, eq=False)
class Correction:
    """How the log-odds of a confident error are moved.

    Attributes
    ----------
    mean, scale : of the inputs; columns that did not vary have an infinite scale
    centre, spread : of the odds
    chosen : intercept and slope of the log-odds that a row of such odds is a reviewed one
    coefficients : of the level, the share of such rows that are reviewed, the odds, the inputs
    covariance : of these
    """

    mean: FloatArray
    scale: FloatArray
    centre: float
    spread: float
    chosen: tuple[float, float]
    coefficients: FloatArray
    covariance: FloatArray

    @classmethod
    def learned(cls, known: Judged, reviewed: Judged) -> Correction:
        """Return the correction that the rows of a fit and reviewed rows call for.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> odds, x = rng.normal(-3, 1, 20_000), rng.normal(size=(20_000, 1))
        >>> wrong = rng.uniform(size=20_000) < expit(odds)
        >>> later = rng.uniform(size=20_000) < expit(odds + 1.5 * (x[:, 0] > 0))  # the rule changed
        >>> top = odds > np.quantile(odds, 0.9)
        >>> known = Judged(x, odds, wrong, np.ones(20_000))
        >>> seen = Judged(x, odds, later, np.ones(20_000)).take(top)
        >>> found = Correction.learned(known, seen)
        >>> moved = found.shift(x, odds)
        >>> changed = top & (x[:, 0] > 0)  # the others were not reviewed, and hardly move
        >>> [round(float(moved[rows].mean()), 1) for rows in (changed, ~top)]
        [0.5, -0.1]
        """
        odds = np.concatenate([known.odds, reviewed.odds])
        inputs = np.vstack([known.inputs, reviewed.inputs])
        wrong = np.concatenate([known.wrong, reviewed.wrong]).astype(np.float64)
        weight = np.concatenate([known.weight, reviewed.weight])
        # The rows of the fit show what is usual; without any, the reviewed ones have to.
        usual = known if len(known.odds) else reviewed
        deviation = usual.inputs.std(axis=0)
        constant = deviation <= TINY * np.maximum(np.abs(usual.inputs).max(axis=0), 1.0)
        spread = float(usual.odds.std())
        start = cls(
            usual.inputs.mean(axis=0),
            np.where(constant, np.inf, deviation),
            float(usual.odds.mean()),
            spread if spread > TINY else 1.0,
            _propensity(known, reviewed),
            np.empty(0),
            np.empty((0, 0)),
        )
        with one_blas_thread():
            columns = start._columns(inputs, odds)
            informative = max(int((~constant).sum()), 1)
            found, covariance = _likeliest(columns, odds, wrong, weight, informative)
        return cls(
            start.mean, start.scale, start.centre, start.spread, start.chosen, found, covariance
        )

    def shift(self, inputs: FloatArray, odds: FloatArray) -> FloatArray:
        """Return by how much the log-odds of rows move."""
        # Not by BLAS, where the last bits of a row may depend on the rows beside it.
        return np.asarray(np.einsum("ij,j->i", self._columns(inputs, odds), self.coefficients))

    def doubt(self, inputs: FloatArray, odds: FloatArray) -> FloatArray:
        """Return the standard deviation of that."""
        columns = self._columns(inputs, odds)
        variance = np.einsum("ij,jk,ik->i", columns, self.covariance, columns)
        return np.sqrt(np.maximum(variance, 0.0))

    def _columns(self, inputs: FloatArray, odds: FloatArray) -> FloatArray:
        scaled = np.clip((inputs - self.mean) / self.scale, -FURTHEST, FURTHEST)
        place = np.clip((odds - self.centre) / self.spread, -FURTHEST, FURTHEST)
        share = expit(self.chosen[0] + self.chosen[1] * odds)
        return np.column_stack([np.ones(len(odds)), share, place, scaled])


def held_out(known: Judged, reviewed: Judged, fold: IntArray) -> FloatArray:
    """Return how the log-odds of rows of a fit move, by corrections that did not see their fold."""
    shift = np.empty(len(known.odds))
    for number in np.unique(fold):
        own = fold == number
        part = Correction.learned(known.take(~own), reviewed)
        shift[own] = part.shift(known.inputs[own], known.odds[own])
    return shift


def _propensity(known: Judged, reviewed: Judged) -> tuple[float, float]:
    """Return how the log-odds of being a reviewed row depend on those of the risk."""
    odds = np.concatenate([known.odds, reviewed.odds])
    if not len(known.odds) or np.ptp(odds) <= TINY:
        return 0.0, 0.0
    is_reviewed = np.arange(len(odds)) >= len(known.odds)
    with one_blas_thread():
        line = LogisticRegression(solver="newton-cholesky").fit(odds[:, None], is_reviewed)
    return float(line.intercept_[0]), float(line.coef_[0, 0])


def _likeliest(
    columns: FloatArray,
    odds: FloatArray,
    wrong: FloatArray,
    weight: FloatArray,
    informative: int,
) -> tuple[FloatArray, FloatArray]:
    """Return coefficients and covariance under the belief that makes the labels likeliest.

    A correction that marks do not bear out would only add noise to the ranking. The likelihood of
    a belief is that of the labels over all coefficients it thinks possible (Laplace's integral).

    Parameters
    ----------
    informative : how many inputs vary
    """
    found, evidence, best = np.zeros(columns.shape[1]), -np.inf, None
    for surer in SURER[::-1]:
        precision = np.full(columns.shape[1], informative * LEVEL_PRECISION * surer)
        precision[:LEVEL_COLUMNS] = LEVEL_PRECISION
        found, covariance, loss = _solved(columns, odds, wrong, weight, precision, found)
        _, volume = np.linalg.slogdet(covariance)
        likely = 0.5 * float(volume + np.log(precision).sum()) - loss
        if best is None or likely > evidence:
            evidence, best = likely, (found, covariance)
    assert best is not None
    return best


def _solved(
    columns: FloatArray,
    odds: FloatArray,
    wrong: FloatArray,
    weight: FloatArray,
    precision: FloatArray,
    start: FloatArray,
) -> tuple[FloatArray, FloatArray, float]:
    """Return the coefficients of a ridge regression with an offset, their covariance, the loss."""

    def loss(found: FloatArray) -> float:
        z = odds + columns @ found
        return float(weight @ (np.logaddexp(0.0, z) - wrong * z) + 0.5 * precision @ found**2)

    found = start
    value = loss(found)
    for _ in range(STEPS):
        p = expit(odds + columns @ found)
        gradient = columns.T @ (weight * (p - wrong)) + precision * found
        curvature = (columns * (weight * p * (1.0 - p))[:, None]).T @ columns + np.diag(precision)
        step = np.linalg.solve(curvature, gradient)
        length = 1.0
        # The loss is convex: some part of a Newton step always lowers it.
        while loss(found - length * step) > value and length > ENOUGH:
            length /= 2.0
        found = found - length * step
        before, value = value, loss(found)
        if before - value <= ENOUGH * max(abs(before), 1.0):
            break
    return found, np.asarray(np.linalg.inv(curvature)), value
