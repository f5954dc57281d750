"""Groups and weights at the door."""

import numpy as np
import pandas as pd
import pytest

from falcon_discover.data.drawing import (
    coarse,
    given_groups,
    given_weights,
    group_folds,
    joined_groups,
)
from falcon_discover.data.labels import Labels
from falcon_discover.exceptions import DataWarning, InputError
from falcon_discover.models.folds import make_folds


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        ([1.0, 2.0], "sample_weight has 2 values for 3 rows"),
        ([1.0, np.nan, 2.0], "NaN or infinity in 1 row.*first in row 1"),
        ([1.0, -1.0, 2.0], "is negative in 1 row.*first in row 1"),
        ([0.0, 0.0, 0.0], "zero in every row"),
        (["a", "b", "c"], "must contain numbers"),
        (np.ones((3, 2)), "has the shape"),
    ],
)
def test_weights_that_cannot_count_are_refused(weight, sentence):
    with pytest.raises(InputError, match=sentence):
        given_weights(weight, 3)


def test_weights_of_one_are_no_weights():
    assert given_weights(np.ones(4), 4) is None
    assert given_weights(pd.Series([1, 2], dtype="Int64"), 2).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "groups",
    [
        ["b", "a", "b"],
        [7, 1, 7],
        pd.Categorical(["b", "a", "b"]),
        pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-01"]),
        pd.Series(["b", "a", "b"], dtype="string"),
        np.array([[1], [2], [1]]),
    ],
)
def test_groups_of_any_type_become_numbers(groups):
    assert given_groups(groups, 3)[0].tolist() == [0, 1, 0]


def test_a_row_without_a_group_is_refused():
    with pytest.raises(InputError, match=r"missing in 1 row.*row 2"):
        given_groups(["a", "a", None], 3)


def test_groups_of_one_row_each_are_no_groups():
    assert given_groups([3, 1, 2], 3)[0] is None


def test_a_group_may_not_be_learned_from_and_checked_by():
    own, known = given_groups(["a", "a", "b"], 3)
    other, more = given_groups(["c", "b"], 2)
    with pytest.raises(InputError, match="group 'b' has rows in both X and X_cal"):
        joined_groups(own, known, other, more)
    other, more = given_groups(["c", "c", "d"], 3)
    assert joined_groups(own, known, other, more).tolist() == [2, 2, 3]


def _labels(n_groups, size, seed=0):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), size)
    return Labels.from_input(rng.integers(0, 2, len(group))), group


def test_no_fold_splits_a_group():
    labels, group = _labels(40, 5)
    folds = make_folds(5, labels, 0, group)
    assert len(folds) == 5
    for others, held_out in folds:
        assert not set(group[others]) & set(group[held_out])
    held = np.sort(np.concatenate([held_out for _, held_out in folds]))
    assert held.tolist() == list(range(200))


def test_too_few_groups_lower_the_number_of_folds():
    labels, group = _labels(3, 20)
    with pytest.warns(DataWarning, match="cv is lowered from 5 to 3"):
        assert len(make_folds(5, labels, 0, group)) == 3


def test_a_class_in_one_group_is_refused():
    labels = Labels.from_input([0] * 30 + [1] * 10)
    group = np.repeat(np.arange(4), 10)
    with pytest.raises(InputError, match="class 1 occurs in only 1 group"):
        make_folds(5, labels, 0, group)


def test_one_group_is_refused():
    labels = Labels.from_input([0, 1, 2] * 10)
    with pytest.raises(InputError, match="only 1 group"):
        make_folds(5, labels, 0, np.zeros(30, dtype=int))


def test_a_splitter_that_splits_groups_is_refused():
    from sklearn.model_selection import GroupKFold, KFold

    labels, group = _labels(20, 5)
    with pytest.raises(InputError, match=r"which splits .* of the groups"):
        make_folds(KFold(3, shuffle=True, random_state=0), labels, 0, group)
    folds = make_folds(GroupKFold(4), labels, 0, group)
    assert len(folds) == 4
    assert len(make_folds(list(folds), labels, 0, group)) == 4


def test_folds_of_groups_have_about_the_same_share_of_each_kind():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(300), 4)
    kind = rng.uniform(size=1_200) < 0.2
    shares = [kind[held_out].mean() for _, held_out in group_folds(kind, group, 5, 0)]
    assert max(shares) - min(shares) < 0.03


def test_coarse_numbers_keep_their_order_and_gaps():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=2_000), rng.integers(0, 5, 2_000)]).astype(float)
    rows[3, 0] = np.nan
    found = coarse(rows, rng.uniform(0.5, 2, 2_000))
    assert np.isnan(found[3, 0])
    assert (found[:, 1] == rows[:, 1]).all()
    known = ~np.isnan(rows[:, 0])
    order = np.argsort(rows[known, 0])
    assert (np.diff(found[known, 0][order]) >= 0).all()
    assert np.abs(found[known, 0] - rows[known, 0]).max() < 1.0
