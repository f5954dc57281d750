"""The gated ranker: what it learns, when it falls back, what its number means."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression

from falcon_discover import FalconDiscover, datasets, discover, metrics
from falcon_discover.exceptions import DataWarning, InputError
from falcon_discover.metrics.intervals import auroc_difference, share_interval
from falcon_discover.rankers import GatedRisk, GatedSignal, make
from falcon_discover.rankers.inputs import signal_columns
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.rankers.trust import TrustScore
from falcon_discover.signals.catalogue import FAMILIES, OPINIONS
from falcon_discover.signals.extended import opinion_signals, trust_signals
from falcon_discover.signals.neighbours.index import LabelledIndex, NeighbourIndex
from falcon_discover.signals.opinions import Opinions
from falcon_discover.signals.state import State

TAU = 0.90


@pytest.fixture(scope="module")
def planted():
    return datasets.make_planted(6_000, random_state=1)


@pytest.fixture(scope="module")
def numbers(planted):
    return planted.X.select_dtypes("number").fillna(0)


@pytest.fixture(scope="module")
def falcon(planted, numbers):
    """A linear model that cannot see the planted box."""
    model = LogisticRegression()
    return FalconDiscover(model, random_state=0).fit(numbers[:4_000], planted.y[:4_000])


@pytest.fixture(scope="module")
def found(falcon, planted, numbers):
    return falcon.examine(numbers[4_000:], planted.y[4_000:])


def made_up(n: int, seed: int, *, informative: bool = True) -> tuple[State, np.ndarray]:
    """A state of a calibrated model, with one more signal that may know about the errors."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.5, 0.999, n)
    hidden = rng.normal(size=n)
    risk = 1 / (1 + np.exp(np.log(p / (1 - p)) - (1.5 * hidden if informative else 0.0)))
    wrong = rng.uniform(size=n) < risk
    state = State.from_scores(p)
    evidence = pd.DataFrame({"opinion_forest": -hidden, "opinion_linear": rng.normal(size=n)})
    return replace(state, evidence=evidence), wrong


# -- signals ------------------------------------------------------------------------------------


def test_the_papers_ten_do_not_depend_on_what_goes_beyond_them(falcon, planted, numbers):
    plain = FalconDiscover(LogisticRegression(), ranker="s_stab", random_state=0)
    plain.fit(numbers[:4_000], planted.y[:4_000])
    new = numbers[4_000:4_200]
    pd.testing.assert_frame_equal(plain.transform(new), falcon.transform(new))
    pd.testing.assert_frame_equal(plain.examine().frame(), falcon.examine().frame())
    # Second opinions are trained only for a ranker that asks for them.
    assert plain.audit_.reference.opinions is None
    assert not set(OPINIONS.values()) & set(plain.examine().state.evidence)


@pytest.mark.parametrize("width", [3, 20])
def test_two_searches_by_class_give_the_neighbours_of_one(width):
    rng = np.random.default_rng(0)
    # Few values: many ties and duplicates, within a class and between the classes.
    reference = rng.integers(0, 3, (900, width)).astype(np.float32)
    reference[:450] = rng.normal(size=(450, width))
    labels = rng.integers(0, 2, 900)
    rows = np.vstack([reference[400:500], rng.integers(0, 3, (60, width))]).astype(np.float32)
    one, two = NeighbourIndex(reference).query(rows, 25), LabelledIndex(reference, labels)
    merged = two.query(rows, 25, by_class=True)
    assert np.array_equal(one.rows, merged.rows)
    assert np.allclose(one.distances, merged.distances, atol=1e-6)
    for c in (0, 1):
        own = NeighbourIndex(reference[labels == c]).query(rows, 25)
        assert np.array_equal(merged.class_distances[:, c], own.distances)


def test_a_class_that_is_absent_is_infinitely_far():
    rows = np.arange(8, dtype=np.float32)[:, None]
    near = LabelledIndex(rows, np.zeros(8, int)).query(rows[:2], 3, by_class=True)
    assert np.isinf(near.class_distances[:, 1]).all()
    trust = trust_signals(np.array([1, 0]), near.class_distances)
    assert trust["log_trust_1"].tolist() == [-4.0, 4.0]


def test_log_trust_is_the_logarithm_of_the_trust_score():
    rng = np.random.default_rng(0)
    reference, labels = rng.normal(size=(200, 4)).astype(np.float32), rng.integers(0, 2, 200)
    rows, decision = rng.normal(size=(50, 4)).astype(np.float32), rng.integers(0, 2, 50)
    trust = TrustScore(reference, labels).score(rows, decision)
    near = LabelledIndex(reference, labels).query(rows, 25, by_class=True)
    ours = trust_signals(decision, near.class_distances)["log_trust_1"]
    assert np.allclose(ours, np.log(trust), atol=1e-4)


def test_opinions_are_about_the_predicted_class():
    said = np.array([[0.9, 0.2], [0.9, 0.2]])
    signals = opinion_signals(np.array([1, 0]), ["forest", "linear"], said)
    assert np.allclose(signals["opinion_forest"], [np.log(9), -np.log(9)])
    assert np.allclose(signals["opinion_worst"], [np.log(0.25), -np.log(9)])
    assert np.allclose(signals["opinion_mean"][0], -signals["opinion_mean"][1])


def test_opinions_without_two_classes_or_columns_say_nothing():
    flat = np.ones((30, 2), dtype=np.float32)
    assert Opinions.fit(flat, np.tile([0, 1], 15), seed=0).predict(flat).shape == (30, 0)
    rows = np.arange(30, dtype=np.float32)[:, None]
    assert Opinions.fit(rows, np.zeros(30, int), seed=0).predict(rows).shape == (30, 0)


def test_every_direction_points_against_the_prediction(falcon, found):
    """Signals that know labels or other models are larger for wrong confident predictions."""
    state = found.state
    eligible = state.eligible(TAU)
    wrong = state.decision != found.codes
    columns = signal_columns(state, ("support", "stability"))
    del columns["decision"], columns["opinion_spread"], columns["opinion_linear"]
    assert len(columns) == 9
    for name, values in columns.items():
        assert metrics.fc_auroc(wrong[eligible], values[eligible]) > 0.5, name


# -- the ranker -----------------------------------------------------------------------------------


def test_it_finds_what_the_gate_cannot_see(found):
    state, events = found.state, metrics.false_confidence(found.codes, found.state.p, TAU)
    eligible = state.eligible(TAU)
    gate = metrics.gated_confidence(state.confidence, TAU)
    gain, low, _ = auroc_difference(events[eligible], found.suspicion()[eligible], gate[eligible])
    assert gain > 0.05
    assert low > 0.0


def test_only_eligible_rows_have_a_risk(found):
    score = found.suspicion()
    eligible = found.state.eligible(TAU)
    assert (score[~eligible] == 0.0).all()
    assert ((score[eligible] > 0.0) & (score[eligible] < 1.0)).all()


def test_the_risk_is_calibrated(found):
    risk = found.suspicion()[found.state.eligible(TAU)]
    events = metrics.false_confidence(found.codes, found.state.p, TAU)
    events = events[found.state.eligible(TAU)]
    inside = 0
    for rows in np.array_split(np.argsort(risk), 5):
        low, high = share_interval(int(events[rows].sum()), len(rows))
        inside += low <= risk[rows].mean() <= high
    assert inside >= 4


def test_the_review_list_says_the_risk_in_words(found):
    top = found.review(0.01)
    assert top["reason"].str.match(r"Risk about \d+ in \d+ \(\d+ in \d+ to \d+ in \d+\)\. ").all()
    assert top["suspicion"].is_monotonic_decreasing


def test_it_learns_a_signal_that_is_there_and_ignores_one_that_is_not():
    state, wrong = made_up(6_000, 0)
    new, later = made_up(6_000, 1)
    eligible = new.eligible(TAU)
    area = {}
    for name, families in {"with": (), "without": ("opinions",)}.items():
        risk = GatedRisk(leave_out=families).fit(state, wrong, TAU).risk(new)
        area[name] = metrics.fc_auroc(later[eligible], risk[eligible])
    assert area["with"] > area["without"] + 0.05


def test_of_an_optimal_model_only_the_gate_remains():
    """Two Gaussian classes: the linear model is the truth, and every signal is noise."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.tile([0, 1], 7_000))
    X = rng.normal(size=(14_000, 8))
    X[:, :4] += 1.2 * (y[:, None] - 0.5)
    falcon = FalconDiscover(LogisticRegression(), random_state=0).fit(X[:2_500], y[:2_500])
    found = falcon.examine(X[2_500:], y[2_500:])
    eligible = found.state.eligible(TAU)
    events = (found.state.decision != found.codes)[eligible]
    gate = metrics.fc_auroc(events, 1 - found.state.confidence[eligible])
    assert metrics.fc_auroc(events, found.suspicion()[eligible]) > gate - 0.01
    assert falcon.ranker_.calibration_.gate > 0.2


@pytest.mark.parametrize("seed", range(5))
def test_without_a_signal_it_is_no_worse_than_the_gate(seed):
    state, wrong = made_up(3_000, seed, informative=False)
    new, later = made_up(20_000, 100 + seed, informative=False)
    eligible = new.eligible(TAU)
    risk = GatedRisk().fit(state, wrong, TAU).risk(new)
    gate = metrics.gated_confidence(new.confidence, TAU)
    gain, _, high = auroc_difference(later[eligible], risk[eligible], gate[eligible])
    assert gain > -0.02 or high > 0


def agreement_with_the_gate(errors: int) -> float:
    """Return how alike the ranking and the gate's are, after learning from so many errors."""
    new, _ = made_up(2_000, 1)
    eligible = new.eligible(TAU)
    gate = metrics.gated_confidence(new.confidence, TAU)[eligible]
    alike = []
    for seed in range(4):
        state, wrong = made_up(20_000, seed)
        rows = np.sort(
            np.concatenate([np.flatnonzero(wrong)[:errors], np.flatnonzero(~wrong)[: 4 * errors]])
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            risk = GatedRisk().fit(state.take(rows), wrong[rows], TAU).risk(new)[eligible]
        alike.append(kendalltau(risk, gate).statistic)
    return float(np.mean(alike))


def test_with_fewer_errors_it_comes_closer_to_the_gate():
    alike = [agreement_with_the_gate(errors) for errors in (2_000, 100, 25, 8, 3)]
    assert alike == sorted(alike)
    assert alike[0] < 0.6
    assert alike[-2] > 0.7
    assert alike[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("wrong", [np.zeros(50, bool), np.ones(50, bool)])
def test_one_outcome_only_falls_back_to_the_gate(wrong):
    state = State.from_scores(np.linspace(0.5, 0.999, 50))
    with pytest.warns(DataWarning, match="too few to learn from"):
        ranker = GatedRisk().fit(state, wrong, TAU)
    eligible = state.eligible(TAU)
    order = np.argsort(-ranker.score(state)[eligible], kind="stable")
    assert np.array_equal(order, np.arange(eligible.sum()))
    assert ((ranker.risk(state) >= 0) & (ranker.risk(state) <= 1)).all()


def test_nothing_eligible_is_a_result():
    state = State.from_scores(np.linspace(0.5, 0.8, 200))
    wrong = np.arange(200) % 3 == 0
    assert (GatedRisk().fit(state, wrong, TAU).score(state) == 0).all()


def test_surprise_puts_the_surest_errors_first():
    state, wrong = made_up(6_000, 0)
    new, later = made_up(60_000, 1)
    severe = later & (new.confidence >= 0.97)
    captured = {}
    for severity in ("count", "surprise"):
        ranker = GatedRisk(severity).fit(state, wrong, TAU)
        assert np.allclose(ranker.risk(new), GatedRisk().fit(state, wrong, TAU).risk(new))
        captured[severity] = metrics.capture_at(severe, ranker.score(new), 0.05)
    assert captured["surprise"] > captured["count"]


def test_severity_is_checked_and_belongs_to_auto(numbers, planted):
    with pytest.raises(InputError, match="severity is 'loud'"):
        FalconDiscover(LogisticRegression(), severity="loud").fit(numbers, planted.y)
    with pytest.raises(InputError, match="only applies to ranker='auto'"):
        FalconDiscover(LogisticRegression(), ranker="s_stab", severity="surprise").fit(
            numbers, planted.y
        )


def test_a_severe_audit_ranks_by_expected_surprise(planted):
    arguments = {"random_state": 0, "tau": TAU}
    plain = discover(planted.X, planted.y, planted.proba, **arguments)
    severe = discover(planted.X, planted.y, planted.proba, severity="surprise", **arguments)
    expected = plain.suspicion() * metrics.surprise(plain.state.confidence)
    assert np.allclose(severe.suspicion(), expected)


def test_held_out_scores_are_not_those_of_the_fitted_model():
    """On pure noise an in-sample score would know the errors; the held-out one must not."""
    rng = np.random.default_rng(0)
    n = 600
    state = replace(
        State.from_scores(rng.uniform(0.9, 0.95, n)),
        features=rng.normal(size=(n, 30)).astype(np.float32),
    )
    wrong = rng.uniform(size=n) < 0.4
    ranker = GatedRisk().fit(state, wrong, TAU)
    assert metrics.fc_auroc(wrong, ranker.risk(state)) > 0.75
    assert abs(metrics.fc_auroc(wrong, ranker.held_out_) - 0.5) < 0.1


def test_training_rows_and_validation_rows_are_both_learned_from():
    state, wrong = made_up(1_000, 0)
    codes = np.where(wrong, ~state.decision, state.decision).astype(np.int8)
    oof = LabelledState(replace(state, fold=np.arange(1_000) % 5), codes)
    alone, both = TrainingRows(oof), TrainingRows(oof, LabelledState(state, codes))
    one, two = alone.ranker("auto", TAU), both.ranker("auto", TAU)
    assert two.events_ == 2 * one.events_
    assert len(both.oof_scores("auto", TAU)) == 1_000
    # Asked twice, learned once.
    assert alone.ranker("auto", TAU) is one


def test_classes_may_be_swapped(planted, numbers):
    scores = []
    for y in (planted.y, 1 - planted.y):
        falcon = FalconDiscover(LogisticRegression(), random_state=0)
        falcon.fit(numbers[:1_500], y[:1_500])
        scores.append(falcon.score_samples(numbers[4_000:4_300]))
    # Trees draw columns at random and see one column mirrored: nearly, not exactly, the same.
    assert kendalltau(*scores).statistic > 0.9


def test_scores_do_not_depend_on_the_batch(falcon, numbers):
    new = numbers[4_000:4_060]
    whole = falcon.score_samples(new)
    single = np.concatenate([falcon.score_samples(new[i : i + 1]) for i in range(len(new))])
    assert np.allclose(whole, single, rtol=1e-9, atol=1e-12)


def test_gated_signals_put_eligible_rows_first(found):
    eligible = found.state.eligible(TAU)
    for name in ("gated_trustscore", "gated_stability"):
        score = make(name).fit(found.state, eligible, TAU).score(found.state)
        assert score[eligible].min() > score[~eligible].max()
    with pytest.raises(InputError, match="no signal 'colour'"):
        GatedSignal("colour").score(found.state)


# -- what each signal earns ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def earned(falcon):
    return falcon.contributions()


def test_contributions_name_what_helps(earned):
    assert set(earned.frame()["family"]) == set(FAMILIES)
    assert earned.gain[1] > 0
    assert f"to {earned.auroc:.3f}, {earned.gain[0]:+.3f}" in earned.words()
    assert (earned.frame()["loss"] <= earned.frame()["high"]).all()


def test_the_intervals_of_all_families_hold_together(falcon, earned):
    found = falcon.examine()
    state, wrong = found.audit.training.oof.state, found.audit.training.oof.errors()
    eligible = state.eligible(TAU)
    ranker = found.audit.training.ranker("auto", TAU)
    less = GatedRisk(leave_out=("support",), random_state=ranker.random_state)
    without = less.fit(state, wrong, TAU).held_out_risk_[eligible]
    whole = ranker.held_out_risk_[eligible]
    # Six families: each interval may fail in 5/6 of a percent.
    wide = auroc_difference(wrong[eligible], whole, without, 1 - 0.05 / 6)
    family = earned.frame().set_index("family").loc["support"]
    assert tuple(family[["loss", "low", "high"]]) == pytest.approx(wide)
    assert "hold jointly" in earned.words()


def test_contributions_say_that_nothing_helps_where_nothing_does(falcon):
    """Errors dealt out at random among eligible rows: no signal can tell them apart."""
    rows = falcon.examine().audit.training
    state, codes = rows.oof.state, rows.oof.codes.copy()
    eligible = np.flatnonzero(state.eligible(TAU))
    wrong = (state.decision != codes)[eligible]
    dealt = np.random.default_rng(0).permutation(wrong)
    codes[eligible] = np.where(dealt, ~state.decision[eligible], state.decision[eligible])
    shuffled = TrainingRows(LabelledState(state, codes))
    earned = replace(falcon.audit_, training=shuffled).contributions()
    assert earned.gain[1] <= 0
    assert "no gain" in str(earned)


def test_contributions_without_events_say_so():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    y = (X["a"] > 0).astype(int)
    with pytest.warns(DataWarning, match="too few to learn from"):
        earned = discover(X, y, np.where(y, 0.97, 0.03), random_state=0).contributions()
    assert "0 among 200 confident predictions" in str(earned)
