"""What is counted of a batch: cells, exact sums, samples; parts add up in any order."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp, nbinom, poisson

from falcon_discover.monitoring.baseline import Counted
from falcon_discover.monitoring.cells import CUTS, Cells
from falcon_discover.monitoring.drift import distance_of, p_value_of
from falcon_discover.monitoring.estimate import count_interval
from falcon_discover.monitoring.sample import SAMPLE_ROWS, RowSample
from falcon_discover.monitoring.sums import number, total, whole
from support.chance import rarely


def counted(values, what="column"):
    cells = Cells.of("x", values, "categorical" if values.dtype == object else "numeric")
    return Counted(what, cells, cells.weighed(values, None), len(values))


def compared(known, values):
    counts = known.cells.counts(values).astype(float)
    own, other = counts / counts.sum(), known.counts / known.counts.sum()
    return distance_of(known, own, other), p_value_of(known, counts, own, other)


def test_numbers_are_told_apart_below_at_and_above_each_cut():
    cells = Cells.of_numbers("x", np.array([1.0, 2.0, np.nan]))
    # Missing; below 1, at 1, between, at 2, above 2.
    assert cells.counts(np.array([0.0, 1.0, 1.0, 1.5, 2.0, 9.0, np.nan])).tolist() == [
        1, 1, 2, 1, 1, 1,
    ]  # fmt: skip


def test_categories_that_were_not_there_are_counted_apart_from_missing_ones():
    cells = Cells.of_categories("x", np.array(["a", "b", "a", np.nan] * 5, dtype=object))
    values = np.array(["a", "new", "b", np.nan, np.nan], dtype=object)
    assert cells.categories == ("a", "b")
    assert cells.counts(values).tolist() == [2, 1, 1, 1]


def test_a_column_without_values_has_one_cell_for_missing_and_one_for_the_rest():
    cells = Cells.of_numbers("x", np.full(3, np.nan))
    assert cells.counts(np.array([np.nan, 1.0])).tolist() == [1, 1]


def test_many_values_are_cut_at_quantiles():
    rng = np.random.default_rng(0)
    values = rng.normal(size=5_000)
    cells = Cells.of_numbers("x", values)
    between = cells.counts(values)[1::2]
    assert len(cells.cuts) == CUTS
    assert between.max() <= 5_000 / CUTS


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 8), min_size=5, max_size=60),
    st.lists(st.integers(0, 9), min_size=5, max_size=60),
)
def test_the_distance_of_few_values_is_that_of_kolmogorov_and_smirnov(then, here):
    known = counted(np.array(then, dtype=float))
    distance, _ = compared(known, np.array(here, dtype=float))
    assert distance == pytest.approx(ks_2samp(then, here, method="asymp").statistic)


def test_the_distance_of_categories_is_the_share_that_would_have_to_change():
    known = counted(np.array(["a"] * 60 + ["b"] * 40, dtype=object))
    # By hand: (|.6 - .5| + |.4 - .2| + |0 - .3|) / 2.
    here = np.array(["a"] * 5 + ["b"] * 2 + ["new"] * 3, dtype=object)
    assert compared(known, here)[0] == pytest.approx(0.3)


def test_rows_of_the_same_kind_rarely_look_changed(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    small = []
    for kind in ("numbers", "texts"):
        for _ in range(200):
            both = rng.normal(size=(2, 300)).round(1)
            if kind == "texts":
                both = np.where(both > 0.5, "a", np.where(both > -0.5, "b", "c")).astype(object)
            small.append(compared(counted(both[0]), both[1])[1] <= 0.05)
    assert rarely(small, 0.05)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.randoms())
def test_sums_do_not_depend_on_the_order(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    first, second = (total(np.array(v)[:, None]) for v in (values, shuffled))
    assert (first == second).all()
    assert number(first)[0] == pytest.approx(sum(values), abs=1e-8)
    assert whole(np.array([0.5]))[0] == 2**31


def sampled(values, part=0):
    frame = pd.DataFrame({"x": values})
    return RowSample.of(frame, pd.util.hash_pandas_object(frame, index=False).to_numpy(), part)


def test_the_sample_of_parts_is_that_of_the_whole_in_any_order():
    values = np.arange(3 * SAMPLE_ROWS, dtype=float)
    whole_sample = sampled(values)
    parts = [sampled(part) for part in np.split(values, [100, 2_500])]
    for order in permutations(parts):
        joined = order[0] + order[1] + order[2]
        assert joined.keys.tolist() == whole_sample.keys.tolist()
        assert joined.frame.equals(whole_sample.frame)


def test_copies_of_a_row_keep_their_share_of_the_sample():
    values = np.where(np.arange(20_000) % 2, 7.0, np.arange(20_000))
    share = (sampled(values).frame["x"] == 7.0).mean()
    assert share == pytest.approx(0.5, abs=0.05)
    parts = [sampled(part, number) for number, part in enumerate(np.split(values, 200))]
    joined = sum(parts[1:], parts[0])
    assert (joined.frame["x"] == 7.0).mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(("expected", "at_most"), [(3.0, 50), (40.0, 900), (0.2, 5)])
def test_a_count_of_known_mean_has_the_quantiles_of_poisson(expected, at_most):
    low, high = count_interval(expected, 0.0, 0.95, at_most)
    assert (low, high) == (poisson.ppf(0.025, expected), poisson.ppf(0.975, expected))


def test_a_count_of_unsure_mean_has_the_variance_of_both():
    # The mean is 40, the variance 40 + 8**2.
    shape = (40 / 8) ** 2
    drawn = nbinom(shape, shape / (shape + 40))
    assert drawn.mean() == pytest.approx(40)
    assert drawn.var() == pytest.approx(40 + 64)
    assert count_interval(40.0, 8.0, 0.95, 900) == (drawn.ppf(0.025), drawn.ppf(0.975))


def test_no_more_errors_than_confident_predictions_are_expected():
    assert count_interval(3.0, 9.0, 0.95, at_most=4)[1] == 4
    assert count_interval(0.0, 0.0, 0.95, at_most=0) == (0, 0)
