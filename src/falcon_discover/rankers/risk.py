"""The risk of a confident error: how held-out log-odds become a probability."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtri

from falcon_discover.metrics.design import Design, summed
from falcon_discover.rankers.refit import NO_GAIN, RefitGain
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.settings import PAPER

# Strength of the belief that cross-fitted log-odds are calibrated as they are, and that they say
# more than the model's own doubt.
SLOPE_PRIOR = 10.0
GATE_PRIOR = 1.0
# Confident errors at which the gate is believed to deserve half of the weight.
FEW_EVENTS = 5
# One row stands for those not seen. It has the rate of the others; where no error was seen, only
# this row says that there may be one.
NONE_SEEN = 0.5
# Of the level and of the two slopes.
BOUNDS = [(-20.0, 20.0), (0.05, 5.0), (0.0, 5.0)]


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

    def after(self, gain: RefitGain) -> Calibration:
        """Return the calibration for rows that a refitted model judges."""
        if gain == NO_GAIN:
            return self
        spread = list(self.spread)
        if spread:
            spread[0] += gain.error**2
        return replace(self, shift=self.shift - gain.shift, spread=tuple(spread))

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


def calibrate(
    odds: FloatArray,
    own: FloatArray,
    wrong: BoolArray,
    design: Design | None = None,
    *,
    seen: bool | None = None,
) -> Calibration:
    """Return the calibration of held-out log-odds; with few events it leans on the gate.

    Parameters
    ----------
    odds : learned log-odds of rows that were not learned from
    own : the model's own doubt about them
    wrong : which of them are errors
    design : their weights and groups; how sure the calibration is depends on the groups
    seen : whether any error was seen, if these are some of the rows only

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> own, more = rng.normal(-3, 1, 20_000), rng.normal(size=20_000)
    >>> wrong = rng.uniform(size=20_000) < 1 / (1 + np.exp(-own))
    >>> found = calibrate(own + more, own, wrong)  # the learned part only adds noise
    >>> round(found.slope, 1), round(found.gate, 1)
    (0.1, 1.0)
    """
    seen = bool(wrong.any()) if seen is None else seen
    if design is not None:
        return _drawn(odds, own, wrong, design, seen=seen)
    target = wrong.astype(np.float64)
    # Half an error and half a non-error keep the rate off 0 and 1.
    rate = (target.sum() + 0.5) / (len(target) + 1.0)
    unseen = rate if seen else NONE_SEEN
    centre, own_centre = float(odds.mean()), float(own.mean())
    learned, doubted = odds - centre, own - own_centre
    leaning = 1.0 / (1.0 + target.sum() / FEW_EVENTS)

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        level, slope, gate = theta
        z = level + slope * learned + gate * doubted
        apart = slope + gate - 1.0
        value = (
            np.logaddexp(0.0, z).sum() - (target * z).sum()
            + np.logaddexp(0.0, level) - unseen * level
            + 0.5 * (SLOPE_PRIOR * apart**2 + GATE_PRIOR * (gate - leaning) ** 2)
        )  # fmt: skip
        left = expit(z) - target
        gradient = [
            left.sum() + expit(level) - unseen,
            left @ learned + SLOPE_PRIOR * apart,
            left @ doubted + SLOPE_PRIOR * apart + GATE_PRIOR * (gate - leaning),
        ]
        return float(value), np.array(gradient)

    found = minimize(
        loss, [logit(rate), 1.0 - leaning, leaning], jac=True, method="L-BFGS-B", bounds=BOUNDS
    )
    level, slope, gate = (float(v) for v in found.x)
    shift = level - slope * centre - gate * own_centre
    return Calibration(shift, slope, gate, _spread(found.x, learned, doubted, centre, own_centre))


def _drawn(
    odds: FloatArray, own: FloatArray, wrong: BoolArray, design: Design, *, seen: bool
) -> Calibration:
    """Return the calibration of rows that have weights or come in groups."""
    target, weight = wrong.astype(np.float64), design.weight
    events = float(weight @ target)
    rate = (events + 0.5) / (float(weight.sum()) + 1.0)
    unseen = rate if seen else NONE_SEEN
    centre, own_centre = design.mean(odds), design.mean(own)
    columns = np.column_stack([np.ones(len(odds)), odds - centre, own - own_centre])
    leaning = 1.0 / (1.0 + events / FEW_EVENTS)

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        level, slope, gate = theta
        z = columns @ theta
        apart = slope + gate - 1.0
        value = (
            weight @ (np.logaddexp(0.0, z) - target * z)
            + np.logaddexp(0.0, level) - unseen * level
            + 0.5 * (SLOPE_PRIOR * apart**2 + GATE_PRIOR * (gate - leaning) ** 2)
        )  # fmt: skip
        gradient = (weight * (expit(z) - target)) @ columns
        gradient += [
            expit(level) - unseen,
            SLOPE_PRIOR * apart,
            SLOPE_PRIOR * apart + GATE_PRIOR * (gate - leaning),
        ]
        return float(value), np.asarray(gradient)

    found = minimize(
        loss, [logit(rate), 1.0 - leaning, leaning], jac=True, method="L-BFGS-B", bounds=BOUNDS
    )
    level, slope, gate = (float(v) for v in found.x)
    shift = level - slope * centre - gate * own_centre
    return Calibration(
        shift, slope, gate, _robust_spread(found.x, columns, target, design, centre, own_centre)
    )


def _robust_spread(
    theta: FloatArray,
    columns: FloatArray,
    target: FloatArray,
    design: Design,
    centre: float,
    own_centre: float,
) -> tuple[float, ...]:
    """Return the covariance of shift and slopes by the groups' own spread (a sandwich)."""
    p = expit(columns @ theta)
    level = expit(theta[0])
    prior = np.zeros((3, 3))
    prior[0, 0] = level * (1 - level)
    prior[1:, 1:] += SLOPE_PRIOR
    prior[2, 2] += GATE_PRIOR
    curvature = (columns * (design.weight * p * (1 - p))[:, None]).T @ columns + prior
    pulls = columns * (design.weight * (target - p))[:, None]
    sums = np.column_stack([summed(design.unit, column) for column in pulls.T])
    # A belief counts as so much of the evidence: without it few groups would seem to know all.
    middle = sums.T @ sums + prior
    inverse = np.linalg.inv(curvature)
    to_shift = np.array([[1.0, -centre, -own_centre], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    covariance = to_shift @ inverse @ middle @ inverse @ to_shift.T
    return tuple(float(v) for v in covariance.ravel())


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
    whole: Calibration,
    odds: FloatArray,
    own: FloatArray,
    wrong: BoolArray,
    fold: IntArray,
    design: Design | None = None,
) -> FloatArray:
    """Return held-out risks of rows, with slopes that were not fitted on their fold.

    The level is that of all rows: the level without a fold is the lower, the more errors it holds.

    Parameters
    ----------
    whole : the calibration on all of these rows
    """
    centre, own_centre = float(odds.mean()), float(own.mean())
    if design is not None:
        centre, own_centre = design.mean(odds), design.mean(own)
    level = whole.shift + whole.slope * centre + whole.gate * own_centre
    risk = np.empty(len(odds))
    for number in np.unique(fold):
        inside = fold == number
        part = whole
        rest = None if design is None else design.take(~inside)
        # Rows of weight 0 teach nothing.
        if not inside.all() and (rest is None or rest.total()):
            seen = bool(wrong.any())
            part = calibrate(odds[~inside], own[~inside], wrong[~inside], rest, seen=seen)
        shift = level - part.slope * centre - part.gate * own_centre
        risk[inside] = Calibration(shift, part.slope, part.gate).risk(odds[inside], own[inside])
    return risk
