"""Recalibration: by the score alone, weighted, and by the evidence."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from falcon_discover import FalconDiscover, datasets, discover, metrics
from falcon_discover.calibration import CalibratedModel, Discrepancy
from falcon_discover.calibration.calibrators import CALIBRATORS
from falcon_discover.calibration.discrepancy import affordable_caution
from falcon_discover.calibration.weights import calibration_weights, training_weights
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.rankers.inputs import Inputs, for_the_class
from falcon_discover.signals.state import State

KNOWN = slice(0, 3_000)
NEW = slice(3_000, 6_000)


@pytest.fixture(scope="module")
def planted():
    return datasets.make_planted(6_000, shape="categorical", mass=0.12, random_state=0)


@pytest.fixture(scope="module")
def falcon(planted):
    model = FrozenEstimator(planted.model)
    return FalconDiscover(model, random_state=0).fit(planted.X[KNOWN], planted.y[KNOWN])


@pytest.fixture(scope="module")
def discrepancy(falcon):
    return falcon.calibrated("discrepancy")


def test_confidence_drops_where_the_evidence_does_not_bear_it_out(falcon, discrepancy, planted):
    X, y = planted.X[NEW], planted.y[NEW]
    before = falcon.predict_proba(X)[:, 1]
    platt = falcon.calibrated("platt").predict_proba(X)[:, 1]
    after = discrepancy.predict_proba(X)[:, 1]
    inside = planted.region[NEW]
    assert metrics.confidence(after)[inside].mean() < metrics.confidence(platt)[inside].mean() - 0.1
    assert metrics.nll(y, after) < metrics.nll(y, platt) < metrics.nll(y, before)
    assert metrics.brier(y, after) < metrics.brier(y, before)
    sure = int((metrics.confidence(before) >= 0.9).sum())
    errors = [metrics.errors_among_surest(y, p, sure) for p in (before, platt, after)]
    assert errors[2] < 0.8 * min(errors[:2])


def test_the_base_model_stays_as_it_is(falcon, discrepancy, planted):
    X = planted.X[NEW]
    np.testing.assert_allclose(falcon.predict_proba(X), planted.model.predict_proba(X))
    assert discrepancy.falcon is falcon


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", [*CALIBRATORS, "discrepancy"])
def test_every_method_gives_probabilities(falcon, planted, method, weighted):
    model = falcon.calibrated(method, weighted=weighted)
    assert isinstance(model, CalibratedModel)
    p = model.predict_proba(planted.X[NEW])
    assert p.shape == (3_000, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_array_equal(model.predict(planted.X[NEW]), (p[:, 1] >= 0.5).astype(int))
    assert model.score(planted.X[NEW], planted.y[NEW]) > 0.7


def test_weighted_platt_is_a_weighted_logistic_regression(falcon):
    rows = falcon.examine().audit.training.oof
    weights = training_weights(calibration_weights(rows.state, rows.events(0.9)))
    by_hand = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-10)
    odds = clipped_logit(rows.state.p)[:, None]
    by_hand.fit(odds, rows.codes, weights)
    model = falcon.calibrated("platt", weighted=True).calibrator_
    np.testing.assert_allclose(model.predict(rows.state), by_hand.predict_proba(odds)[:, 1])


def test_weights_of_the_estimator_are_those_of_its_rows(falcon, planted):
    own = falcon.calibration_weights()
    rows = falcon.examine().audit.training.oof
    np.testing.assert_array_equal(own, calibration_weights(rows.state, rows.events(0.9)))
    new = falcon.calibration_weights(planted.X[NEW], planted.y[NEW])
    events = metrics.false_confidence(planted.y[NEW], planted.proba[NEW], 0.9)
    assert new[events].min() > new[~events].mean()


def test_a_higher_score_never_lowers_the_result_for_a_fixed_state(falcon, discrepancy, planted):
    """Own log-odds vary over both sides of the threshold; the evidence about the row stays."""
    state = falcon.examine(planted.X[NEW][:40]).state
    calibrator = discrepancy.calibrator_
    inputs = for_the_class(state)
    grid = np.linspace(-8, 8, 33)
    odds = []
    for value in grid:
        signals = inputs.signals.copy()
        signals[:, 0] = value
        own = calibrator._evidence.log_odds_of(Inputs(signals, inputs.features))
        plain = clipped_logit(calibrator._plain.predict(np.full(len(state), expit(value))))
        odds.append((1 - calibrator.share_) * plain + calibrator.share_ * own)
    assert (np.diff(odds, axis=0) >= -1e-9).all()
    assert (np.diff(odds, axis=0).sum(axis=0) > 1).all()


def test_evidence_speaks_for_the_class_whatever_is_predicted(falcon, planted):
    state = falcon.examine(planted.X[NEW][:200]).state
    mirrored = State(
        1.0 - state.p,
        state.signals,
        state.evidence,
        features=state.features,
    )
    one, other = for_the_class(state), for_the_class(mirrored)
    np.testing.assert_allclose(other.signals, -one.signals)


def test_without_anything_to_learn_it_stays_close_to_platt():
    rng = np.random.default_rng(0)
    n = 4_000
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    p = expit(3 * rng.normal(size=n))
    y = (rng.uniform(size=n) < p).astype(int)
    found = discover(X[:2_000], y[:2_000], p[:2_000], random_state=0)
    loss = {}
    for method in ("platt", "discrepancy"):
        calibrator = found.calibrator(method)
        later = discover(X[2_000:], y[2_000:], p[2_000:], random_state=0).state
        loss[method] = metrics.nll(y[2_000:], calibrator.predict(later))
    assert loss["discrepancy"] < loss["platt"] + 0.01


def test_caution_lowers_confidence_and_changes_no_decision(falcon, planted):
    X = planted.X[NEW][:500]
    plain, careful = (
        falcon.calibrated(caution=caution).predict_proba(X)[:, 1] for caution in (0.0, 0.2)
    )
    assert (metrics.confidence(careful) <= metrics.confidence(plain)).all()
    np.testing.assert_array_equal(plain >= 0.5, careful >= 0.5)
    odds = clipped_logit(plain)
    np.testing.assert_allclose(clipped_logit(careful), 0.8 * odds, atol=1e-6)


def test_caution_spends_at_most_two_thirds_of_the_gain():
    rng = np.random.default_rng(0)
    odds = 2 * rng.normal(size=5_000)
    y = rng.uniform(size=5_000) < expit(odds)
    before, plain = expit(1.5 * odds), expit(1.3 * odds)
    best, now = metrics.nll(y, plain), metrics.nll(y, expit(odds))
    caution = affordable_caution(y, odds, before, [plain])
    after = expit((1 - caution) * odds)
    assert 0 < caution < affordable_caution(y, odds, before)
    assert metrics.nll(y, after) <= now + 2 / 3 * (best - now)
    assert metrics.brier(y, after) <= metrics.brier(y, before)


def test_few_labels_of_one_class_are_enough_to_run():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=60)
    y = np.zeros(60, dtype=int)
    y[:3] = 1
    state = State.from_scores(p)
    assert np.isfinite(Discrepancy().fit(state, y).predict(state)).all()


def test_string_labels_keep_their_order(planted):
    y = np.where(planted.y[KNOWN] == 1, "yes", "no")
    X = planted.X[KNOWN].select_dtypes("number").fillna(0.0)
    falcon = FalconDiscover(LogisticRegression(), cv=3, tau=0.8, random_state=0).fit(X, y)
    model = falcon.calibrated("temperature")
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X)) <= {"no", "yes"}
    assert model.score(X, y) > 0.6


def test_what_cannot_be_done_is_said(falcon, planted):
    with pytest.raises(InputError, match="there is no calibration 'magic'"):
        falcon.calibrated("magic")
    with pytest.raises(InputError, match="caution is 2"):
        falcon.calibrated(caution=2)
    found = discover(planted.X[:400], planted.y[:400], planted.proba[:400], random_state=0)
    with pytest.raises(InputError, match="need a model"):
        found.calibrator("platt", weighted=True)
    with pytest.raises(InputError, match="need a model"):
        found.calibration_weights()
    with pytest.raises(InputError, match="this needs labels"):
        falcon.examine(planted.X[NEW][:5]).calibration_weights()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=40))
def test_the_cumulative_error_is_the_largest_partial_sum(rows):
    y, p = (np.array(column) for column in zip(*rows, strict=True))
    sure, right = np.maximum(p, 1 - p), (p >= 0.5) == y
    worst = max(abs((right - sure)[sure <= at].sum()) for at in sure) / len(p)
    assert metrics.cumulative_calibration_error(y, p) == pytest.approx(worst, abs=1e-12)


def test_conflict_is_judged_and_drawn(falcon, planted):
    from falcon_discover.plots import conflict_map, weight_profile

    found = falcon.examine(planted.X[NEW], planted.y[NEW])
    conflict = found.conflict()
    assert conflict.regime in ("strong", "mixed", "boundary")
    assert conflict.regime in repr(conflict)
    frame = conflict.frame()
    assert (frame["low"] <= frame["gamma"]).all()
    axes = conflict_map(conflict)
    assert axes.get_xlabel() == "support at most (weak evidence to the left)"
    events = metrics.false_confidence(planted.y[NEW], planted.proba[NEW], 0.9)
    axes = weight_profile(found.calibration_weights(), events)
    assert axes.get_legend() is not None
