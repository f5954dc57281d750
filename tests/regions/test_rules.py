"""Regions in words: found again where planted, not found where there is nothing."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from falcon_discover import FalconDiscover, datasets, discover
from falcon_discover.data.table import Table
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import confidence
from falcon_discover.regions.bins import MAX_LEVELS, columns
from falcon_discover.regions.conditions import (
    IsMissing,
    OneOf,
    Range,
    in_words,
    members,
    short_names,
    simple_number,
    simple_time,
)
from falcon_discover.regions.confirm import (
    STRATA,
    excess_p_value,
    expected_events,
    holm,
    strata,
)
from falcon_discover.regions.rules import find_rules
from falcon_discover.regions.scan import BOUND_COST, COLUMN_COST, Counts, Scan, likelihood_ratio


def rules_of(X, sure, events, **options):
    table = Table.from_input(X)
    return find_rules(table.frame, table.kinds, np.asarray(sure), np.asarray(events), **options)


def planted_rules(shape, seed, n_rows=4_000, **options):
    planted = datasets.make_planted(n_rows, shape=shape, random_state=seed)
    sure = confidence(planted.proba)
    events = ((planted.proba >= 0.5) != planted.y) & (sure >= 0.9)
    return planted, rules_of(planted.X, sure, events, seed=seed, **options)


def jaccard(rule, region):
    inside = np.zeros(len(region), dtype=bool)
    inside[rule.rows] = True
    return (inside & region).sum() / (inside | region).sum()


@pytest.mark.parametrize("shape", ["box", "categorical", "missing"])
@pytest.mark.parametrize("seed", range(4))
def test_a_planted_region_is_the_first_and_the_only_confirmed_one(shape, seed):
    planted, rules = planted_rules(shape, seed)
    assert rules[0].confirmed
    assert jaccard(rules[0], planted.region) >= 0.8
    assert {condition.column for condition in rules[0].conditions} == set(planted.columns)
    assert not any(rule.confirmed for rule in rules[1:])


def test_without_a_region_hardly_any_is_confirmed():
    confirmed = [
        any(rule.confirmed for rule in planted_rules("none", seed, 2_500)[1]) for seed in range(40)
    ]
    # The true rate is at most 5 %; six of 40 would have a chance of 1 in 70.
    assert sum(confirmed) <= 5


def test_what_the_models_own_confidence_foresees_is_no_region_beyond_it():
    """Errors as frequent as the confidence says gather where it is low: only "all" tells that."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(size=6_000), "b": rng.uniform(size=6_000)})
    sure = 0.9 + 0.1 * X["a"].to_numpy() ** 0.5
    events = rng.uniform(size=6_000) > sure
    assert not any(rule.confirmed for rule in rules_of(X, sure, events))
    dense = rules_of(X, sure, events, against="all")
    assert dense[0].confirmed
    assert dense[0].words.startswith("a <= 0.")


def test_figures_are_counts_of_the_rows_that_the_words_select():
    planted, rules = planted_rules("categorical", 3)
    rule = rules[0]
    frame = Table.from_input(planted.X).frame
    np.testing.assert_array_equal(np.flatnonzero(rule.holds(frame)), rule.rows)
    assert rule.discovery.rows + rule.confirmation.rows == len(rule.rows)
    for part in (rule.discovery, rule.confirmation):
        assert part.rate == part.events / part.eligible
        assert part.low < part.rate < part.high
        assert part.events > part.expected
        assert part.lift > 3


def test_a_rule_is_not_confirmed_by_the_errors_of_one_before_it():
    """Without care, anything that overlaps a strong region would be confirmed with it."""
    confirmed = sum(
        rule.confirmed
        for seed in range(10, 22)
        for rule in planted_rules("box", seed, 3_000)[1][1:]
    )
    assert confirmed <= 2


def test_rules_do_not_depend_on_the_index_or_on_the_order_of_columns():
    planted, rules = planted_rules("box", 1)
    sure = confidence(planted.proba)
    events = ((planted.proba >= 0.5) != planted.y) & (sure >= 0.9)
    shuffled = planted.X[planted.X.columns[::-1]].set_axis(np.zeros(len(sure)), axis=0)
    again = rules_of(shuffled, sure, events, seed=1)
    assert again[0].confirmation == rules[0].confirmation


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"constant": np.ones(300)}),
        pd.DataFrame({"gone": np.full(300, np.nan)}),
        pd.DataFrame({"id": [f"row {i}" for i in range(300)]}),
        pd.DataFrame({"huge": np.linspace(-1e149, 1e149, 300)}),
        pd.DataFrame({"zero or one": np.tile([0.0, 1.0], 150)}),
    ],
    ids=lambda X: X.columns[0],
)
def test_odd_columns_give_no_rule_and_no_error(X):
    sure = np.full(300, 0.95)
    events = np.tile([True, False, False, False, False, False], 50)
    assert not [rule for rule in rules_of(X, sure, events) if rule.confirmed]


@pytest.mark.parametrize("n_events", [0, 1, 4])
def test_with_almost_no_errors_there_is_nothing_to_find(n_events):
    X = pd.DataFrame({"a": np.arange(200.0)})
    assert rules_of(X, np.full(200, 0.99), np.arange(200) < n_events) == []
    assert rules_of(X[:1], np.full(1, 0.99), np.ones(1, bool)) == []


def test_an_unknown_comparison_is_refused():
    with pytest.raises(InputError, match="against is 'nothing'"):
        planted_rules("box", 0, against="nothing")


def test_dates_and_rare_categories_are_told_in_their_own_units():
    rng = np.random.default_rng(1)
    n = 6_000
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, n), "D")
    # Many rare shops; the bad one is frequent enough to have a name.
    shop = np.where(rng.uniform(size=n) < 0.2, "north", [f"s{i}" for i in rng.integers(0, 400, n)])
    X = pd.DataFrame({"day": days, "shop": shop})
    late = (X["day"] >= "2024-10-01").to_numpy() & (shop == "north")
    events = rng.uniform(size=n) < np.where(late, 0.5, 0.01)
    rule = rules_of(X, np.full(n, 0.95), events)[0]
    day, place = rule.conditions
    assert abs(pd.Timestamp(day.low, unit="s") - pd.Timestamp("2024-10-01")).days <= 5
    assert "north" in place.levels
    assert len(place.levels) <= 2
    assert str(day).startswith("day >= 2024-")


def test_conditions_hold_for_the_rows_they_name():
    frame = Table.from_input(
        pd.DataFrame({"age": [20.0, 31.0, np.nan, 40.0], "job": ["clerk", None, "cook", "new"]})
    ).frame
    cases = {
        Range("age", None, 31.0): [1, 1, 0, 0],
        Range("age", 25.0, 35.0): [0, 1, 0, 0],
        Range("age", None, None): [1, 1, 0, 1],
        IsMissing("age"): [0, 0, 1, 0],
        OneOf("job", ("clerk",)): [1, 0, 0, 0],
        OneOf("job", ("clerk", None)): [1, 1, 0, 0],
        OneOf("job", ("clerk", "cook"), negated=True): [0, 1, 0, 1],
    }
    for condition, expected in cases.items():
        assert condition.holds(frame).astype(int).tolist() == expected, str(condition)
    both = (Range("age", None, 31.0), OneOf("job", ("clerk", None)))
    assert members(both, frame).tolist() == [True, True, False, False]
    assert in_words(both) == "age <= 31 and job in {clerk, missing}"


def test_words_stay_on_one_line_and_names_short():
    condition = OneOf("a\nb", ("x" * 10_000,))
    assert str(condition) == f"a b is {'x' * 10_000}"
    (name,) = short_names([[condition]])
    assert name == f"a b is {'x' * 20}…{'x' * 19}"


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9))
def test_a_simple_number_lies_within_its_bounds(low, width):
    assert low <= simple_number(low, low + width) <= low + width


def test_a_simple_time_is_a_midnight_if_there_is_one():
    day = 86_400.0
    assert simple_time(0.3 * day, 1.2 * day) == day
    assert simple_time(3_700.0, 8_000.0) == 7_200.0


def test_every_row_is_in_one_cell_and_rare_categories_share_one():
    frame = Table.from_input(
        pd.DataFrame({"n": [3.0, 1.0, np.nan, 2.0] * 50, "c": [f"v{i}" for i in range(200)]})
    )
    number, category = columns(frame.frame, frame.kinds)
    assert number.n_cells == 4
    assert number.gap == 3
    assert number.codes[:4].tolist() == [2, 0, 3, 1]
    assert category.n_cells == MAX_LEVELS + 1
    assert (category.codes == MAX_LEVELS).sum() == 200 - MAX_LEVELS


def test_the_p_value_is_the_share_of_shuffles_with_as_many_events():
    rng = np.random.default_rng(1)
    stratum = np.repeat([0, 1], 60)
    events = rng.uniform(size=120) < np.where(stratum, 0.3, 0.1)
    inside = rng.uniform(size=120) < np.where(stratum, 0.5, 0.2)
    observed = (events & inside).sum()

    def shuffled():
        mixed = np.concatenate([rng.permutation(events[stratum == s]) for s in (0, 1)])
        return (mixed & inside).sum() >= observed

    share = np.mean([shuffled() for _ in range(20_000)])
    assert excess_p_value(events, inside, stratum) == pytest.approx(share, abs=0.012)


def test_strata_are_tenths_and_expectations_add_up():
    rng = np.random.default_rng(0)
    sure = rng.uniform(0.9, 1, 1_000)
    stratum = strata(sure)
    assert np.bincount(stratum).tolist() == [1_000 // STRATA] * STRATA
    events = rng.uniform(size=1_000) > sure
    assert expected_events(events, stratum).sum() == pytest.approx(events.sum())


def test_holm_is_never_below_the_p_value_and_keeps_its_order():
    p = np.array([0.2, 0.001, 0.03, 0.04])
    adjusted = holm(p)
    assert (adjusted >= p).all()
    np.testing.assert_array_equal(np.argsort(adjusted, kind="stable")[:1], [1])
    assert adjusted[1] == pytest.approx(0.004)
    assert adjusted[2] == adjusted[3] == pytest.approx(0.09)


def test_the_scan_finds_the_best_interval_of_all():
    rng = np.random.default_rng(2)
    values = rng.integers(0, 12, 800)
    events = rng.uniform(size=800) < np.where((values >= 3) & (values <= 5), 0.5, 0.05)
    table = Table.from_input(pd.DataFrame({"x": values.astype(float)}))
    expected = np.full(800, events.mean())
    found = Scan(columns(table.frame, table.kinds), events, expected).best()

    def earned(low, high):
        inside = (values >= low) & (values <= high)
        c, e = np.array([float(events[inside].sum())]), np.array([expected[inside].sum()])
        bounds = (low > 0) + (high < 11)
        ratio = likelihood_ratio(Counts(c, e, e), float(events.sum()))[0]
        return ratio - COLUMN_COST - BOUND_COST * bounds

    best = max(itertools.combinations_with_replacement(range(12), 2), key=lambda b: earned(*b))
    assert np.flatnonzero(found.masks[0]).tolist() == list(range(best[0], best[1] + 1))
    assert found.score == pytest.approx(earned(*best))


def test_an_audit_names_regions_in_its_print_and_in_its_review():
    planted = datasets.make_planted(3_000, shape="categorical", random_state=5)
    found = discover(planted.X, planted.y, planted.proba, random_state=5)
    (rule,) = found.regions.confirmed
    assert {c.column for c in rule.conditions} == {"colour", "load"}
    assert rule.words in repr(found)
    review = found.review(budget=0.05)
    inside = planted.region[review["row"]]
    assert (review["region"][inside] == rule.words).mean() > 0.9
    frame = found.regions.frame()
    assert frame["rule"][0] == rule.words
    assert {"confirmation_rate", "discovery_lift", "adjusted_p"} <= set(frame.columns)


def test_regions_are_described_on_new_labelled_rows():
    planted = datasets.make_planted(3_000, shape="missing", random_state=2)
    rows, new = slice(0, 2_000), slice(2_000, None)
    falcon = FalconDiscover(planted.model, cv=3, random_state=0)
    falcon.fit(planted.X[rows], planted.y[rows])
    regions = falcon.examine(planted.X[new], planted.y[new]).regions
    (number,) = [i for i, rule in enumerate(regions) if rule.words == "load is missing"]
    here = regions.here[number]
    assert here.rows == planted.region[new].sum()
    assert "these rows" in repr(regions)
    assert falcon.regions_.here is None
