"""Budgets that are tried, and bounds of one small table: formulas stay what they are."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from falcon_discover.evaluation.betting import fewest_groups
from falcon_discover.evaluation.bounds import BUDGETS, Unread
from falcon_discover.evaluation.budget import GRID, ReviewBudget, missed_bound, review_budget
from falcon_discover.evaluation.curves import missed_curve
from falcon_discover.metrics.design import Design

ROWS = 400
EVENTS = np.arange(ROWS) % 20 == 0
SCORE = np.random.default_rng(3).uniform(size=ROWS) + 0.5 * EVENTS
DESIGNS = {
    "rows": None,
    "groups": Design.of(ROWS, None, np.arange(ROWS) // 2),
    "weights": Design.of(ROWS, 1.0 + np.arange(ROWS) % 2, None),
}
# Between two budgets of the band: the bound at 10%, on the rows that 10.5% leave.
UPPER = {"rows": 0.0589716350, "groups": 0.0746610638, "weights": 0.0508754106}


def test_the_budgets_of_curves_and_of_the_search():
    assert BUDGETS[:11] == (
        0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.045, 0.05, 0.06,
    )  # fmt: skip
    assert BUDGETS[-3:] == (0.95, 0.975, 1.0)
    assert GRID[:2] == (0.98, 0.96)
    assert GRID[-7:] == (0.04, 0.02, 0.015, 0.01, 0.005, 0.0025, 0.0)
    assert (len(BUDGETS), len(GRID)) == (63, 54)
    assert missed_curve(EVENTS, SCORE)["budget"].tolist()[:3] == [0.005, 0.01, 0.015]


@pytest.mark.parametrize("name", list(DESIGNS))
def test_bounds_of_one_table(name):
    found = missed_bound(EVENTS, SCORE, budget=0.105, simultaneous=True, design=DESIGNS[name])
    assert found.upper == pytest.approx(UPPER[name], abs=1e-9)
    whole = missed_bound(EVENTS, SCORE, budget=1.0, simultaneous=True, design=DESIGNS[name])
    assert (whole.missed, whole.upper) == (0, 0.0)


def test_the_fewest_groups_that_can_show_a_rate():
    # One group can show that not all rows are errors, and no more.
    assert fewest_groups(1.0, 0.95) == 1
    assert fewest_groups(0.9, 0.95) == 2


def test_rows_that_differ_have_no_twins():
    everything = np.ones(ROWS, dtype=bool)
    found = review_budget(EVENTS, SCORE, everything, max_residual_rate=0.06)
    assert found.twins == 0
    # Nor does a statement speak of twins that is told of none.
    told = {"budget": 0.1, "max_residual_rate": 0.06, "confidence_level": 0.95, "eligible": 1.0}
    other = ReviewBudget(**told, all_eligible=True, tested=found.tested, rows=ROWS, source="rows")
    assert "twin" not in other.text()


def test_a_number_of_rows_is_a_budget_of_these_rows_or_of_the_batch():
    # 40 of these 400 rows are a tenth, and so are 30 of the next 300.
    for batch, tenth in ((None, 40), (300, 30)):
        number, share = (
            missed_bound(EVENTS, SCORE, budget=budget, batch=batch) for budget in (tenth, 0.1)
        )
        assert (number.unreviewed, number.upper) == (share.unreviewed, share.upper)


def test_a_batch_that_is_reviewed_whole_leaves_nothing():
    found = missed_bound(EVENTS, SCORE, budget=1.0, batch=300)
    assert (found.batch_unreviewed, found.batch_missed, found.upper) == (0, 0, 0.0)


def test_what_was_found_cannot_be_changed():
    bound = missed_bound(EVENTS, SCORE, budget=0.1)
    asked = review_budget(EVENTS, SCORE, SCORE > 0, max_residual_rate=0.06)
    for found in (bound, asked, Unread.of(EVENTS, SCORE)):
        with pytest.raises(FrozenInstanceError):
            found.twins = 3
