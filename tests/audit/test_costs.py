"""Errors that cost, and budgets as numbers of rows."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, InputError, datasets, discover, metrics
from falcon_discover.cli import app
from falcon_discover.plots.style import ranker_name

PLANTED = datasets.make_planted(900, random_state=0)
RNG = np.random.default_rng(3)
COST = RNG.lognormal(sigma=1.5, size=len(PLANTED.X))


@pytest.fixture(scope="module")
def found():
    return discover(PLANTED.X, PLANTED.y, PLANTED.proba, random_state=0)


def test_rows_are_reviewed_in_the_order_of_risk_times_cost(found):
    by_hand = found.risk() * COST
    listed = found.review(1.0, cost=COST)
    np.testing.assert_array_equal(listed["expected_cost"], by_hand[listed["row"]])
    assert listed["expected_cost"].is_monotonic_decreasing
    np.testing.assert_array_equal(listed["cost"], COST[listed["row"]])
    # Rows of no expected cost are those that cannot be confident errors.
    assert (listed["expected_cost"] > 0).sum() == found.state.eligible(0.9).sum()


def test_equal_costs_change_nothing(found):
    plain, costed = found.review(1.0), found.review(1.0, cost=np.full(len(COST), 7.0))
    pd.testing.assert_frame_equal(costed.drop(columns=["cost", "expected_cost"]), plain)


def test_without_a_risk_the_place_among_the_rows_takes_its_place():
    asked = discover(PLANTED.X, PLANTED.y, PLANTED.proba, random_state=0, ranker="gated_confidence")
    place = np.array([(asked.suspicion() <= s).mean() for s in asked.suspicion()])
    worth = np.where(asked.state.eligible(0.9), place * COST, 0.0)
    listed = asked.review(0.3, cost=COST)
    assert "expected_cost" not in listed
    np.testing.assert_array_equal(worth[listed["row"]], np.sort(worth)[::-1][: len(listed)])


def test_captured_cost_stands_beside_captured_errors(found):
    evaluation = found.evaluate(budgets=[0.1, 1.0], taus=(), cost=COST)
    lines = evaluation.frame().set_index(["ranker", "budget"])
    total = COST[found.events].sum()
    top = np.argsort(-found.risk() * COST, kind="stable")[: metrics.review_size(900, 0.1)]
    by_hand = (COST * found.events)[top].sum() / total
    assert lines.loc[("by_cost", 0.1), "captured_cost"] == pytest.approx(by_hand)
    assert lines.loc[("auto", 1.0), "captured_cost"] == pytest.approx(1)
    np.testing.assert_allclose(lines["cost"], total)
    assert "Share of the cost of confident errors found" in repr(evaluation)
    assert "captured_cost" not in found.evaluate().frame()


def test_the_order_by_cost_saves_more_on_average(found):
    saved = {"risk": 0.0, "risk times cost": 0.0}
    for seed in range(20):
        cost = np.random.default_rng(seed).lognormal(sigma=1.5, size=900)
        for name, score in (("risk", found.risk()), ("risk times cost", found.risk() * cost)):
            top = np.argsort(-score, kind="stable")[:45]
            saved[name] += (cost * found.events)[top].sum()
    assert saved["risk times cost"] > 1.2 * saved["risk"]


def test_bounds_follow_the_order_of_the_review(found):
    costed = found.costing(COST)
    top = costed.review(90)["row"]
    left = found.events.sum() - found.events[top].sum()
    assert costed.missed_bound(90).missed == left


def test_what_is_scored_with_costs_is_not_scored_again_without(found):
    fresh = replace(found)
    assert fresh.costing(COST).suspicion() is fresh.suspicion()


@pytest.mark.parametrize(
    ("cost", "sentence"),
    [
        (COST[:-1], "one number per row, 900 in all"),
        (np.append(COST[:-1], -1), "cost is -1 in row 899"),
        (np.append(COST[:-1], np.nan), "cost is nan in row 899"),
        (["much"] * 900, "cost must contain numbers"),
    ],
)
def test_what_cannot_be_a_cost_is_refused(found, cost, sentence):
    with pytest.raises(InputError, match=sentence):
        found.review(cost=cost)


def test_a_whole_number_is_a_number_of_rows(found):
    assert len(found.review(50)) == 50
    assert len(found.review(np.int64(1))) == 1
    assert len(found.review(1.0)) == 900
    assert len(found.review(5_000)) == 900
    pd.testing.assert_frame_equal(found.review(90), found.review(0.1))
    assert metrics.capture_at(found.events, found.suspicion(), 90) == metrics.capture_at(
        found.events, found.suspicion(), 0.1
    )


def test_counts_and_shares_stand_side_by_side(found):
    evaluation = found.evaluate(budgets=[50, 0.2, 1.0], taus=())
    own = evaluation.frame().query("ranker == 'auto'")
    assert own["budget"].tolist() == [50, 0.2, 1.0]
    assert [type(b) for b in own["budget"]] == [int, float, float]
    assert own["reviewed"].tolist() == [50, 180, 900]
    assert "top 50 rows" in repr(evaluation)
    assert "top 20%" in repr(evaluation)
    assert [c["budget"] for c in evaluation.to_dict()["captures"][:3]] == [50, 0.2, 1.0]


def test_the_bound_of_a_count_is_that_of_its_share(found):
    counted, shared = found.missed_bound(90), found.missed_bound(0.1)
    assert (counted.unreviewed, counted.upper) == (shared.unreviewed, shared.upper)
    assert "riskiest 90 rows, 810 of 900" in repr(counted)
    # Of a batch, the count is of the rows to come.
    of_batch = found.missed_bound(50, batch=500)
    assert of_batch.unreviewed == 810
    assert of_batch.batch_unreviewed == 450
    assert "50 rows of every 500" in repr(of_batch)


@pytest.mark.parametrize("budget", [0, -3, 0.0, 1.5, True, "50", None])
def test_what_cannot_be_a_budget_is_refused_in_one_sentence(found, budget):
    with pytest.raises(InputError, match=r"such as 0\.2, or a number of rows"):
        found.review(budget)
    with pytest.raises(InputError, match=r"such as 0\.2, or a number of rows"):
        found.evaluate(budgets=[budget])
    with pytest.raises(InputError, match=r"such as 0\.2, or a number of rows"):
        found.missed_bound(budget)


def test_new_rows_are_reviewed_by_cost():
    new = datasets.make_planted(200, random_state=5)
    falcon = FalconDiscover("precomputed", random_state=0)
    falcon.fit(PLANTED.X, PLANTED.y, proba=PLANTED.proba)
    cost = np.arange(200.0)
    listed = falcon.review(new.X, 20, cost=cost, proba=new.proba)
    risk = falcon.examine(new.X, proba=new.proba).risk()
    np.testing.assert_array_equal(
        np.sort(listed["row"]), np.sort(np.argsort(-risk * cost, kind="stable")[:20])
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("costs") / "rows.csv"
    PLANTED.X.assign(outcome=PLANTED.y, score=PLANTED.proba, loss=COST).to_csv(path, index=False)
    return path


def test_a_file_is_audited_by_cost(file, tmp_path):
    ran = CliRunner().invoke(
        app,
        ["audit", str(file), "--target", "outcome", "--proba", "score", "--cost", "loss",
         "--budget", "50", "--out", str(tmp_path)],
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    review = pd.read_csv(tmp_path / "review.csv")
    assert len(review) == 50
    assert review["expected_cost"].is_monotonic_decreasing
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["data"]["features"] == PLANTED.X.shape[1]
    assert {"cost", "captured_cost"} <= set(summary["evaluation"]["captures"][0])
    page = (tmp_path / "report.html").read_text()
    assert 'data-key="costs"' in page
    assert 'data-key="review.costs"' in page
    assert 'id="tile-cost"' in page
    assert ranker_name("by_cost") in page
    assert "Share of the cost of confident errors found" in ran.output


def test_costs_that_are_none_are_named(file, tmp_path):
    table = pd.read_csv(file)
    table.loc[[3, 5], "loss"] = [np.nan, -1]
    table.to_csv(tmp_path / "rows.csv", index=False)
    ran = CliRunner().invoke(
        app,
        ["audit", str(tmp_path / "rows.csv"), "--target", "outcome", "--proba", "score",
         "--cost", "loss", "--out", str(tmp_path / "out")],
    )  # fmt: skip
    assert ran.exit_code == 1
    assert "'loss', which holds nothing in row 3 (2 such rows)" in ran.output
