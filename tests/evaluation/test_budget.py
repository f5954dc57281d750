"""How much review is enough: exact bounds, a fixed order, and a promise that is kept."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression

from falcon_discover import FalconDiscover, datasets, metrics
from falcon_discover.evaluation.bounds import fewest_rows
from falcon_discover.evaluation.budget import GRID, missed_bound, review_budget
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.intervals import upper_bound


@pytest.mark.parametrize(("count", "n"), [(0, 50), (3, 80), (40, 41), (7, 5_000)])
def test_the_bound_is_exact(count, n):
    high = upper_bound(count, n, 0.95)
    assert binom.cdf(count, n, high) == pytest.approx(0.05, abs=1e-9)


def test_bounds_at_the_ends():
    assert upper_bound(0, 0) == 0.0
    assert upper_bound(5, 5) == 1.0


def test_the_fewest_rows_are_the_fewest():
    for rate in (0.001, 0.01, 0.2):
        n = fewest_rows(rate, 0.95)
        assert upper_bound(0, n, 0.95) <= rate < upper_bound(0, n - 1, 0.95)


def test_the_grid_is_fixed_and_descending():
    assert list(GRID) == sorted(GRID, reverse=True)
    assert GRID[-1] == 0.0
    assert max(GRID) < 1.0


def population(n: int, seed: int):
    """Rows whose risk falls with their score; three in four are eligible."""
    rng = np.random.default_rng(seed)
    eligible = rng.uniform(size=n) < 0.75
    score = np.where(eligible, rng.beta(0.5, 12, n), 0.0)
    return rng.uniform(size=n) < score, score, eligible


def test_it_stops_at_the_first_failure_and_keeps_the_last_success():
    found = review_budget(*population(4_000, 0), max_residual_rate=0.01)
    tested = found.tested
    assert tested["passed"].iloc[:-1].all()
    assert not tested["passed"].iloc[-1]
    assert found.budget == tested["budget"].iloc[-2]
    assert (tested["upper"][tested["passed"]] <= 0.01).all()
    # Nothing that labels could not decide was tested.
    assert (tested["unreviewed"] >= fewest_rows(0.01, 0.95)).all()
    assert (tested["budget"] < found.eligible).all()


def test_bounds_are_those_of_the_rows_left():
    events, score, eligible = population(4_000, 1)
    line = review_budget(events, score, eligible, max_residual_rate=0.01).tested.iloc[0]
    order = np.argsort(-score, kind="stable")
    left = order[math.ceil(line["budget"] * 4_000) :]
    assert line["unreviewed"] == len(left)
    assert line["missed"] == events[left].sum()


def test_too_few_rows_ask_for_all_eligible_ones():
    events, score, eligible = population(100, 0)
    found = review_budget(events, score, eligible, max_residual_rate=0.001)
    assert found.all_eligible
    assert found.budget == eligible.mean()
    assert "too few" in str(found)


def test_a_ranker_that_finds_nothing_asks_for_all_eligible_rows():
    rng = np.random.default_rng(0)
    eligible = np.ones(2_000, dtype=bool)
    events = rng.uniform(size=2_000) < 0.05
    found = review_budget(events, rng.uniform(size=2_000), eligible, max_residual_rate=0.01)
    assert found.all_eligible
    assert str(found).startswith("Review every confident prediction (100% of all rows)")
    assert "too few" not in str(found)


def test_no_event_at_all_needs_no_review():
    none = np.zeros(2_000, dtype=bool)
    found = review_budget(none, np.arange(2_000.0), ~none, max_residual_rate=0.01)
    assert found.budget == 0.0


def test_without_a_confident_row_there_is_nothing_to_review():
    none = np.zeros(2_000, dtype=bool)
    found = review_budget(none, np.zeros(2_000), none, max_residual_rate=0.01, tau=0.9)
    assert found.budget == 0.0
    assert str(found).startswith("There is nothing to review")
    assert "90% confidence" in str(found)


def test_a_budget_of_nothing_is_not_called_the_top_of_a_list():
    none = np.zeros(2_000, dtype=bool)
    found = review_budget(none, np.zeros(2_000), ~none, max_residual_rate=0.01)
    assert str(found).startswith("Nothing needs review: with 95% confidence, at most 1%")
    few = np.arange(2_000) < 3
    found = review_budget(few, np.zeros(2_000), few, max_residual_rate=0.001)
    assert str(found).startswith("Review every confident prediction (0.15% of all rows)")


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, 2])
def test_impossible_targets_are_named(rate):
    with pytest.raises(InputError, match="max_residual_rate"):
        review_budget(*population(50, 0), max_residual_rate=rate)


def test_the_promise_is_kept():
    """Over many calibration sets the true rate exceeds the target in at most 5% of them."""
    target, trials = 0.01, 300
    events, score, eligible = population(400_000, 99)
    order = np.argsort(-score, kind="stable")
    exceeded = 0
    for seed in range(trials):
        found = review_budget(*population(1_500, seed), max_residual_rate=target)
        left = order[metrics.review_size(len(events), found.budget) :]
        exceeded += events[left].mean() > target
    assert exceeded / trials <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / trials)
    # It is not kept by asking for everything: the average budget is well below all eligible rows.
    budgets = [
        review_budget(*population(1_500, seed), max_residual_rate=target).budget
        for seed in range(20)
    ]
    assert np.mean(budgets) < 0.6 * eligible.mean()


def test_the_reverse_bounds_what_is_missed():
    events, score, _ = population(4_000, 3)
    bound = missed_bound(events, score, budget=0.2)
    assert bound.unreviewed == 3_200
    assert bound.rate < bound.upper < 1
    assert bound.upper == upper_bound(bound.missed, 3_200)
    assert "at most" in str(bound)
    everything = missed_bound(events, score, budget=1.0)
    assert (everything.missed, everything.upper) == (0, 0.0)


@pytest.fixture(scope="module")
def audit():
    planted = datasets.make_planted(3_000, random_state=0)
    X = planted.X.select_dtypes("number").fillna(0)
    falcon = FalconDiscover(LogisticRegression(), random_state=0)
    return falcon.fit(X[:2_000], planted.y[:2_000]), X[2_000:], planted.y[2_000:]


def test_the_estimator_says_which_rows_it_rests_on(audit):
    falcon, X, y = audit
    own, new = falcon.review_budget(0.02), falcon.review_budget(0.02, X=X, y=y)
    assert (own.rows, new.rows) == (2_000, 1_000)
    assert "approximation" in own.source
    assert "approximation" not in new.source
    assert "neither the model nor the ranker has seen" in new.source
    assert 0 < own.budget <= own.eligible
    assert own.to_dict()["statement"] == own.text()


def test_a_guarantee_needs_labels(audit):
    falcon, X, _ = audit
    with pytest.raises(InputError, match="this needs labels"):
        falcon.examine(X).review_budget(0.05)
