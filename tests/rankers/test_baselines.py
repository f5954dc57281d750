from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import kstest
from sklearn.isotonic import isotonic_regression

from falcon_discover import metrics
from falcon_discover.calibration import calibration_weights, training_weights
from falcon_discover.calibration.calibrators import CALIBRATORS, Beta, Isotonic, Platt, Temperature
from falcon_discover.rankers import GatedSignal
from falcon_discover.rankers.failure import failure_scores
from falcon_discover.rankers.fixed import RandomRanker
from falcon_discover.rankers.trust import TrustScore
from falcon_discover.signals.certainty import certainty_signals
from falcon_discover.signals.state import State


@pytest.fixture
def overconfident():
    """Scores whose log-odds are twice too large."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=4000)
    y = (rng.uniform(size=4000) < expit(truth)).astype(int)
    return expit(2 * truth), y


def test_temperature_finds_the_scale(overconfident):
    p, y = overconfident
    assert Temperature().fit(p, y).temperature_ == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("name", CALIBRATORS)
def test_calibrators_lower_the_log_loss_and_keep_the_order(overconfident, name):
    p, y = overconfident
    better = CALIBRATORS[name]().fit(p, y).predict(p)
    assert metrics.nll(y, better) < metrics.nll(y, p)
    assert (np.diff(better[np.argsort(p)]) >= -1e-12).all()
    assert ((better >= 0) & (better <= 1)).all()


def test_temperature_is_a_minimum_of_the_weighted_loss(overconfident):
    p, y = overconfident
    weight = np.linspace(0.5, 2, len(y))

    def loss(t):
        q = expit(logit(p) / t)
        return -(weight * np.log(np.where(y, q, 1 - q))).sum()

    found = Temperature().fit(p, y, weight).temperature_
    assert loss(found) <= min(loss(found * 1.001), loss(found * 0.999))


def test_platt_solves_the_penalised_problem(overconfident):
    p, y = overconfident
    z = logit(np.clip(p, 1e-6, 1 - 1e-6))

    def loss(b):
        return np.logaddexp(0, -(2 * y - 1) * (b[0] * z + b[1])).sum() + 0.5 * b[0] ** 2

    best = minimize(loss, [1.0, 0.0], tol=1e-12).x
    np.testing.assert_allclose(
        Platt().fit(p, y).predict(p), expit(best[0] * z + best[1]), atol=1e-5
    )


def test_beta_solves_the_constrained_problem():
    rng = np.random.default_rng(1)
    p = rng.beta(0.5, 0.8, 3000).clip(1e-4, 1 - 1e-4)
    y = (rng.uniform(size=3000) < p**2 / (p**2 + (1 - p) ** 0.3)).astype(int)
    a, b = np.log(p), -np.log1p(-p)

    def loss(c):
        return np.logaddexp(0, -(2 * y - 1) * (c[0] * a + c[1] * b + c[2])).sum()

    best = minimize(loss, [1.0, 1.0, 0.0], bounds=[(0, None), (0, None), (None, None)]).x
    expected = expit(best[0] * a + best[1] * b + best[2])
    np.testing.assert_allclose(Beta().fit(p, y).predict(p), expected, atol=2e-3)


def test_isotonic_pools_adjacent_violators():
    p, y = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 1, 0, 1])
    # By hand: the violating pair in the middle is averaged.
    np.testing.assert_allclose(Isotonic().fit(p, y).predict(p), [0, 0.5, 0.5, 1])
    np.testing.assert_allclose(isotonic_regression(y), [0, 0.5, 0.5, 1])


def test_trustscore_equals_brute_force():
    rng = np.random.default_rng(0)
    reference = rng.integers(0, 4, (80, 3)).astype(np.float32)
    labels = rng.integers(0, 2, 80)
    rows = rng.normal(size=(25, 3)).astype(np.float32)
    decision = rng.uniform(size=25) < 0.5
    expected = []
    for row, positive in zip(rows, decision, strict=True):
        gaps = np.sqrt(((reference.astype(float) - row) ** 2).sum(axis=1))
        own, other = gaps[labels == positive].min(), gaps[labels != positive].min()
        expected.append(other / own)
    np.testing.assert_allclose(TrustScore(reference, labels).score(rows, decision), expected, 1e-5)


def test_failure_predictor_of_a_single_outcome_is_constant():
    psi = np.random.default_rng(0).normal(size=(20, 10))
    assert (failure_scores(psi, np.zeros(20, bool), psi) == 0).all()


def test_failure_predictor_learns_which_rows_are_wrong():
    rng = np.random.default_rng(0)
    psi = rng.normal(size=(500, 10))
    wrong = psi[:, 3] + rng.normal(0, 0.5, 500) > 1
    assert metrics.fc_auroc(wrong[250:], failure_scores(psi[:250], wrong[:250], psi[250:])) > 0.9


def test_calibration_weight_by_hand():
    p = np.array([0.9])
    signals = pd.DataFrame(certainty_signals(p)).assign(
        support=0.5, label_agreement=0.8, mean_drift=0.1, label_consistency=0.75
    )
    state = State(p, signals, pd.DataFrame(index=[0]))
    # 1.2*.9 + 1.0*.5 + .9*.2 + 1.2*.1 + 1.0*.25 + 2.0
    assert calibration_weights(state, [True])[0] == pytest.approx(4.13)
    assert calibration_weights(state, [False])[0] == pytest.approx(2.13)


def test_training_weights_stay_in_their_range():
    weights = np.linspace(0, 10, 101)
    clipped = training_weights(weights)
    assert clipped.min() == 0.5
    assert clipped.max() == pytest.approx(9.8)  # the 98th percentile of 0..10


def test_a_gated_signal_reviews_its_smallest_values_first():
    p = np.array([0.95, 0.97, 0.92, 0.6])
    trust = pd.DataFrame({"log_trust_1": [1.0, -2.0, 0.5, -9.0]})
    state = replace(State.from_scores(p), evidence=trust)
    score = GatedSignal().fit(state, np.zeros(4, bool), 0.9).score(state)
    # The last row is below the threshold.
    assert np.argsort(-score).tolist() == [1, 2, 0, 3]


def test_a_random_order_is_one_of_uniform_numbers_and_of_its_seed():
    state = State.from_scores(np.linspace(0.01, 0.99, 2_000))
    score = RandomRanker().fit(state, np.zeros(2_000, bool), 0.9).score(state)
    # Kolmogorov's bound at a chance of one in a thousand.
    assert kstest(score, "uniform").statistic < 1.95 / np.sqrt(2_000)
    again = RandomRanker(random_state=1).fit(state, np.zeros(2_000, bool), 0.9).score(state)
    assert not np.array_equal(score, again)
