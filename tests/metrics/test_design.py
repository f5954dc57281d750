"""Intervals of rows that have weights or come in groups."""

import math

import numpy as np
import pytest

from falcon_discover.metrics.clustered import area_interval, difference_interval
from falcon_discover.metrics.design import Design, rate_interval
from falcon_discover.metrics.intervals import auroc_interval, newcombe, share_interval
from support.chance import often


def _beta_binomial(rng, groups, size, rate, likeness):
    a, b = rate * (1 / likeness - 1), (1 - rate) * (1 / likeness - 1)
    group = np.repeat(np.arange(groups), size)
    return rng.uniform(size=len(group)) < rng.beta(a, b, groups)[group], group


def test_no_weights_and_no_groups_are_no_design():
    assert Design.of(3, None, None) is None


@pytest.mark.parametrize("count", [0, 1, 5, 50, 99, 100])
def test_groups_of_one_row_have_nearly_the_exact_interval(count):
    hits = np.arange(100) < count
    low, high = Design.of(100, None, np.arange(100)).share_interval(hits)
    exact = share_interval(count, 100)
    assert (low, high) == pytest.approx(exact, abs=0.004)


@pytest.mark.parametrize(
    ("groups", "size", "rate", "likeness"), [(100, 10, 0.05, 0.2), (50, 20, 0.02, 0.3)]
)
def test_intervals_of_groups_hold_the_rate_where_those_of_rows_do_not(
    groups, size, rate, likeness, global_random_seed
):
    rng = np.random.default_rng(global_random_seed)
    held, alone = [], []
    for _ in range(300):
        hits, group = _beta_binomial(rng, groups, size, rate, likeness)
        low, high = Design.of(len(hits), None, group).share_interval(hits)
        held.append(low <= rate <= high)
        low, high = share_interval(int(hits.sum()), len(hits))
        alone.append(low <= rate <= high)
    assert often(held, 0.95)
    assert np.mean(alone) < 0.85


def test_a_down_sampled_table_holds_the_full_rate(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    held = []
    for _ in range(300):
        label = rng.uniform(size=4_000) < 0.2
        hits = rng.uniform(size=4_000) < np.where(label, 0.04, 0.015)
        kept = label | (rng.uniform(size=4_000) < 0.05)
        weight = np.where(label, 1.0, 20.0)[kept]
        low, high = Design.of(int(kept.sum()), weight, None).share_interval(hits[kept])
        held.append(low <= 0.2 * 0.04 + 0.8 * 0.015 <= high)
    assert often(held, 0.95)


def test_group_labels_and_the_order_of_rows_do_not_matter():
    rng = np.random.default_rng(0)
    hits, group = _beta_binomial(rng, 30, 5, 0.2, 0.3)
    order = rng.permutation(len(hits))
    first = Design.of(150, None, group).share_interval(hits)
    again = Design.of(150, None, 1_000 - group[order]).share_interval(hits[order])
    assert first == pytest.approx(again, abs=1e-12)


def test_rows_of_no_weight_do_not_count():
    hits = np.array([True, False, True, True])
    weight = np.array([1.0, 2.0, 3.0, 0.0])
    found = Design.of(4, weight, None)
    assert found.mean(hits) == found.take(weight > 0).mean(hits[:3])
    low, high = found.share_interval(hits)
    assert (low, high) == pytest.approx(found.take(weight > 0).share_interval(hits[:3]), abs=0.05)


def test_without_rows_there_is_no_interval():
    found = Design.of(3, np.array([1.0, 2.0, 1.0]), None)
    nowhere = np.zeros(3, dtype=bool)
    assert all(math.isnan(end) for end in rate_interval(found, nowhere, nowhere))


def test_the_interval_of_an_auroc_widens_with_groups():
    rng = np.random.default_rng(0)
    events, group = _beta_binomial(rng, 80, 10, 0.1, 0.3)
    shared = rng.normal(size=80)[group]
    score = events + shared + 0.5 * rng.normal(size=800)
    low, high = area_interval(events, score, Design.of(800, None, group))
    alone = auroc_interval(events, score)
    assert low < alone[0] < alone[1] < high
    alike = area_interval(events, score, Design.of(800, None, np.arange(800)))
    assert alike == pytest.approx(alone, abs=0.01)


def test_two_scores_that_order_alike_do_not_differ():
    events, score = np.arange(40) % 4 == 0, np.arange(40.0)
    design = Design.of(40, None, np.arange(40) // 2)
    assert difference_interval(events, score, 3 * score, design) == (0.0, 0.0, 0.0)


def test_an_event_that_outweighs_the_other_counts_as_one():
    events = np.arange(32) < 2
    weight = np.where(np.arange(32) == 0, 1e6, 1.0)
    found = area_interval(events, -np.arange(32.0), Design.of(32, weight, None))
    # All 30 other rows come after both events.
    assert found == pytest.approx(newcombe(1.0, 1, 30, 0.95), abs=1e-4)


def test_events_of_one_group_have_no_interval():
    events = np.arange(40) < 4
    design = Design.of(40, None, np.arange(40) // 4)
    assert all(math.isnan(end) for end in area_interval(events, np.arange(40.0), design))


def test_groups_that_are_all_alike_and_a_single_group_have_an_interval():
    hits = np.arange(40) % 4 == 0
    alike = Design.of(40, None, np.arange(40) // 4).share_interval(hits)
    assert alike[0] < 0.25 < alike[1]
    single = Design.of(40, None, np.zeros(40, dtype=int)).share_interval(hits)
    assert single[0] < 0.02
    assert single[1] > 0.9


def test_words_say_what_the_figures_rest_on():
    design = Design.of(4, np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1]))
    assert "4 rows stand for 10" in design.words()
    assert "2 groups" in design.words()
