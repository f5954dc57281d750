"""Regions are confirmed by rows that had no part in finding them, and each row counts once."""

import numpy as np
import pandas as pd
import pytest

from falcon_discover import datasets
from falcon_discover.data.table import Table
from falcon_discover.metrics import confidence
from falcon_discover.rankers.training import LabelledState
from falcon_discover.regions.confirm import cautious_p_value, excess_p_value, halves, holm, twins_of
from falcon_discover.regions.rules import find_rules, find_together
from falcon_discover.regions.search import find_regions
from falcon_discover.signals.state import State


def drawn(shape, n_rows, seed, copies=1, **options):
    """A planted table: its frame, kinds, confidence and confident errors."""
    planted = datasets.make_planted(n_rows, shape=shape, random_state=seed, **options)
    rows = np.tile(np.arange(n_rows), copies)
    table = Table.from_input(planted.X.iloc[rows].reset_index(drop=True))
    p, y = planted.proba[rows], planted.y[rows]
    sure = confidence(p)
    return table.frame, table.kinds, sure, ((p >= 0.5) != y) & (sure >= 0.9)


def test_copies_of_rows_confirm_nothing():
    """With copies in both halves most of such draws have a confirmed region."""
    confirmed = [
        any(rule.confirmed for rule in find_rules(*drawn("none", 700, seed, copies=3), seed=seed))
        for seed in range(16)
    ]
    # The true rate is at most 5%; four of 16 would have a chance of 1 in 140.
    assert sum(confirmed) <= 3


def test_twins_are_never_in_both_halves_and_ordinary_rows_are_halved():
    frame, _, sure, events = drawn("box", 800, 1, copies=2)
    eligible = sure >= 0.9
    first, second = halves(frame, events, eligible, seed=3)
    np.testing.assert_array_equal(first, ~second)
    twins = twins_of(frame, events, eligible)
    assert not set(twins[first]) & set(twins[second])
    for own in (events, eligible & ~events, ~eligible):
        assert abs(first[own].sum() - second[own].sum()) <= 2
    assert (halves(frame, events, eligible, seed=4)[0] != first).any()


def test_rows_kept_for_the_test_are_not_tested_if_a_twin_of_theirs_finds():
    """Validation rows may be copies of training rows, which have found the region."""
    frame, kinds, sure, events = drawn("box", 2_000, 5, copies=2)
    kept = np.arange(len(events)) >= 2_000
    assert find_rules(frame, kinds, sure, events, confirmation=kept)[0].p_value == 1.0


def test_a_region_with_copies_counts_rows_but_is_tested_with_one_of_each_set():
    frame, kinds, sure, events = drawn("missing", 2_000, 2, copies=3)
    rule = find_rules(frame, kinds, sure, events)[0]
    assert rule.confirmation.events == 3 * rule.confirmed_once.events
    assert rule.confirmation.eligible == 3 * rule.confirmed_once.eligible
    alone = find_rules(*drawn("missing", 2_000, 2))[0]
    assert alone.confirmed_once is None
    assert rule.p_value == pytest.approx(alone.p_value)


def test_the_p_value_is_the_larger_one_of_all_rows_and_of_one_of_each_set():
    rng = np.random.default_rng(0)
    sure = rng.uniform(0.9, 1, 400)
    inside = rng.uniform(size=400) < 0.2
    events = rng.uniform(size=400) < np.where(inside, 0.3, 0.1)
    twice = np.repeat(np.arange(400), 2)
    nothing = np.zeros(400, dtype=int)
    once = excess_p_value(events, inside, nothing)
    assert excess_p_value(events[twice], inside[twice], nothing[twice]) < once / 2
    both = cautious_p_value(events[twice], inside[twice], sure[twice], twice, "all")
    assert both == pytest.approx(once)
    assert cautious_p_value(events, inside, sure, np.arange(400), "all") == once


@pytest.mark.parametrize("shape", ["box", "missing"])
def test_regions_do_not_depend_on_the_order_of_rows(shape):
    frame, kinds, sure, events = drawn(shape, 2_500, 7)
    by_label = np.argsort(events, kind="stable")
    rules = find_rules(frame, kinds, sure, events)
    again = find_rules(frame.iloc[by_label], kinds, sure[by_label], events[by_label])
    assert [rule.words for rule in again] == [rule.words for rule in rules]
    seen = [list(vars(rule.confirmation).values()) for rule in rules]
    np.testing.assert_allclose([list(vars(rule.confirmation).values()) for rule in again], seen)


def test_each_half_confirms_what_is_found_on_the_other_and_a_region_is_told_once():
    frame, kinds, sure, events = drawn("categorical", 3_000, 4)
    both = halves(frame, events, sure >= 0.9, seed=0)
    one, other = (find_rules(frame, kinds, sure, events, confirmation=half)[0] for half in both)
    assert one.confirmed
    assert other.confirmed
    told = [rule for rule in find_rules(frame, kinds, sure, events, seed=0) if rule.confirmed]
    (rule,) = told
    (same,) = [way for way in (one, other) if way.words == rule.words]
    # Half of the level for each direction; the number of rules tested is that of its direction.
    assert rule.p_value == same.p_value
    assert rule.adjusted_p == pytest.approx(2 * same.adjusted_p)


def test_two_searches_share_one_error_level():
    frame, kinds, sure, events = drawn("box", 3_000, 8, error_density=0.2)
    kept = halves(frame, events, sure >= 0.9, seed=0)[0]
    together = find_together(
        frame, kinds, sure, events, {"confidence": 6, "all": 3}, confirmation=kept
    )
    alone = find_rules(frame, kinds, sure, events, confirmation=kept)
    rules = [*together["confidence"], *together["all"]]
    assert len(together["all"]) >= 1
    np.testing.assert_allclose(
        [rule.adjusted_p for rule in rules], holm(np.array([rule.p_value for rule in rules]))
    )
    assert together["confidence"][0].adjusted_p > alone[0].adjusted_p


def test_an_audit_tests_both_kinds_of_regions_at_one_level_and_with_validation_rows():
    planted = datasets.make_planted(2_000, shape="box", random_state=3)
    table = Table.from_input(planted.X)
    labelled = LabelledState(State.from_scores(planted.proba), planted.y.astype(np.int8))
    sure, events = labelled.state.confidence, labelled.events(0.9)

    def found(n):
        """Regions of the first 1,200 rows, with the others up to `n` as validation rows."""
        rows = table.frame[:n], table.kinds, sure[:n], events[:n]
        return find_regions(*rows, n_fit=1_200, tau=0.9, seed=0)[0]

    rules = found(2_000)
    (rule,) = [rule for rule in rules if rule.confirmed]
    assert rule.discovery.rows + rule.confirmation.rows == len(rule.rows)
    assert rule.confirmation.eligible > 1.5 * rule.discovery.eligible
    assert rule.p_value < found(1_200)[0].p_value


def test_an_empty_table_of_events_has_no_rule_in_any_search():
    X = pd.DataFrame({"a": np.arange(100.0)})
    table = Table.from_input(X)
    none = np.zeros(100, dtype=bool)
    found = find_together(table.frame, table.kinds, np.full(100, 0.99), none, {"all": 3})
    assert found == {"all": []}
