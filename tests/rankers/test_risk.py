"""How log-odds become a risk: the calibration against brute force.

The loss is written out in shift and slopes and minimised without gradients; its curvature comes
from differences.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from falcon_discover.metrics.design import Design
from falcon_discover.rankers.risk import Calibration, calibrate

STEP = 1e-4


def rows(seed, n):
    """Held-out log-odds, the model's own doubt, and errors that depend on both."""
    rng = np.random.default_rng(seed)
    own = rng.normal(-2, 1, n)
    odds = own + rng.normal(0.5, 1, n)
    return odds, own, rng.uniform(size=n) < expit(0.7 * odds + 0.2 * own)


def loss_of_rows(theta, odds, own, wrong):
    z = theta[0] + theta[1] * odds + theta[2] * own
    return np.logaddexp(0.0, z) - wrong * z


def loss_of_beliefs(theta, odds, own, wrong, weight):
    """One row in the middle of the usual rate, slopes that add up to 1, the gate for few events."""
    shift, slope, gate = theta
    level = shift + np.average(slope * odds + gate * own, weights=weight)
    events = weight @ wrong
    rate = (events + 0.5) / (weight.sum() + 1.0) if wrong.any() else 0.5
    middle = np.logaddexp(0.0, level) - rate * level
    return middle + 5.0 * (slope + gate - 1.0) ** 2 + 0.5 * (gate - 1 / (1 + events / 5)) ** 2


def slopes(f, at):
    """Return the derivative of a function of three numbers, one line for each."""
    return np.array([(f(at + e) - f(at - e)) / (2 * STEP) for e in STEP * np.eye(3)])


def penalised(odds, own, wrong, weight):
    def loss(theta):
        given = weight @ loss_of_rows(theta, odds, own, wrong)
        return given + loss_of_beliefs(theta, odds, own, wrong, weight)

    return loss


def test_a_risk_by_hand():
    # 0.5 + 2 * -1 + 0.25 * 2 = -1, of which the odds are one in e.
    risk = Calibration(0.5, 2.0, 0.25).risk(np.array([-1.0]), np.array([2.0]))
    assert risk == pytest.approx(1 / (1 + np.e))


@pytest.mark.parametrize(("seed", "n"), [(11, 8), (7, 20), (0, 40), (0, 300)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_calibration_is_where_the_penalised_loss_is_least(seed, n, weighted):
    # Of the eight rows none is wrong: only a belief says that a row may be.
    odds, own, wrong = rows(seed, n)
    weight = np.random.default_rng(1).uniform(0.5, 3, n) if weighted else np.ones(n)
    found = calibrate(odds, own, wrong, Design.of(n, weight, None) if weighted else None)
    best = minimize(
        penalised(odds, own, wrong, weight), [0.0, 0.5, 0.5], method="Nelder-Mead", tol=1e-10,
        bounds=[(-50, 50), (0.05, 5), (0, 5)],
    ).x  # fmt: skip
    assert (found.shift, found.slope, found.gate) == pytest.approx(best, abs=5e-4)


def test_how_sure_it_is_follows_from_the_curvature_of_the_loss():
    odds, own, wrong = rows(0, 60)
    found = calibrate(odds, own, wrong)
    at = np.array([found.shift, found.slope, found.gate])
    loss = penalised(odds, own, wrong, np.ones(60))
    curvature = slopes(lambda theta: slopes(loss, theta), at)
    expected = np.linalg.inv(curvature)
    np.testing.assert_allclose(np.reshape(found.spread, (3, 3)), expected, rtol=1e-3)


def test_how_sure_it_is_of_groups_is_a_sandwich():
    odds, own, wrong = rows(0, 60)
    weight, group = np.random.default_rng(1).uniform(0.5, 3, 60), np.arange(60) // 2
    found = calibrate(odds, own, wrong, Design.of(60, weight, group))
    at = np.array([found.shift, found.slope, found.gate])

    def beliefs(theta):
        return loss_of_beliefs(theta, odds, own, wrong, weight)

    def of_groups(theta):
        return np.bincount(group, weight * loss_of_rows(theta, odds, own, wrong))

    pulls = slopes(of_groups, at)
    believed = slopes(lambda theta: slopes(beliefs, theta), at)
    curvature = slopes(lambda theta: slopes(lambda t: of_groups(t).sum(), theta), at) + believed
    inverse = np.linalg.inv(curvature)
    expected = inverse @ (pulls @ pulls.T + believed) @ inverse
    np.testing.assert_allclose(np.reshape(found.spread, (3, 3)), expected, rtol=1e-3)
