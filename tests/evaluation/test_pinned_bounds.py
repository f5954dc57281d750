"""Budgets that are tried, and bounds of one small table: formulas stay what they are."""

from __future__ import annotations

import numpy as np
import pytest

from falcon_discover.evaluation.betting import fewest_groups
from falcon_discover.evaluation.bounds import BUDGETS
from falcon_discover.evaluation.budget import GRID, missed_bound, review_budget
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
