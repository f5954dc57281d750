"""What a refit gains, in worlds where it is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TimeSeriesSplit

from falcon_discover import FalconDiscover, datasets, load
from falcon_discover.rankers.refit import (
    LUCK_OF_A_FIT,
    MIN_ERRORS,
    NO_GAIN,
    USUAL_GAIN,
    RefitGain,
    _Judged,
    _step,
    refit_gain,
)
from falcon_discover.signals.state import State

TAU, FOLDS = 0.9, 5
COLUMNS = ["signal_a", "signal_b", "load"]
# The variance of a model's log-odds around the truth, where it has all rows.
NOISE = 1.2


def scores(rng, truth, share):
    """Return the scores of a model that had a share of the rows: the fewer, the noisier."""
    return expit(truth + rng.normal(0, np.sqrt(NOISE / share), len(truth)))


def world(seed, n=20_000, *, group=None, weight=None):
    """Return the rows of a fit, their labels, and the scores of models without two parts."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 3, n)
    codes = (rng.uniform(size=n) < expit(truth)).astype(int)
    fold = np.arange(n) % FOLDS
    state = replace(
        State.from_scores(scores(rng, truth, 0.8)), fold=fold, group=group, weight=weight
    )
    # The model without folds f and g scores the rows of g as reference rows of f.
    reference = np.stack([scores(rng, truth, 0.6) for _ in range(FOLDS)])
    return state, codes, reference


def true_gain(n=1_000_000):
    """Return how much the log-odds fall from fold models to the refitted one, with many rows."""
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 3, n)
    codes = (rng.uniform(size=n) < expit(truth)).astype(int)
    folds, final = (State.from_scores(scores(rng, truth, share)) for share in (0.8, 1.0))
    rows = np.arange(n)
    known, later = (_Judged.of(state, codes, TAU, rows) for state in (folds, final))
    return _step(known, later, final)[0]


def test_the_gain_of_a_refit_is_found_without_a_new_row():
    gains = [refit_gain(*world(seed), TAU) for seed in range(30)]
    due = true_gain()
    assert due > 0.1
    found = np.array([gain.shift for gain in gains])
    # A part of a large step is doubted, and left out.
    assert 0.6 * due < found.mean() < 1.1 * due
    within = np.abs(found - due) < 1.96 * np.array([gain.error for gain in gains])
    assert within.mean() >= 0.95


def test_models_that_gain_nothing_have_no_shift():
    state, codes, _ = world(0)
    gain = refit_gain(state, codes, np.stack([state.p] * FOLDS), TAU)
    assert abs(gain.shift) < 1e-3


def test_the_error_of_a_step_is_what_it_varies_by_from_sample_to_sample():
    steps, errors = [], []
    # Where many are wrong, every part of the formula counts.
    tau, draws = 0.6, 200
    for seed in range(draws):
        state, codes, reference = world(seed, n=1_500)
        below = _Judged.all_of(state, codes, reference, state.fold, tau)
        own = _Judged.of(state, codes, tau, np.arange(len(state)))
        step, error = _step(below, own, state)
        steps.append(step)
        errors.append(error)
    # The standard deviation of 200 draws is known up to a twentieth.
    assert np.mean(errors) == pytest.approx(np.std(steps), rel=0.1)


def test_rows_that_stand_for_two_say_as_much_as_two_rows_of_a_group():
    state, codes, reference = world(0, n=6_000)
    weighted = replace(state, weight=np.full(6_000, 2.0))
    twice = np.repeat(np.arange(6_000), 2)
    repeated = replace(state.take(twice), fold=state.fold[twice], group=twice)
    one = refit_gain(weighted, codes, reference, TAU)
    other = refit_gain(repeated, codes[twice], reference[:, twice], TAU)
    assert one.shift == pytest.approx(other.shift)
    assert one.error == pytest.approx(other.error)
    alone = refit_gain(replace(repeated, group=None), codes[twice], reference[:, twice], TAU)
    assert alone.error < other.error


def test_few_errors_say_nothing():
    state, codes, reference = world(0, n=60)
    assert refit_gain(state, codes, reference, 0.99) == RefitGain.unknown()
    assert RefitGain.unknown().shift == 0
    assert RefitGain.unknown().error > USUAL_GAIN


def never_wrong(but, n=20_000):
    """Return rows of which so many are wrong, where models of fewer rows err on every other."""
    codes = np.ones(n, dtype=int)
    p = np.where(np.arange(n) < but, 0.05, 0.95)
    state = replace(State.from_scores(p), fold=np.arange(n) % FOLDS)
    below = np.where(np.arange(n) // FOLDS % 2, 0.05, 0.95)
    return state, codes, np.stack([below] * FOLDS)


def test_a_step_that_is_too_large_to_be_one_is_not_believed():
    gain = refit_gain(*never_wrong(but=MIN_ERRORS), TAU)
    assert gain.shift == 0
    assert gain.error == pytest.approx(RefitGain.unknown().error, rel=0.01)
    assert gain != RefitGain.unknown()
    assert refit_gain(*never_wrong(but=MIN_ERRORS - 1), TAU) == RefitGain.unknown()


def test_three_parts_are_enough_and_two_are_not():
    state, codes, reference = world(0)
    thirds = replace(state, fold=np.arange(len(codes)) % 3)
    assert refit_gain(thirds, codes, reference[:3], TAU).shift > 0
    assert refit_gain(thirds, codes, reference[:2], TAU) == RefitGain.unknown()


def test_the_larger_a_step_the_more_of_it_is_doubted():
    state, codes, reference = world(0)
    own = _Judged.of(state, codes, TAU, np.arange(len(state)))
    shares, errors = [], []
    for times in (1.0, 1.1, 1.2):
        p = expit(logit(reference) * times)
        step, _ = _step(_Judged.all_of(state, codes, p, state.fold, TAU), own, state)
        gain = refit_gain(state, codes, p, TAU)
        shares.append(gain.shift / step)
        errors.append(gain.error)
    assert shares == sorted(shares, reverse=True)
    assert errors == sorted(errors)
    assert min(errors) > LUCK_OF_A_FIT


def test_models_that_are_confident_more_often_say_less_of_the_next_step():
    rng = np.random.default_rng(0)
    state, codes, reference = world(0)
    fewer = reference.copy()
    # A tenth of the rows is not confident below; the others are as they were.
    fewer[:, rng.uniform(size=len(codes)) < 0.1] = 0.5
    alike, other = (refit_gain(state, codes, p, TAU) for p in (reference, fewer))
    assert other.error > alike.error


@pytest.fixture(scope="module")
def planted():
    return datasets.make_planted(1_500, random_state=0)


def audited(planted, estimator, **parameters):
    falcon = FalconDiscover(estimator, random_state=0, n_jobs=1, **parameters)
    return falcon.fit(planted.X[COLUMNS], planted.y)


def test_a_refitted_model_has_a_gain_and_its_new_rows_less_risk(planted):
    falcon = audited(planted, LogisticRegression())
    gain = falcon.audit_.training.gain
    assert gain.error > 0
    later = datasets.make_planted(600, random_state=1).X[COLUMNS]
    ranker, state = falcon.ranker_, falcon.audit_.state(falcon.new_rows(later))
    larger = ranker.after_refit(RefitGain(gain.shift + 0.2, gain.error))
    sure = state.eligible(TAU)
    moved = logit(ranker.risk(state)[sure]) - logit(larger.risk(state)[sure])
    assert np.allclose(moved, 0.2)
    assert (larger.score(state)[sure].argsort() == ranker.score(state)[sure].argsort()).all()
    wider = ranker.after_refit(RefitGain(gain.shift, gain.error + 0.5))
    low, high = ranker.risk_interval(state)
    below, above = wider.risk_interval(state)
    assert (below[sure] < low[sure]).all()
    assert (above[sure] > high[sure]).all()


def test_rows_of_the_fit_keep_their_risk(planted):
    ranker = audited(planted, LogisticRegression()).ranker_
    assert (ranker.after_refit(RefitGain(1.0, 1.0)).held_out_risk_ == ranker.held_out_risk_).all()


def test_a_frozen_model_gains_nothing(planted):
    falcon = audited(planted, FrozenEstimator(planted_model(planted)))
    assert falcon.audit_.training.gain == NO_GAIN == RefitGain(shift=0.0, error=0.0)
    assert falcon.ranker_.later is falcon.ranker_.calibration_


def planted_model(planted):
    return LogisticRegression().fit(planted.X[COLUMNS], planted.y)


@pytest.mark.parametrize("cv", [2, TimeSeriesSplit(3)])
def test_without_models_of_one_part_less_the_gain_is_unknown(planted, cv):
    assert audited(planted, LogisticRegression(), cv=cv).audit_.training.gain == RefitGain.unknown()


def test_the_gain_counts_for_what_was_judged_by_fold_models(planted):
    X, y = planted.X[COLUMNS], planted.y
    falcon = FalconDiscover(LogisticRegression(), random_state=0, n_jobs=1)
    falcon.fit(X[:1_000], y[:1_000], X_cal=X[1_000:], y_cal=y[1_000:])
    gain = falcon.audit_.training.gain
    assert falcon.ranker_.gain_ == gain.share(1_000 / 1_500)
    assert falcon.ranker_.gain_.error == pytest.approx(gain.error * 2 / 3)


@pytest.mark.parametrize("ranker", ["auto", "gated_confidence"])
def test_a_saved_audit_keeps_the_gain(planted, tmp_path, ranker):
    falcon = audited(planted, LogisticRegression(), ranker=ranker)
    falcon.save(tmp_path / "audit.falcon", reference="full")
    loaded = load(tmp_path / "audit.falcon")
    assert loaded.audit_.training.gain == falcon.audit_.training.gain != NO_GAIN
    # Where the own ranker estimates no risk, `auto` is learned anew, and is given the gain again.
    later = datasets.make_planted(300, random_state=1).X[COLUMNS]
    one, other = (audit.monitor(later) for audit in (falcon, loaded))
    assert one.errors == other.errors
    assert one.standard_error == other.standard_error
