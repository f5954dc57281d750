"""Rows in the order of time: each is judged by its past alone."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from falcon_discover import DataWarning, FalconDiscover, InputError, datasets, load
from falcon_discover.cli import app
from falcon_discover.cli.columns import by_time
from falcon_discover.data.times import times_of
from falcon_discover.evaluation.periods import Periods
from falcon_discover.metrics.design import Design

PLANTED = datasets.make_planted(600, random_state=0)
X = PLANTED.X.select_dtypes("number").fillna(0)
Y = PLANTED.y
SPLIT = TimeSeriesSplit(4)


def audit(X=X, Y=Y, cv=SPLIT, estimator=None, **options) -> FalconDiscover:
    estimator = LogisticRegression() if estimator is None else estimator
    return FalconDiscover(estimator, tau=0.8, cv=cv, random_state=0).fit(X, Y, **options)


@pytest.fixture(scope="module")
def falcon() -> FalconDiscover:
    return audit()


def test_rows_that_are_never_held_out_are_compared_with_and_not_judged(falcon):
    found = falcon.examine()
    assert len(found.state) == 480
    assert len(falcon.audit_.reference) == 600
    np.testing.assert_array_equal(found.index, X.index[120:])
    assert falcon.review(budget=20)["row"].min() >= 120
    listed = falcon.review(budget=1.0)
    np.testing.assert_array_equal(np.sort(listed["row"]), np.arange(120, 600))
    assert (listed.index == X.index[listed["row"]]).all()
    assert len(falcon.score_samples()) == 480


def test_scores_are_those_of_models_of_the_past(falcon):
    p = falcon.examine().state.p
    for train, test in SPLIT.split(X):
        model = LogisticRegression().fit(X.iloc[train], Y[train])
        expected = model.predict_proba(X.iloc[test])[:, 1]
        np.testing.assert_allclose(p[test - 120], expected, atol=1e-12)
    refit = LogisticRegression().fit(X, Y)
    np.testing.assert_allclose(falcon.predict_proba(X), refit.predict_proba(X))


@pytest.mark.parametrize("estimator", [LogisticRegression(), "logistic_regression"])
def test_no_row_knows_its_future(estimator):
    other_X, other_Y = X.copy(), Y.copy()
    # The last two of four periods become other rows, with other labels.
    other_X.iloc[360:] = np.random.default_rng(1).normal(size=(240, X.shape[1]))
    other_Y[360:] = 1 - other_Y[360:]
    one = audit(X, Y, estimator=estimator).examine().state
    other = audit(other_X, other_Y, estimator=estimator).examine().state
    np.testing.assert_array_equal(one.p[:240], other.p[:240])
    pd.testing.assert_frame_equal(one.signals[:240], other.signals[:240])
    pd.testing.assert_frame_equal(one.evidence[:240], other.evidence[:240])
    assert not np.array_equal(one.p[240:], other.p[240:])


def test_the_ranker_learns_from_the_past_where_there_is_one(falcon):
    state = falcon.examine().state
    for fold in range(4):
        taught_by = np.unique(state.fold[state.teachers(fold)])
        # The first fold has no judged past: its rows are ranked by what the later ones teach.
        expected = np.arange(fold) if fold else np.arange(1, 4)
        np.testing.assert_array_equal(taught_by, expected)


def test_a_row_of_the_first_period_has_a_score_by_a_model_that_did_not_see_it():
    # A model that learns by heart says 0 or 1 of what it has seen.
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    heart = audit(noise, labels, estimator=DecisionTreeClassifier(random_state=0))
    reference = heart.audit_.reference
    agrees = ((reference.p >= 0.5) == reference.labels)[:60].mean()
    assert agrees < 0.75


@pytest.mark.parametrize(
    "cv",
    [
        TimeSeriesSplit(2),
        TimeSeriesSplit(4, max_train_size=150, gap=10),
        [(np.arange(400), np.arange(400, 600))],
        # Each fold keeps a distance to what it learns from, as where neighbours in space depend.
        [
            (np.setdiff1d(np.arange(600), np.arange(a - 20, a + 220)), np.arange(a, a + 200))
            for a in (0, 200, 400)
        ],
    ],
    ids=["two", "window", "one", "buffer"],
)
@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
def test_a_saved_audit_is_the_same(cv, tmp_path):
    falcon = audit(cv=cv)
    again = load(falcon.save(tmp_path / "a.falcon"))
    np.testing.assert_array_equal(again.score_samples(), falcon.score_samples())
    np.testing.assert_array_equal(again.score_samples(X[:50]), falcon.score_samples(X[:50]))
    pd.testing.assert_frame_equal(again.review(budget=9), falcon.review(budget=9))
    assert falcon.report(tmp_path / "report").exists()
    assert falcon.evaluate().captures["rows"].eq(len(falcon.examine().state)).all()


def test_signals_of_rows_that_are_not_judged_are_missing():
    signals = FalconDiscover(LogisticRegression(), cv=SPLIT, random_state=0).fit_transform(X, Y)
    assert signals.shape == (600, 10)
    assert signals[:120].isna().all(axis=None)
    assert signals[120:].notna().all(axis=None)


@pytest.mark.parametrize(
    ("cv", "sentence"),
    [
        (ShuffleSplit(3, random_state=0), "more than once"),
        ([(np.arange(400), np.arange(300, 500))], "fold 1 of cv tests rows that it trains on"),
        ([(np.arange(400), np.arange(500, 700))], "positions from 0 to 599"),
        ([(np.arange(400), np.arange(0))], "with rows to test"),
    ],
)
def test_folds_that_cannot_be_are_refused(cv, sentence):
    with pytest.raises(InputError, match=sentence):
        audit(cv=cv)


def test_folds_that_learn_from_one_class_are_left_out():
    late = np.where(np.arange(600) < 150, 0, Y)
    with pytest.warns(
        DataWarning, match=r"1 of 4 folds of cv train on rows of one class.*120 rows"
    ):
        falcon = audit(X, late)
    assert len(falcon.examine().state) == 360


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, 1.5], [3.0, 1.5]),
        (["2025-02-01", "2024-12-31T23:00"], ["2025-02-01T00", "2024-12-31T23"]),
        (pd.to_datetime(["2025-02-01 01:00+01:00"]), ["2025-02-01T00"]),
        (pd.period_range("2025-01", periods=2, freq="M"), ["2025-01-01T00", "2025-02-01T00"]),
    ],
)
def test_times_are_numbers_or_moments(values, expected):
    found = times_of(values)
    expected = np.array(expected, dtype=found.dtype)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1.0, None, None], "missing in 2 of 3 rows"),
        (["yesterday", "2025-01-01", "x"], r"'yesterday' in row 0 \(2 such"),
        ([True, False], "the type bool"),
        ([1.0, np.inf], "infinite"),
    ],
)
def test_what_is_no_time_is_named(values, sentence):
    with pytest.raises(InputError, match=sentence):
        times_of(values)


def test_rows_of_one_moment_are_never_parted():
    early, late = by_time(np.array([1.0, 2, 2, 2, 2, 2, 2, 2, 3, 3]), "when")
    assert (early.tolist(), late.tolist()) == ([0], list(range(1, 10)))
    early, late = by_time(np.array([5.0, 1, 2, 3, 4, 9, 8, 7, 6, 0]), "when")
    assert late.tolist() == [7, 6, 5]
    with pytest.raises(InputError, match="same value in every row"):
        by_time(np.ones(5), "when")


def test_periods_by_hand():
    days = pd.to_datetime(["2025-01-10", "2025-01-20", "2025-02-01", "2025-04-01"]).to_numpy()
    sure, wrong = np.array([1, 1, 1, 0], bool), np.array([1, 0, 1, 0], bool)
    days = np.concatenate([days, days + np.timedelta64(366 * 2, "D")])
    found = Periods.of(days, np.tile(sure, 2), np.tile(wrong, 2)).frame()
    # 28 months are too many to be told one by one; of ten quarters four have rows.
    assert found["period"].tolist() == ["2025Q1", "2025Q2", "2027Q1", "2027Q2"]
    assert found["rows"].tolist() == [3, 1, 3, 1]
    assert found["events"].tolist() == [2, 0, 2, 0]
    np.testing.assert_array_equal(found["rate"], [2 / 3, np.nan] * 2)
    assert found["first"].iloc[0] == "2025-01-10T00:00:00"


def test_periods_of_many_numbers_are_of_about_equal_size():
    times = np.random.default_rng(0).normal(size=1_000)
    found = Periods.of(times, np.ones(1_000, bool), times > 0)
    assert found.frame()["rows"].between(95, 105).all()
    assert found.frame()["rate"].is_monotonic_increasing
    assert "the last" in repr(found)
    assert len(found.to_dict()["periods"]) == len(found.frame()) == 10


def test_weighted_rows_count_as_repeated_ones_in_each_period():
    rng = np.random.default_rng(0)
    when, weight = np.repeat([2024.0, 2025.0], 50), rng.integers(1, 4, 100)
    sure = rng.random(100) < 0.6
    wrong = sure & (rng.random(100) < 0.3)
    design = Design.of(100, weight.astype(float), None)
    weighted = Periods.of(when, sure, wrong, design=design).frame()
    copies = [np.repeat(column, weight) for column in (when, sure, wrong)]
    repeated = Periods.of(*copies).frame()
    figures = ["period", "rows", "eligible", "events", "rate"]
    pd.testing.assert_frame_equal(weighted[figures], repeated[figures])
    # A hundred rows say less than the two hundred that they stand for.
    assert ((weighted["high"] - weighted["low"]) > (repeated["high"] - repeated["low"])).all()


def test_rows_of_one_group_say_less_about_a_period_than_independent_ones():
    wrong = np.repeat(np.arange(40) % 4 == 0, 5)
    sure, when = np.ones(200, bool), np.full(200, 2025.0)
    grouped = Design.of(200, None, np.repeat(np.arange(40), 5))
    alone, together = (Periods.of(when, sure, wrong, design=d).frame() for d in (None, grouped))
    assert alone["rate"].tolist() == together["rate"].tolist() == [0.25]
    assert (together["high"] - together["low"]).item() > 1.5 * (alone["high"] - alone["low"]).item()


def test_a_finding_tells_its_rate_by_period_by_weight():
    weight = np.where(np.arange(len(X)) % 2 == 0, 1.0, 2.5)
    falcon = FalconDiscover(LogisticRegression(), tau=0.8, ranker="confidence", random_state=0)
    found = falcon.fit(X, Y, sample_weight=weight).examine()
    periods = found.by_period(np.arange(len(X)) // 200)
    events, rows = periods.frame()["events"].sum(), periods.frame()["rows"].sum()
    assert events == weight[found.events].sum()
    assert rows == weight.sum()
    assert f"{weight[:200].sum():g}" in repr(periods)


def test_a_finding_tells_its_rate_by_period(falcon):
    found = falcon.examine()
    years = np.repeat([2021, 2022, 2023], 160)
    table = found.by_period(years).frame()
    assert table["period"].tolist() == ["2021", "2022", "2023"]
    assert table["events"].sum() == found.events.sum()
    assert table["eligible"].tolist() == [
        int(found.state.eligible(0.8)[years == year].sum()) for year in (2021, 2022, 2023)
    ]
    with pytest.raises(InputError, match="480 rows"):
        found.by_period([1, 2])


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("time") / "rows.csv"
    when = pd.date_range("2024-01-01", periods=600, freq="D")
    table = X.assign(outcome=Y, score=PLANTED.proba, when=when.strftime("%Y-%m-%d"))
    table.sample(frac=1, random_state=0).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    "mode", [["--proba", "score"], ["--backbone", "logistic_regression", "--leave-out", "score"]]
)
def test_the_latest_rows_of_a_file_are_audited(mode, file, tmp_path):
    ran = CliRunner().invoke(
        app,
        ["audit", str(file), "--target", "outcome", *mode, "--time", "when",
         "--tau", "0.8", "--out", str(tmp_path), "--save", str(tmp_path / "a.falcon")],
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["data"]["audited"] == 180
    assert summary["data"]["features"] == X.shape[1]
    when = pd.read_csv(file)["when"]
    listed = pd.read_csv(tmp_path / "review.csv")["row"]
    assert when.iloc[listed].min() >= when.sort_values().iloc[420]
    periods = pd.DataFrame(summary["periods"]["periods"])
    assert periods["rows"].sum() == 180
    assert periods["events"].sum() == summary["eligible"]["errors"]
    assert "Over time" in ran.output
    page = (tmp_path / "report.html").read_text()
    assert 'id="figure-periods"' in page
    assert 'id="fact-period"' in page
    assert periods["period"].iloc[0] in page
    assert len(load(tmp_path / "a.falcon").examine().state) == 350


def test_missing_times_are_counted(file, tmp_path):
    table = pd.read_csv(file)
    table.loc[:2, "when"] = None
    table.to_csv(tmp_path / "rows.csv", index=False)
    ran = CliRunner().invoke(
        app,
        ["audit", str(tmp_path / "rows.csv"), "--target", "outcome", "--proba", "score",
         "--time", "when", "--out", str(tmp_path / "out")],
    )  # fmt: skip
    assert ran.exit_code == 1
    assert "--time is missing in 3 of 600 rows" in ran.output


def excess(seed: int, cv) -> float:
    """Estimated rate of confident errors less that of the rows to come, where periods differ.

    `benchmarks/claims/time.py` measures the same on many more draws.
    """
    rng = np.random.default_rng(seed)
    period = np.repeat(np.arange(7), 100)
    rows = pd.DataFrame(rng.normal(size=(700, 2)), columns=["a", "b"]).assign(
        price=period + rng.uniform(size=700)
    )
    meaning = rng.choice([-3.0, 3.0], 7)[period]
    y = (rng.uniform(size=700) < expit(rows["a"] + meaning * rows["b"])).to_numpy().astype(int)
    model = DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
    falcon = FalconDiscover(model, tau=0.8, ranker="gated_confidence", cv=cv, random_state=0)
    estimated = falcon.fit(rows[:600], y[:600]).examine().events.mean()
    p = falcon.predict_proba(rows[600:])
    return estimated - ((p.argmax(axis=1) != y[600:]) & (p.max(axis=1) >= 0.8)).mean()


@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
def test_where_rows_change_the_order_of_time_is_honest_and_a_shuffle_is_not():
    ordered = np.array([excess(seed, TimeSeriesSplit(5)) for seed in range(16)])
    shuffled = np.array([excess(seed, 5) for seed in range(16)])
    error = ordered.std(ddof=1) / 4
    assert abs(ordered.mean()) < 2 * error + 0.02
    assert shuffled.mean() < -0.05
    assert shuffled.mean() < ordered.mean() - 0.05


def test_a_class_that_only_the_latest_rows_have_is_named(tmp_path):
    rows = X.assign(when=np.arange(len(X)), label=np.where(np.arange(len(X)) < 500, Y, 2))
    rows = rows.assign(p_0=0.2, p_1=0.5, p_2=0.3)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    words = ["audit", tmp_path / "rows.csv", "--target", "label", "--time", "when"]
    words += ["--proba", "p_0,p_1,p_2", "--out", tmp_path / "out"]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 1
    assert "none of the 420 earlier rows has the label 2" in result.stderr
