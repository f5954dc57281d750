from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from falcon_discover.data.table import Table
from falcon_discover.signals.mixing import stacked_mixes

LAMBDAS = (0.1, 0.2, 0.3)


def mixes(rows, neighbours, seed=0):
    """Mix each row with as many neighbours as there are per row."""
    left, right = Table.from_input(rows), Table.from_input(neighbours)
    return stacked_mixes(rows, neighbours, LAMBDAS, left.row_hashes(), right.row_hashes(), seed)


def test_numbers_move_by_lambda():
    mixed = mixes(np.array([[0.0, 10.0]]), np.array([[1.0, 20.0], [2.0, 10.0]]))
    # By hand: neighbour by neighbour, lambda by lambda.
    np.testing.assert_allclose(
        mixed, [[0.1, 11], [0.2, 12], [0.3, 13], [0.2, 10], [0.4, 10], [0.6, 10]]
    )


def test_equal_coordinates_stay_equal_to_the_last_bit():
    values = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    mixed = mixes(values, values)
    np.testing.assert_array_equal(mixed, np.repeat(values, 3, axis=0))


def test_float32_stays_float32():
    rows = np.ones((2, 2), dtype=np.float32)
    assert mixes(rows, rows).dtype == np.float32


def test_sparse_rows_mix_like_dense_ones():
    rng = np.random.default_rng(0)
    rows, near = rng.normal(size=(4, 5)), rng.normal(size=(8, 5))
    rows[rows < 0] = 0
    near[near < 0] = 0
    zeros = np.zeros(4, np.uint64), np.zeros(8, np.uint64)
    dense = stacked_mixes(rows, near, LAMBDAS, *zeros, 0)
    sparse = stacked_mixes(sp.csr_array(rows), sp.csr_array(near), LAMBDAS, *zeros, 0)
    np.testing.assert_allclose(sparse.toarray(), dense)


def frames(n=3000):
    rng = np.random.default_rng(0)
    left = pd.DataFrame({"size": rng.normal(size=n), "kind": ["a"] * n, "flag": [True] * n})
    right = pd.DataFrame({"size": rng.normal(size=n), "kind": ["b"] * n, "flag": [False] * n})
    return left, right


def test_categories_switch_about_as_often_as_lambda_says():
    left, right = frames()
    mixed = mixes(left, right)
    switched = (mixed["kind"] == "b").to_numpy().reshape(-1, 3)
    # Three standard errors of a share of 3,000 draws.
    np.testing.assert_allclose(switched.mean(axis=0), LAMBDAS, atol=3 * np.sqrt(0.25 / 3000))
    assert (switched[:, 0] <= switched[:, 1]).all(), "a larger lambda keeps what a smaller moved"
    flags = (~mixed["flag"]).to_numpy().reshape(-1, 3)
    assert (flags != switched).mean() > 0, "columns switch on their own"


def test_switching_depends_on_content_not_on_place():
    left, right = frames(50)
    whole = mixes(left, right)
    order = np.random.default_rng(1).permutation(50)
    shuffled = mixes(left.iloc[order], right.iloc[order])
    places = (order[:, None] * 3 + np.arange(3)).ravel()
    pd.testing.assert_frame_equal(
        shuffled.reset_index(drop=True), whole.iloc[places].reset_index(drop=True)
    )
    assert not mixes(left, right, seed=1)["kind"].equals(whole["kind"])


def test_polars_mixes_equal_pandas_mixes():
    left, right = frames(40)
    mixed = mixes(pl.from_pandas(left), pl.from_pandas(right))
    assert isinstance(mixed, pl.DataFrame)
    pd.testing.assert_frame_equal(mixed.to_pandas(), mixes(left, right), check_dtype=False)


def test_category_types_survive():
    left, right = frames(20)
    kind = pd.CategoricalDtype(["a", "b", "c"])
    mixed = mixes(left.astype({"kind": kind}), right.astype({"kind": kind}))
    assert mixed["kind"].dtype == kind


def test_integer_column_names_are_fine():
    left, right = frames(5)
    renamed = [part.set_axis([0, 1, 2], axis=1) for part in (left, right)]
    assert list(mixes(*renamed).columns) == [0, 1, 2]


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_gap_on_one_side_switches_and_on_both_sides_stays(as_frame):
    n = 2000
    rng = np.random.default_rng(0)
    left = np.column_stack([rng.normal(size=n), np.full(n, np.nan), np.full(n, np.nan)])
    right = np.column_stack([np.full(n, np.nan), rng.normal(size=n), np.full(n, np.nan)])
    if as_frame:
        # A text column forces the column-by-column way.
        names = ["a", "b", "c"]
        left = pd.DataFrame(left, columns=names).assign(text="t")
        right = pd.DataFrame(right, columns=names).assign(text="t")
    mixed = np.asarray(mixes(left, right))[:, :3].astype(float).reshape(n, 3, 3)
    gone = np.isnan(mixed)
    np.testing.assert_allclose(gone[:, :, 0].mean(axis=0), LAMBDAS, atol=0.04)
    np.testing.assert_allclose(1 - gone[:, :, 1].mean(axis=0), LAMBDAS, atol=0.04)
    assert gone[:, :, 2].all()
