"""How many labels are wrong, told from confident predictions that their labels contradict.

A wrong label hits a row whatever supports its prediction; an error of the model is the rarer, the
more supports it. So a label contradicts a prediction with the probability `noise + (1 - 2 noise) *
risk`, where the risk falls with the evidence and the noise does not: what is left where the risk
has fallen to nothing is noise. The risk at hand was learned from such labels, so there is noise in
it, which is taken out for every rate that is tried. The rate is estimated together with the level
and the slope of the risk, and the probability that a contradicting label is wrong follows from
Bayes' rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtr

from falcon_discover.metrics.design import kish
from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER

# Rates of wrong labels that are weighed against each other. They lie closer together near 0.
MAX_RATE = 0.3
RATES = MAX_RATE * np.linspace(0.0, 1.0, 41) ** 2
# What is believed about the rate before a row is seen, on average: what Northcutt, Athalye and
# Mueller (2021) found in ten well-known test sets.
USUAL_RATE = 0.033
# Belief that the risk is calibrated as it is: of its level and of its slope, in log-odds.
LEVEL_SPREAD = 3.0
SLOPE_SPREAD = 1.0
# How sharply the risk ends at the noise in it, as a share of the noise: it is an estimate, and may
# be lower.
SOFT = 0.5
# Beyond so many rows neighbours in the order of the risk are taken together.
MAX_POINTS = 4_000


@dataclass(frozen=True, eq=False)
class NoiseEstimate:
    """What rates of wrong labels are plausible, and what each means for each row.

    Attributes
    ----------
    mass : the probability of each of `RATES`
    by_rate : rates x contradicted rows: the probability that the label is wrong, were that the rate
    weight : how many rows each contradicted row stands for
    effect : by how much sums vary more than those of independent rows
    """

    mass: FloatArray
    by_rate: FloatArray
    weight: FloatArray
    effect: float = 1.0

    @property
    def doubt(self) -> FloatArray:
        """The probability that each contradicting label is wrong."""
        return np.asarray(self.mass @ self.by_rate)

    @property
    def rate(self) -> float:
        """The expected rate of wrong labels."""
        return float(self.mass @ RATES)

    def rate_interval(self, level: float = PAPER.interval_level) -> tuple[float, float]:
        """Return between which rates the true one lies."""
        reached = np.cumsum(self.mass)
        low, high = np.interp([(1 - level) / 2, (1 + level) / 2], reached, RATES)
        return float(low), float(high)

    @property
    def expected(self) -> float:
        """How many of the contradicting labels are expected to be wrong."""
        return float(self.doubt @ self.weight)

    def expected_interval(self, level: float = PAPER.interval_level) -> tuple[float, float]:
        """Return between which numbers of wrong labels the true one lies."""
        total = float(self.weight.sum())
        if not total:
            return 0.0, 0.0
        mean = self.by_rate @ self.weight
        variance = self.effect * (self.by_rate * (1 - self.by_rate)) @ self.weight**2
        spread = np.sqrt(variance) + 1e-9
        counts = np.linspace(0.0, total, 2_001)
        reached = self.mass @ ndtr((counts[None] - mean[:, None]) / spread[:, None])
        low, high = np.interp([(1 - level) / 2, (1 + level) / 2], reached, counts)
        # Labels come in whole numbers.
        return float(np.floor(low)), float(min(np.ceil(high), total))


def estimate_noise(
    odds: FloatArray,
    wrong: BoolArray,
    *,
    weight: FloatArray | None = None,
    effect: float = 1.0,
    likely: FloatArray | None = None,
    n_classes: int = 2,
) -> NoiseEstimate:
    """Return how many labels of confident predictions are wrong, and the doubt about each.

    Parameters
    ----------
    odds : log-odds of the risk of each confident prediction that its label contradicts it
    wrong : which of them their labels contradict
    weight : how many rows each stands for
    effect : by how much sums vary more than those of independent rows
    likely : of each contradicted row, how much likelier its label is if the model errs than if
        the label is a slip to any other class; 1 with two classes
    n_classes : among which wrong labels are spread

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(-5, 1.5, 8_000)
    >>> slip = rng.uniform(size=8_000) < 0.02
    >>> wrong = slip ^ (rng.uniform(size=8_000) < expit(odds))
    >>> found = estimate_noise(odds, wrong)
    >>> low, high = found.expected_interval()
    >>> bool(low < (slip & wrong).sum() < high)
    True
    """
    counts = np.ones(len(odds)) if weight is None else weight
    # Where none of the rows counts, they are all that is known of labels.
    used = counts if counts.any() else np.ones(len(odds))
    share = 1.0 / max(n_classes - 1, 1)
    ratio = np.ones(int(wrong.sum())) if likely is None else likely
    points, hits, rows = _grouped(odds, wrong, used)
    # Rows that stand for several, or depend on each other, say no more than fewer would.
    each = effect * kish(used[wrong])
    doubts, losses = [], []
    for rate in RATES:
        clean = without_noise(points, rate, share)
        centre = float(clean @ rows / rows.sum())
        theta, loss = _fitted(clean - centre, hits / each, rows / each, rate, share, centre)
        own = theta[0] + theta[1] * (without_noise(odds[wrong], rate, share) - centre)
        doubts.append(_doubt(own, rate, ratio))
        losses.append(loss)
    # The rates are not equally far apart.
    apart = np.sqrt(RATES)
    logs = -np.array(losses) - RATES / USUAL_RATE
    mass = np.exp(logs - logs.max()) * np.maximum(apart, apart[1] / 4)
    return NoiseEstimate(mass / mass.sum(), np.stack(doubts), counts[wrong], effect)


def without_noise(odds: FloatArray, rate: float, share: float = 1.0) -> FloatArray:
    """Return log-odds of the model's own errors, where labels of such a rate are wrong.

    Parameters
    ----------
    odds : log-odds of a risk that was learned from such labels
    share : of the wrong labels that hit any one other class

    Examples
    --------
    >>> risk = np.array([0.02, 0.5])
    >>> expit(without_noise(np.log(risk / (1 - risk)), 0.02)).round(3)
    array([0.005, 0.5  ])
    """
    above = expit(odds) - rate
    floor = SOFT * rate
    return clipped_logit(0.5 * (above + np.sqrt(above**2 + floor**2)) / (1 - rate - rate * share))


def _doubt(odds: FloatArray, rate: float, likely: FloatArray) -> FloatArray:
    """Return the probability that contradicting labels are wrong, were this the rate."""
    risk = expit(odds)
    slipped = rate * (1.0 - risk)
    erred = (1.0 - rate) * risk * likely
    return np.asarray(slipped / np.maximum(slipped + erred, 1e-300))


def _grouped(
    odds: FloatArray, wrong: BoolArray, counts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log-odds with how many rows, and how many contradicted ones, have about these."""
    # All that matters decides the order, so that the rows' own order does not.
    order = np.lexsort((counts, wrong, odds))
    parts = np.array_split(order, min(len(order), MAX_POINTS))
    points = np.array([odds[part].mean() for part in parts])
    rows = np.array([counts[part].sum() for part in parts])
    hits = np.array([counts[part] @ wrong[part] for part in parts])
    return points, hits, rows


def _fitted(
    points: FloatArray,
    hits: FloatArray,
    rows: FloatArray,
    rate: float,
    share: float,
    level: float,
) -> tuple[FloatArray, float]:
    """Return level and slope of the risk, were this the rate of wrong labels, and their loss."""
    left = 1.0 - rate - rate * share

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        risk = expit(theta[0] + theta[1] * points)
        p = np.clip(rate + left * risk, 1e-12, 1 - 1e-12)
        value = -(hits @ np.log(p) + (rows - hits) @ np.log1p(-p))
        pull = (rows * p - hits) / (p * (1 - p)) * left * risk * (1 - risk)
        off = np.array([(theta[0] - level) / LEVEL_SPREAD, (theta[1] - 1.0) / SLOPE_SPREAD])
        spread = np.array([LEVEL_SPREAD, SLOPE_SPREAD])
        return (
            float(value + 0.5 * off @ off),
            np.array([pull.sum(), pull @ points]) + off / spread,
        )

    start = np.array([level, 1.0])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(-20.0, 20.0), (0.05, 6.0)])
    return found.x, float(found.fun)
