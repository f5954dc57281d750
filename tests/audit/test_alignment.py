"""What belongs to rows is matched by position, and refused where pandas labels say otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator

from falcon_discover import FalconDiscover, InputError, discover
from falcon_discover.audit.costs import checked_cost

N = 24
SMALL = {"cv": 2, "n_neighbors": 3, "ranker": "gated_confidence", "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")


def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N)})
    return X, (X["a"] > 0).to_numpy().astype(int), rng.uniform(size=N)


TURNED = pd.Series(np.arange(1.0, N + 1), index=range(N)[::-1])


@pytest.mark.parametrize(
    ("name", "given"), [("sample_weight", TURNED), ("groups", TURNED // 3)], ids=str
)
def test_weights_and_groups_in_another_order_are_refused(name, given):
    X, y, p = rows()
    with pytest.raises(InputError, match=f"X and {name} have the same row labels in another order"):
        discover(X, y, p, **{name: given}, **SMALL)
    found = discover(X.to_numpy(), y, p, **{name: given}, **SMALL)
    assert len(found.state) == N


def test_costs_and_times_in_another_order_are_refused():
    found = discover(*rows(), **SMALL)
    with pytest.raises(InputError, match="X and cost have the same row labels in another order"):
        found.review(0.2, cost=TURNED)
    with pytest.raises(InputError, match="X and times have the same row labels in another order"):
        found.by_period(TURNED)
    assert found.review(5, cost=TURNED.to_numpy())["cost"].notna().all()


@pytest.mark.parametrize(
    ("cost", "sentence"),
    [
        ([1j, 1], "cost must contain numbers"),
        ([10**400, 1], "cost must contain numbers"),
        (
            [1e300, 1],
            r"cost is 1e\+300 in row 0 \(1 such row\): give numbers of 0 or more, at most",
        ),
        (np.ma.masked_equal([1, 2], 2), "masked values"),
    ],
)
def test_costs_that_cannot_be_added_up_are_refused(cost, sentence):
    with pytest.raises(InputError, match=sentence):
        checked_cost(cost, 2)


def test_ragged_scores_are_refused():
    X, y, _ = rows()
    with pytest.raises(InputError, match="proba cannot be read as an array"):
        discover(X, y, [[0.5]] * (N - 1) + [[0.5, 0.5]], **SMALL)


def test_columns_of_another_table_are_refused_as_every_other_input():
    X, y, p = rows()
    falcon = FalconDiscover("precomputed", **SMALL).fit(X, y, proba=p)
    with pytest.raises(InputError, match="feature names should match"):
        falcon.examine(X[["b", "a"]], proba=p)


class AddsAColumn(ClassifierMixin, BaseEstimator):
    """A fitted model that works on the table it is given."""

    classes_ = np.array([0, 1])

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        X.insert(0, "sum", X["a"] + X["b"])
        p = 1 / (1 + np.exp(-4 * X["sum"].to_numpy()))
        return np.column_stack([1 - p, p])


def test_a_model_that_adds_columns_leaves_the_users_table_alone():
    X, y, _ = rows()
    before = X.copy()
    found = FalconDiscover(FrozenEstimator(AddsAColumn()), **SMALL).fit(X, y).examine()
    pd.testing.assert_frame_equal(X, before)
    assert np.array_equal(found.state.p, AddsAColumn().predict_proba(before)[:, 1])


def test_weights_and_a_constant_signal_give_no_warning_of_a_library():
    X, y, _ = rows()
    weight = np.random.default_rng(1).random(N)
    found = discover(X, y, np.full(N, 0.95), sample_weight=weight, **SMALL)
    assert np.isfinite(found.suspicion()).all()
