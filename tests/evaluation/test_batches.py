"""Promises about the next rows, about budgets chosen by looking, and about rows with twins."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom, hypergeom
from typer.testing import CliRunner

from falcon_discover import DataWarning, InputError, datasets, discover
from falcon_discover.cli import app
from falcon_discover.data.twins import Content
from falcon_discover.evaluation.bounds import (
    BAND,
    BUDGETS,
    most_in_batch,
    safe_level,
    unread,
)
from falcon_discover.evaluation.budget import GRID, missed_bound, review_budget
from falcon_discover.evaluation.curves import missed_curve
from falcon_discover.metrics import review_order, review_size
from falcon_discover.metrics.intervals import upper_bound
from support.chance import rarely


def population(n: int, seed: int):
    """Rows whose risk falls with their score; three in four are eligible."""
    rng = np.random.default_rng(seed)
    eligible = rng.uniform(size=n) < 0.75
    score = np.where(eligible, rng.beta(0.5, 12, n), 0.0)
    return rng.uniform(size=n) < score, score, eligible


@pytest.mark.parametrize(("count", "n", "batch"), [(0, 300, 300), (7, 900, 100), (3, 50, 2_000)])
def test_the_prediction_bound_is_the_largest_plausible_number(count, n, batch):
    most = most_in_batch(count, n, batch, 0.95)
    chance = [hypergeom.cdf(count, n + batch, count + k, n) for k in (most, most + 1)]
    assert chance[0] > 0.05 >= chance[1]


@pytest.mark.parametrize("rate", [0.002, 0.01, 0.05])
def test_a_batch_exceeds_its_bound_in_at_most_five_of_a_hundred(rate):
    rng = np.random.default_rng(0)
    known, later = rng.binomial(1_000, rate, 4_000), rng.binomial(300, rate, 4_000)
    bound = {count: most_in_batch(int(count), 1_000, 300) for count in np.unique(known)}
    exceeded = np.mean([b > bound[a] for a, b in zip(known, later, strict=True)])
    assert exceeded <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4_000)


def test_for_very_many_rows_to_come_the_batch_is_the_long_run():
    assert most_in_batch(5, 800, 10**6) / 10**6 == pytest.approx(upper_bound(5, 800), rel=0.01)


@settings(max_examples=30, deadline=None)
@given(st.integers(20, 400), st.integers(5, 200), st.integers(0, 10), st.integers(1, 5))
def test_a_batch_test_of_one_budget_is_an_integral_over_the_rate(n, batch, count, over):
    """The identity that the level of a fixed order rests on."""
    beta_binomial = betabinom.cdf(count, n, over, batch - over + 1)
    assert hypergeom.cdf(count, n + batch, count + over, n) == pytest.approx(beta_binomial)


def test_the_level_of_a_fixed_order_is_raised_hardly_at_all():
    rows = tuple((unread(3_000, b), unread(300, b)) for b in GRID if b < 0.7)
    level = safe_level(rows, 0.03)
    assert 0.95 < level < 0.955


def test_a_batch_asks_for_more_review_the_smaller_it_is():
    rows = population(4_000, 0)
    budgets = [
        review_budget(*rows, max_residual_rate=0.01, batch=batch).budget
        for batch in (200, 2_000, 10**6, None)
    ]
    assert budgets == sorted(budgets, reverse=True)
    assert budgets[0] > budgets[-1]


def test_the_next_batch_keeps_what_was_promised():
    """And the budget for the long run does not: batches scatter around their rate."""
    target, trials, size = 0.01, 100, 300
    exceeded = dict.fromkeys((None, size), 0)
    for seed in range(trials):
        known, later = population(2_000, seed), population(size, 10_000 + seed)
        for batch in exceeded:
            found = review_budget(*known, max_residual_rate=target, batch=batch)
            left = review_order(later[1])[review_size(size, found.budget) :]
            exceeded[batch] += later[0][left].mean() > target
    assert exceeded[size] / trials <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / trials)
    assert exceeded[None] > 2 * exceeded[size]


def test_sentences_say_long_run_or_batch_and_never_both():
    rows = population(4_000, 0)
    long_run = str(review_budget(*rows, max_residual_rate=0.01))
    batch = str(review_budget(*rows, max_residual_rate=0.01, batch=300))
    assert "in the long run, assuming independent rows" in long_run
    assert "in the next 300 rows, assuming independent rows" in batch
    assert "next" not in long_run
    assert "long run" not in batch
    bounds = missed_bound(*rows[:2], budget=0.1), missed_bound(*rows[:2], budget=0.1, batch=300)
    assert "their rate in the long run is at most" in str(bounds[0])
    assert "among the next 300 rows" in str(bounds[1])
    assert "long run" not in str(bounds[1])
    assert bounds[1].upper == bounds[1].batch_missed / bounds[1].batch_unreviewed


def test_too_few_rows_for_a_batch_ask_for_all_eligible_ones():
    none = np.zeros(400, dtype=bool)
    found = review_budget(none, np.arange(400.0), ~none, max_residual_rate=1e-4, batch=100)
    assert found.all_eligible
    assert "400 labelled rows are too few" in str(found)
    # Four thousand without an error are enough to expect none among the next hundred.
    none = np.zeros(4_000, dtype=bool)
    found = review_budget(none, np.arange(4_000.0), ~none, max_residual_rate=1e-4, batch=100)
    assert "at most 0 of the 100 unreviewed" in str(found)


@pytest.mark.parametrize("batch", [0, -3, 2.5, True, "300", 10**22])
def test_impossible_batches_are_named(batch):
    with pytest.raises(InputError, match="batch is"):
        review_budget(*population(50, 0), max_residual_rate=0.1, batch=batch)


def test_the_band_lies_above_each_bound_and_covers_every_budget():
    events, score, _ = population(4_000, 1)
    curve = missed_curve(events, score, simultaneous=True)
    kept = curve["unreviewed"] > 0
    assert (curve["band"] > curve["upper"])[kept].all()
    at = missed_bound(events, score, budget=0.10, simultaneous=True)
    assert at.upper == upper_bound(at.missed, at.unreviewed, 1 - 0.05 / len(BAND))
    assert "any budget" in str(at)
    assert "any budget" not in str(missed_bound(events, score, budget=0.10))
    # Between two budgets of the grid: no more is missed than at the smaller, of fewer rows.
    between = missed_bound(events, score, budget=0.105, simultaneous=True)
    smaller = curve["band"][list(BUDGETS).index(0.1)]
    assert between.upper == pytest.approx(smaller * 3_600 / between.unreviewed)


def test_any_budget_read_off_the_band_holds(global_random_seed):
    """Over many samples the band is violated anywhere in at most 5%; single bounds in more."""
    true_events, true_score, _ = population(400_000, 99)
    found = np.cumsum(true_events[review_order(true_score)])
    sizes = np.array([review_size(400_000, b) for b in BUDGETS[:-1]])
    truth = (found[-1] - found[sizes - 1]) / (400_000 - sizes)
    curves = [
        missed_curve(*population(1_500, seed)[:2], simultaneous=True).iloc[:-1]
        for seed in range(100 + 60 * global_random_seed, 160 + 60 * global_random_seed)
    ]
    violated = {
        name: [(truth > curve[name].to_numpy()).any() for curve in curves]
        for name in ("upper", "band")
    }
    assert rarely(violated["band"], 0.05)
    assert sum(violated["upper"]) > sum(violated["band"])


def copied(events, score, eligible, copies: int):
    """Each row several times, and what is known of its content."""
    rows = np.repeat(np.arange(len(events)), copies)
    content = Content.of(rows.astype(np.uint64), 0, events[rows], score[rows])
    return (events[rows], score[rows], eligible[rows]), content


def test_copies_of_rows_prove_nothing():
    rows = population(1_000, 0)
    single = review_budget(*rows, max_residual_rate=0.02)
    twice, content = copied(*rows, 2)
    found = review_budget(*twice, max_residual_rate=0.02, content=content)
    assert found.twins == found.to_dict()["twins"] == 2_000
    assert found.budget >= single.budget
    assert "2,000 labelled rows have a twin" in str(found)
    fooled = review_budget(*twice, max_residual_rate=0.02)
    assert fooled.budget < single.budget
    bound = missed_bound(*twice[:2], budget=0.1, content=content)
    assert bound.upper == missed_bound(*rows[:2], budget=0.1).upper
    assert bound.twins == 2_000


def test_a_few_twins_leave_the_bound_with_all_rows_where_that_is_larger():
    events, score, _ = population(1_000, 0)
    worst = int(np.flatnonzero(events)[np.argmin(score[events])])
    rows = np.append(np.arange(1_000), worst)
    content = Content.of(rows.astype(np.uint64), 0, events[rows], score[rows])
    bound = missed_bound(events[rows], score[rows], budget=0.05, content=content)
    assert bound.upper == missed_bound(events[rows], score[rows], budget=0.05).upper
    assert bound.upper > missed_bound(events, score, budget=0.05).upper
    assert bound.twins == 2


def test_many_twins_are_warned_about_once_with_what_to_do():
    planted = datasets.make_planted(400, random_state=0)
    X = pd.concat([planted.X, planted.X.iloc[:20]], ignore_index=True)
    y = np.append(planted.y, planted.y[:20])
    p = np.append(planted.proba, planted.proba[:20])
    with pytest.warns(DataWarning) as caught:
        found = discover(X, y, p, ranker="gated_confidence", random_state=0)
    told = [str(w.message) for w in caught if "have a twin" in str(w.message)]
    assert len(told) == 1
    assert "40 of 420 labelled rows" in told[0]
    assert "remove them" in told[0]
    assert found.missed_bound(0.1).twins == 40


def test_the_report_and_its_summary_speak_of_the_batch_that_was_asked_for(tmp_path):
    planted = datasets.make_planted(600, random_state=0)
    found = discover(planted.X, planted.y, planted.proba, ranker="gated_confidence", random_state=0)
    page = found.report(tmp_path / "report", max_residual_rate=0.05, batch=300, contributions=False)
    summary = json.loads((page.parent / "summary.json").read_text())
    assert summary["guarantee"]["batch"] == summary["missed"]["batch"] == 300
    assert "in the next 300 rows" in summary["guarantee"]["statement"]
    assert "in the next 300 rows" in page.read_text(encoding="utf-8")
    line = summary["curves"]["missed"][0]
    assert line["rate"] < line["upper"] < line["band"]
    assert 'id="figure-missed"' in page.read_text(encoding="utf-8")


def test_the_command_line_takes_a_batch(tmp_path):
    planted = datasets.make_planted(400, random_state=0)
    planted.X.assign(y=planted.y, score=planted.proba).to_csv(tmp_path / "rows.csv", index=False)
    asked = ["audit", str(tmp_path / "rows.csv"), "--target", "y", "--proba", "score"]
    asked += ["--ranker", "gated_confidence", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*asked, "--max-residual-rate", "0.05", "--batch", "300"])
    assert done.exit_code == 0, done.output
    assert "in the next 300 rows" in done.output
    refused = CliRunner().invoke(app, [*asked, "--batch", "0"])
    assert refused.exit_code == 2
