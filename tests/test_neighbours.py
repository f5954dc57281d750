from __future__ import annotations

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import oracle
from falcon_discover.neighbours import NeighbourIndex


def expected(rows, reference, k):
    return np.array([oracle.nearest(list(map(float, r)), reference.tolist(), k) for r in rows])


@pytest.mark.parametrize("width", [2, 12])  # one for each search algorithm
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), levels=st.integers(1, 6), k=st.integers(1, 30))
def test_ties_and_duplicates_are_settled_as_in_plain_loops(width, seed, levels, k):
    rng = np.random.default_rng(seed)
    reference = rng.integers(0, levels, (60, width)).astype(np.float32) / np.float32(3)
    rows = rng.integers(0, levels, (8, width)).astype(np.float32) / np.float32(3)
    found = NeighbourIndex(reference).query(rows, k)
    np.testing.assert_array_equal(found.rows, expected(rows, reference, k))


def test_a_table_of_identical_rows_gives_the_first_ones():
    reference = np.ones((500, 20), dtype=np.float32)
    found = NeighbourIndex(reference).query(reference[:3], 25)
    np.testing.assert_array_equal(found.rows, np.tile(np.arange(25), (3, 1)))
    assert (found.distances == 0).all()


def test_outliers_do_not_blur_distances():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(300, 10)).astype(np.float32)
    reference[:5] *= 1e5
    rows = np.vstack([reference[:5] + np.float32(0.5), reference[5:20]])
    found = NeighbourIndex(reference).query(rows, 25)
    np.testing.assert_array_equal(found.rows, expected(rows, reference, 25))
    assert (found.distances[5:, 0] == 0).all()


def test_threads_and_memory_budget_do_not_change_the_answer():
    rng = np.random.default_rng(1)
    reference = rng.integers(0, 3, (4000, 12)).astype(np.float32)
    rows = rng.integers(0, 3, (500, 12)).astype(np.float32)
    index = NeighbourIndex(reference)
    two = index.query(rows, 25)
    with threadpool_limits(limits=1):
        one = index.query(rows, 25)
    with sklearn.config_context(working_memory=1):
        small = index.query(rows, 25)
    for other in (one, small):
        np.testing.assert_array_equal(two.rows, other.rows)
        np.testing.assert_array_equal(two.distances, other.distances)
