"""`learn`: which rows it takes for new in a table where many rows are alike."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from falcon_discover import FalconDiscover
from falcon_discover.exceptions import DataWarning, InputError


def in_cells(values):
    """An audit of 800 rows of a table whose three columns have so many values, and other rows."""
    rng = np.random.default_rng(0)
    grid = pd.DataFrame(rng.integers(0, values, (2_000, 3)), columns=list("abc")).astype(float)
    total = grid.sum(axis=1)
    labels = (total + rng.logistic(size=2_000) > total.mean()).astype(int).to_numpy()
    model = LogisticRegression().fit(grid[:500], labels[:500])
    falcon = FalconDiscover(FrozenEstimator(model), cv=5, tau=0.8, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        falcon.fit(grid[500:1_300], labels[500:1_300])
    return falcon, grid, labels


@pytest.fixture(scope="module")
def coarse():
    """A table in which nearly all rows have twins."""
    falcon, grid, labels = in_cells(5)
    return falcon, grid[1_300:], labels[1_300:]


def test_where_most_rows_have_twins_new_ones_are_learned_from(coarse):
    falcon, later, labels = coarse
    first, second = slice(0, 300), slice(300, 600)
    once = falcon.learn(later[first], labels[first])
    twice = once.learn(later[second], labels[second])
    # Most of them have the values of a row that was learned from before.
    known = later[first].agg(tuple, axis=1)
    assert later[second].agg(tuple, axis=1).isin(known).mean() > 0.8
    assert once.learned_.already_known == twice.learned_.already_known == 0
    assert twice.learned_.rows > 1.8 * once.learned_.rows


def test_where_most_rows_have_twins_a_file_is_not_learned_from_twice(coarse):
    falcon, later, labels = coarse
    once = falcon.learn(later[:300], labels[:300])
    for again in (slice(0, 300), slice(40, 200)):
        with pytest.raises(InputError, match="the audit knows these rows already"):
            once.learn(later[again], labels[again])
    grown = once.learn(later[:500], labels[:500])
    assert grown.learned_.already_known == 300
    apart = once.learn(later[300:500], labels[300:500])
    np.testing.assert_array_equal(grown.score_samples(later), apart.score_samples(later))
    contradicted = labels[:300].copy()
    contradicted[7] = 1 - contradicted[7]
    assert once.learn(later[:300], contradicted).learned_.already_known == 0


@pytest.mark.parametrize("values", [5, 8])
def test_where_most_rows_have_twins_new_ones_are_no_rows_of_the_fit(values):
    falcon, grid, labels = in_cells(values)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        for new in (slice(1_300, 1_312), slice(1_300, 2_000)):
            assert falcon.learn(grid[new], labels[new]).learned_.already_known == 0
            falcon.review(grid[new])


def test_where_many_rows_have_twins_those_of_the_fit_are_told_by_all_having_one():
    falcon, grid, labels = in_cells(8)
    for old in (slice(500, 1_300), slice(600, 620)):
        with pytest.raises(InputError, match="the audit knows these rows already"):
            falcon.learn(grid[old], labels[old])
