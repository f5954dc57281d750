"""Bounds for rows in groups and for weighted rows."""

import numpy as np
import pytest
from scipy.special import logsumexp

from falcon_discover.data.twins import Content
from falcon_discover.evaluation.betting import STAKES, betting_bound, fewest_groups
from falcon_discover.evaluation.budget import missed_bound, review_budget
from falcon_discover.evaluation.curves import missed_curve
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.design import Design
from falcon_discover.metrics.intervals import upper_bound
from support.chance import rarely


def _log_capital(missed, unread, largest, rate):
    """The capital as it is defined, group by group."""
    grown = [
        sum(
            np.log(max(1 - stake * (m - rate * u) / ((1 - rate) * largest), 1e-300))
            for m, u in zip(missed, unread, strict=True)
        )
        for stake in STAKES
    ]
    return logsumexp(grown) - np.log(len(STAKES))


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_where_the_capital_reaches_twenty(seed):
    rng = np.random.default_rng(seed)
    unread = rng.integers(1, 9, 60).astype(float)
    missed = np.minimum(unread, rng.integers(0, 3, 60) * (rng.uniform(size=60) < 0.2))
    bound = betting_bound(missed, unread, 8.0, 0.95)
    assert _log_capital(missed, unread, 8.0, bound) == pytest.approx(np.log(20), abs=1e-6)


def test_more_missed_is_never_a_lower_bound():
    unread = np.full(100, 4.0)
    bounds = [
        betting_bound(np.where(np.arange(100) < k, 2.0, 0.0), unread, 4.0, 0.95) for k in range(9)
    ]
    assert (np.diff(bounds) > 0).all()


def test_the_bound_is_above_that_of_independent_rows():
    for count in (0, 3, 20):
        missed = (np.arange(400) < count).astype(float)
        bound = betting_bound(missed, np.ones(400), 1.0, 0.95)
        assert upper_bound(count, 400) < bound < 1.5 * upper_bound(count, 400)


@pytest.mark.parametrize(
    ("missed", "unread", "largest", "bound"),
    [
        ([0.0], [0.0], 1.0, 0.0),
        ([0.0, 0.0], [3.0, 2.0], 0.0, 0.0),
        ([2.0, 2.0], [2.0, 2.0], 2.0, 1.0),
    ],
)
def test_what_cannot_be_missed_and_what_is_all_missed(missed, unread, largest, bound):
    assert betting_bound(np.array(missed), np.array(unread), largest, 0.95) == pytest.approx(bound)


def test_continuous_weights_are_rounded_to_the_safe_side():
    rng = np.random.default_rng(0)
    unread = rng.uniform(0.2, 3.0, 500)
    missed = np.where(rng.uniform(size=500) < 0.03, unread, 0.0)
    bound = betting_bound(missed, unread, float(unread.max()), 0.95)
    exact = _log_capital(missed, unread, float(unread.max()), bound)
    assert np.log(20) <= exact <= np.log(20) + 0.2


def test_as_many_groups_suffice_as_are_said_to():
    needed = fewest_groups(0.02, 0.95)
    for groups, enough in ((needed, True), (needed - 1, False)):
        one = np.ones(groups)
        assert (betting_bound(0 * one, one, 1.0, 0.95) <= 0.02) is enough


def _rows(seed, groups=400, size=8):
    """A few groups are mostly wrong; scores know nothing."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), size)
    bad = rng.uniform(size=groups) < 0.03
    events = rng.uniform(size=len(group)) < np.where(bad[group], 0.8, 0.004)
    return events, rng.uniform(size=len(group)), group


RATE = 0.03 * 0.8 + 0.97 * 0.004


def test_the_bound_holds_for_groups_where_that_of_rows_fails(global_random_seed):
    failed, alone = [], []
    for seed in range(200 * global_random_seed, 200 * global_random_seed + 200):
        events, score, group = _rows(seed)
        design = Design.of(len(group), None, group)
        failed.append(missed_bound(events, score, budget=0.1, design=design).upper < RATE)
        alone.append(missed_bound(events, score, budget=0.1).upper < RATE)
    assert rarely(failed, 0.05)
    assert np.mean(alone) > 0.1


def test_the_statement_says_which_bound_it_is():
    events, score, group = _rows(0)
    design = Design.of(len(group), None, group)
    eligible = np.ones(len(group), dtype=bool)
    ranked = events + score
    found = review_budget(events, ranked, eligible, max_residual_rate=0.06, design=design)
    assert "(betting bound on groups)" in repr(found)
    assert "independent groups like these (none with more than 8 confident predictions)" in repr(
        found
    )
    assert found.to_dict()["method"] == "betting bound on groups"
    missed = missed_bound(events, score, budget=0.1, design=design)
    assert "(betting bound on groups)" in repr(missed)
    weighted = Design.of(len(group), np.where(events, 1.0, 3.0), None)
    bound = missed_bound(events, score, budget=0.1, design=weighted)
    assert "(betting bound on weighted rows)" in repr(bound)
    assert "above 3)" in repr(bound)


def test_too_few_groups_are_counted_in_groups():
    events, score, group = _rows(0, groups=30)
    design = Design.of(len(group), None, group)
    eligible = np.ones(len(group), dtype=bool)
    found = review_budget(events & False, score, eligible, max_residual_rate=0.01, design=design)
    assert f"in {fewest_groups(0.01, 0.95)} groups of the largest size" in repr(found)


def test_there_is_no_bound_for_a_batch():
    events, score, group = _rows(0)
    for design, what in (
        (Design.of(len(group), None, group), "rows in groups"),
        (Design.of(len(group), np.full(len(group), 2.0), None), "weighted rows"),
    ):
        with pytest.raises(InputError, match=f"batch is 100, .* {what}"):
            missed_bound(events, score, budget=0.1, design=design, batch=100)


def test_what_weights_leave_is_what_repeated_rows_leave():
    rng = np.random.default_rng(0)
    events, score = rng.uniform(size=300) < 0.05, rng.integers(0, 40, 300) / 40
    weight = rng.integers(1, 5, 300)
    design = Design.of(300, weight.astype(float), None)
    again = np.repeat(np.arange(300), weight)
    for budget in (0.05, 0.2, 0.5):
        found = missed_bound(events, score, budget=budget, design=design)
        alike = Design.of(len(again), None, again)
        repeated = missed_bound(events[again], score[again], budget=budget, design=alike)
        assert (found.rows, found.unreviewed) == (repeated.rows, repeated.unreviewed)
        assert found.missed == pytest.approx(repeated.missed, abs=1e-9)
        # A row and its copies are one unit either way.
        assert found.upper == pytest.approx(repeated.upper, abs=1e-9)


def test_the_band_lies_above_the_bounds():
    events, score, group = _rows(1)
    design = Design.of(len(group), None, group)
    curve = missed_curve(events, score, [0.05, 0.2, 0.5], simultaneous=True, design=design)
    assert (curve["band"] > curve["upper"]).all()
    assert (curve["upper"] > curve["rate"]).all()


def test_copies_of_groups_do_not_narrow_the_bound():
    events, score, group = _rows(2, groups=100)
    twice = np.tile(np.arange(len(group)), 2)
    hashes = np.arange(len(group), dtype=np.uint64)
    bounds = []
    for rows, groups in ((np.arange(len(group)), group), (twice, np.arange(len(twice)))):
        content = Content.of(hashes[rows], 0, events[rows], score[rows])
        design = Design.of(len(rows), None, groups)
        assert design is not None
        bounds.append(
            missed_bound(
                events[rows], score[rows], budget=0.1, design=design, content=content
            ).upper
        )
    alone = Design.of(len(group), None, np.arange(len(group)))
    content = Content.of(hashes, 0, events, score)
    once = missed_bound(events, score, budget=0.1, design=alone, content=content).upper
    assert bounds[1] == pytest.approx(once, rel=0.02)
