"""Weights: a row counts as so many rows, in fits and in every figure."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from falcon_discover import FalconDiscover, datasets, discover, load
from falcon_discover.audit.curves import Curves
from falcon_discover.calibration import fitted_calibrator
from falcon_discover.evaluation.risks import RiskCalibration
from falcon_discover.exceptions import DataWarning, InputError
from falcon_discover.metrics.design import Design
from falcon_discover.models.weighing import weight_name
from falcon_discover.rankers import GatedRisk, LearnedWitness
from falcon_discover.rankers.evidence import EvidenceModel, Sample
from falcon_discover.rankers.failure import failure_scores
from falcon_discover.rankers.risk import calibrate
from falcon_discover.regions.rules import figures

N = 400
INTERVALS = ("low", "high", "upper", "band")


def _is_interval(name):
    return any(str(name).endswith(end) for end in INTERVALS)


@pytest.fixture(scope="module")
def rows():
    planted = datasets.make_planted(N, random_state=3)
    weight = np.random.default_rng(0).integers(1, 5, N)
    return planted, weight


@pytest.fixture(scope="module")
def both(rows):
    """The same audit of weighted rows and of repeated ones, in the same folds."""
    planted, weight = rows
    fold = np.random.default_rng(1).integers(0, 4, N)
    again = np.repeat(np.arange(N), weight)
    found = []
    for places, given in ((np.arange(N), weight), (again, None)):
        own = fold[places]
        cv = [(np.flatnonzero(own != k), np.flatnonzero(own == k)) for k in range(4)]
        asked = {"ranker": "gated_confidence", "cv": cv, "random_state": 0, "sample_weight": given}
        X = planted.X.iloc[places].reset_index(drop=True)
        with pytest.warns(DataWarning) if given is None else nullcontext():
            found.append(discover(X, planted.y[places], planted.proba[places], **asked))
    return found


def _same(weighted, repeated):
    """Compare the point figures of two tables; intervals use the rows there are."""
    shown = [name for name in weighted.columns if not _is_interval(name)]
    kept = weighted["ranker"] != "random" if "ranker" in weighted else slice(None)
    pd.testing.assert_frame_equal(
        weighted.loc[kept, shown],
        repeated.loc[kept, shown],
        check_dtype=False,
        rtol=1e-9,
        atol=1e-9,
    )


def test_every_point_figure_is_that_of_repeated_rows(both):
    one, two = (found.evaluate() for found in both)
    for name in ("captures", "rankings", "severity"):
        _same(getattr(one, name), getattr(two, name))
    _same(one.sides.table, two.sides.table)
    _same(one.sides.captures, two.sides.captures)
    for name, value in one.model.items():
        if not _is_interval(name):
            assert value == pytest.approx(two.model[name], rel=1e-9), name
    assert one.verdict() == two.verdict()


def test_every_curve_is_that_of_repeated_rows(both):
    one, two = (Curves(found) for found in both)
    for name in ("capture", "missed", "reliability", "confidence"):
        _same(getattr(one, name)(), getattr(two, name)())
    bands = one.random_band(), two.random_band()
    assert (bands[0]["mean"] - bands[1]["mean"]).abs().max() < 1e-9


def test_intervals_use_the_rows_there_are(both):
    one, two = (found.evaluate().model for found in both)
    assert one["accuracy_high"] - one["accuracy_low"] > two["accuracy_high"] - two["accuracy_low"]


def test_figures_of_a_region_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 5, 300)
    again = np.repeat(np.arange(300), weight)
    inside, eligible = rng.uniform(size=300) < 0.3, rng.uniform(size=300) < 0.8
    events, sure = eligible & (rng.uniform(size=300) < 0.2), rng.choice([0.9, 0.95, 0.99], 300)
    design = Design.of(300, weight.astype(float), None)
    one = figures(inside, eligible, events, sure, design)
    two = figures(inside[again], eligible[again], events[again], sure[again])
    for name in ("rows", "eligible", "events", "rate", "lift", "expected"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-12)


@pytest.fixture(scope="module")
def states(rows):
    """A measured state with weights, and the same with rows repeated."""
    planted, weight = rows
    X = planted.X.select_dtypes("number").fillna(0)
    frozen = FrozenEstimator(LogisticRegression().fit(X[:100], planted.y[:100]))
    falcon = FalconDiscover(frozen, tau=0.7, random_state=0).fit(X, planted.y)
    state, codes = falcon.examine().state, falcon.examine().labels
    again = np.repeat(np.arange(N), weight)
    return replace(state, weight=weight.astype(float)), state.take(again), codes, again


def test_the_learned_witness_is_that_of_repeated_rows(states):
    weighted, repeated, codes, again = states
    events = weighted.events(codes, 0.7)
    one = LearnedWitness("oof").fit(weighted, events).score(weighted)
    two = LearnedWitness("oof").fit(repeated, events[again]).score(weighted)
    assert one == pytest.approx(two, abs=1e-7)


def test_the_failure_predictor_is_that_of_repeated_rows(states):
    weighted, _, codes, again = states
    wrong = weighted.decision != codes
    signals = weighted.signals.to_numpy()
    one = failure_scores(signals, wrong, signals, weighted.weight)
    two = failure_scores(signals[again], wrong[again], signals)
    assert one == pytest.approx(two, abs=1e-7)


def test_the_regression_of_evidence_is_that_of_repeated_rows(states):
    weighted, repeated, codes, again = states
    wrong = weighted.decision != codes
    models = [
        EvidenceModel("error").fit(Sample.of_errors(state, errors, state.eligible(0.7)))
        for state, errors in ((weighted, wrong), (repeated, wrong[again]))
    ]
    odds = [
        model.linear.decision_function(model._scaled(model.inputs(weighted))) for model in models
    ]
    assert odds[0] == pytest.approx(odds[1], abs=0.01)
    assert models[0].trees_weight == pytest.approx(models[1].trees_weight)
    told = [model.log_odds(weighted) for model in models]
    assert np.corrcoef(*told)[0, 1] > 0.97


def test_the_risk_is_close_to_that_of_repeated_rows(states):
    weighted, repeated, codes, again = states
    wrong = weighted.decision != codes
    one = GatedRisk().fit(weighted, wrong, 0.7).risk(weighted)
    two = GatedRisk().fit(repeated, wrong[again], 0.7).risk(weighted)
    assert np.corrcoef(one, two)[0, 1] > 0.95
    assert one.sum() == pytest.approx(two.sum(), rel=0.1)


def test_calibration_of_the_risk_is_that_of_repeated_rows():
    rng = np.random.default_rng(0)
    own, more = rng.normal(-3, 1, 800), rng.normal(size=800)
    wrong = rng.uniform(size=800) < 1 / (1 + np.exp(-own - 0.5 * more))
    weight = rng.integers(1, 4, 800)
    again = np.repeat(np.arange(800), weight)
    one = calibrate(own + more, own, wrong, Design.of(800, weight.astype(float), None))
    two = calibrate((own + more)[again], own[again], wrong[again])
    assert (one.shift, one.slope, one.gate) == pytest.approx(
        (two.shift, two.slope, two.gate), abs=1e-3
    )
    # As sure as the rows there are, not as those they stand for.
    low, high = one.interval(np.array([-3.0]), np.array([-3.0]))
    repeated = two.interval(np.array([-3.0]), np.array([-3.0]))
    assert (high - low)[0] > (repeated[1] - repeated[0])[0]


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic", "beta"])
def test_calibrators_are_those_of_repeated_rows(states, method):
    weighted, repeated, codes, again = states
    one = fitted_calibrator(method, weighted, codes, weighted.weight).predict(weighted)
    two = fitted_calibrator(method, repeated, codes[again]).predict(weighted)
    assert one == pytest.approx(two, abs=1e-5)


def test_a_down_sampled_table_tells_the_rates_of_the_full_one():
    rng = np.random.default_rng(0)
    planted = datasets.make_planted(6_000, random_state=1)
    kept = (planted.y == 1) | (rng.uniform(size=6_000) < 0.25)
    weight = np.where(planted.y == 1, 1.0, 4.0)[kept]
    asked = {"ranker": "gated_confidence", "random_state": 0}
    full = discover(planted.X, planted.y, planted.proba, **asked).evaluate()
    X = planted.X[kept].reset_index(drop=True)
    part = discover(
        X, planted.y[kept], planted.proba[kept], sample_weight=weight, **asked
    ).evaluate()
    for name in ("accuracy",):
        assert part.model[f"{name}_low"] <= full.model[name] <= part.model[f"{name}_high"]
    own = part.rankings.iloc[0]
    assert (
        own["eligible_auroc_low"]
        <= full.rankings.iloc[0]["eligible_auroc"]
        <= own["eligible_auroc_high"]
    )
    sides = part.sides.table.merge(full.sides.table, on="predicted", suffixes=("", "_full"))
    assert (sides["low"] <= sides["rate_full"]).all()
    assert (sides["rate_full"] <= sides["high"]).all()
    captures = part.captures[part.captures["ranker"] == "gated_confidence"]
    true = full.captures[full.captures["ranker"] == "gated_confidence"]
    held = (captures["capture_low"].to_numpy() <= true["capture"].to_numpy()) & (
        true["capture"].to_numpy() <= captures["capture_high"].to_numpy()
    )
    assert held.mean() > 0.9


def _numbers(rows):
    planted, weight = rows
    return planted.X.select_dtypes("number").fillna(0).to_numpy(), planted.y, weight.astype(float)


def test_the_base_model_is_fitted_with_the_weights(rows):
    X, y, weight = _numbers(rows)
    asked = {"ranker": "gated_confidence", "random_state": 0}
    model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10))
    falcon = FalconDiscover(model, **asked).fit(X, y, sample_weight=weight)
    alone = LogisticRegression(tol=1e-10).fit(falcon.model_[0].transform(X), y, weight)
    assert falcon.model_[-1].coef_ == pytest.approx(alone.coef_)
    plain = FalconDiscover(model, weigh_model=False, **asked).fit(X, y, sample_weight=weight)
    assert plain.model_[-1].coef_ != pytest.approx(alone.coef_)
    assert plain.examine().state.weight.tolist() == weight.tolist()


def test_a_model_that_takes_no_weights_is_refused_by_name(rows):
    X, y, weight = _numbers(rows)
    falcon = FalconDiscover(KNeighborsClassifier(), ranker="gated_confidence", random_state=0)
    with pytest.raises(
        InputError, match=r"KNeighborsClassifier takes no sample_weight.*weigh_model"
    ):
        falcon.fit(X, y, sample_weight=weight)
    falcon.set_params(weigh_model=False).fit(X, y, sample_weight=weight)
    frozen = FrozenEstimator(KNeighborsClassifier().fit(X, y))
    FalconDiscover(frozen, ranker="gated_confidence").fit(X, y, sample_weight=weight)


def test_weights_find_their_way_into_models():
    grid = GridSearchCV(LogisticRegression(), {"C": [1.0]})
    piped = make_pipeline(StandardScaler(), LogisticRegression())
    assert weight_name(grid) == "sample_weight"
    assert weight_name(piped) == "logisticregression__sample_weight"
    assert weight_name(make_pipeline(StandardScaler(), KNeighborsClassifier())) is None
    assert weight_name(GridSearchCV(piped, {})) == "logisticregression__sample_weight"


def test_weights_are_routed(rows):
    X, y, weight = _numbers(rows)
    asked = {"ranker": "gated_confidence", "random_state": 0}
    with sklearn.config_context(enable_metadata_routing=True):
        silent = make_pipeline(StandardScaler(), LogisticRegression())
        with pytest.raises(InputError, match="set_fit_request"):
            FalconDiscover(silent, **asked).fit(X, y, sample_weight=weight)
        asks = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            LogisticRegression().set_fit_request(sample_weight=True),
        )
        routed = FalconDiscover(asks, **asked).fit(X, y, sample_weight=weight)
    direct = FalconDiscover(silent, **asked).fit(X, y, sample_weight=weight)
    assert routed.examine().state.p == pytest.approx(direct.examine().state.p)


def test_a_library_model_is_fitted_with_the_weights(rows):
    X, y, weight = _numbers(rows)
    asked = {"ranker": "gated_confidence", "random_state": 0}
    one, two = (
        FalconDiscover("logistic_regression", **asked).fit(X, y, sample_weight=w).examine().state.p
        for w in (weight, None)
    )
    assert np.abs(one - two).max() > 1e-3


def test_weights_that_all_are_one_change_nothing(rows):
    X, y, _ = _numbers(rows)
    model = RandomForestClassifier(10, random_state=0)
    falcon = FalconDiscover(model, ranker="learned_oof", random_state=0)
    first = falcon.fit(X, y).score_samples()
    again = falcon.fit(X, y, sample_weight=np.ones(N), groups=np.arange(N)).score_samples()
    assert (first == again).all()


def test_a_saved_audit_keeps_its_weights(rows, tmp_path):
    X, y, weight = _numbers(rows)
    falcon = FalconDiscover(LogisticRegression(), ranker="learned_oof", tau=0.7, random_state=0)
    falcon.fit(X, y, sample_weight=weight)
    again = load(falcon.save(tmp_path / "audit.falcon"))
    assert again.examine().state.weight.tolist() == weight.tolist()
    assert repr(again.examine()) == repr(falcon.examine())
    first, second = (one.calibrated("platt").predict_proba(X) for one in (falcon, again))
    assert (first == second).all()


def test_a_review_list_is_a_share_of_the_rows(rows):
    X, y, weight = _numbers(rows)
    falcon = FalconDiscover(LogisticRegression(), ranker="gated_confidence", random_state=0)
    assert len(falcon.fit(X, y, sample_weight=weight).review(budget=0.1)) == 40


def test_cal_weights_belong_to_cal_rows(rows):
    X, y, weight = _numbers(rows)
    falcon = FalconDiscover(LogisticRegression(), random_state=0)
    with pytest.raises(InputError, match="sample_weight and sample_weight_cal belong together"):
        falcon.fit(X[:300], y[:300], X_cal=X[300:], y_cal=y[300:], sample_weight=weight[:300])


def test_the_risk_in_the_large_is_that_of_repeated_rows():
    rng = np.random.default_rng(0)
    risk = rng.beta(1, 15, 1_000)
    events, weight = rng.uniform(size=1_000) < risk, rng.integers(1, 5, 1_000)
    again = np.repeat(np.arange(1_000), weight)
    one = RiskCalibration.of(risk, events, design=Design.of(1_000, weight.astype(float), None))
    two = RiskCalibration.of(risk[again], events[again])
    points = ("rows", "events", "expected", "ratio", "slope", "top_rows", "top_events", "top_ratio")
    for name in points:
        assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-6), name
    assert one.high - one.low > two.high - two.low
