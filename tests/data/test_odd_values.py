"""Values that a table may hold and that once were read wrongly, or not at all."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from falcon_discover import InputError
from falcon_discover.data.drawing import given_groups, given_weights
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.data.times import times_of


class Speechless:
    def __repr__(self):
        raise RuntimeError("no text")


def test_names_with_half_a_character_are_refused():
    table = pd.DataFrame([[1.0]], columns=pd.Index(["\ud800"], dtype=object))
    with pytest.raises(InputError, match=r"a column name contains '.ud800', which is not valid"):
        Table.from_input(table)


def test_objects_without_a_text_are_refused():
    table = pd.DataFrame({"a": pd.Series([Speechless()], dtype=object)})
    with pytest.raises(InputError, match="column 'a' contains values that are not numbers"):
        Table.from_input(table)


@pytest.mark.parametrize(
    "read",
    [
        Table.from_input,
        lambda values: Labels.from_input(values[:, 0]),
        lambda values: given_weights(values[:, 0], 3),
        lambda values: given_groups(values[:, 0], 3),
        lambda values: times_of(values[:, 0]),
    ],
    ids=["X", "y", "weights", "groups", "times"],
)
def test_masked_values_are_never_taken_for_values(read):
    with pytest.raises(InputError, match="masked values"):
        read(np.ma.masked_equal([[1.0], [2.0], [1.0]], 2.0))


def test_an_error_does_not_repeat_the_table():
    with pytest.raises(InputError) as refused:
        Table.from_input(np.ones(50) * 1j)
    assert len(str(refused.value)) < 300
    with pytest.raises(InputError, match="Reshape your data") as refused:
        Table.from_input(np.linspace(0, 1, 500))
    assert len(str(refused.value)) < 450


@pytest.mark.parametrize(
    ("later", "sentence"),
    [
        ([1.7e9, 1.8e9], "it holds numbers"),
        (["03/04/2026", "05/04/2026"], "is not a datetime value"),
    ],
    ids=["numbers", "dates in an order of their own"],
)
def test_what_was_dates_is_not_guessed_at_later(later, sentence):
    fitted = Table.from_input(pd.DataFrame({"day": pd.to_datetime(["2026-01-01", "2026-01-02"])}))
    with pytest.raises(InputError, match=rf"column 'day' was datetime when fitted.*{sentence}"):
        Table.from_input(pd.DataFrame({"day": later}), fitted.kinds)
    again = Table.from_input(pd.DataFrame({"day": ["2026-01-02", "2026-01-01"]}), fitted.kinds)
    assert again.frame["day"].tolist() == fitted.frame["day"].tolist()[::-1]


def test_complex_numbers_in_a_later_column_are_refused():
    later = pd.DataFrame({"a": pd.Series([1j, 2.0], dtype=object)})
    with pytest.raises(InputError, match=r"column 'a' was numeric when fitted.*complex"):
        Table.from_input(later, {"a": "numeric"})


def test_labels_that_differ_by_a_nul_at_the_end_are_not_swapped():
    labels = Labels.from_input(np.array(["a", "a\0", "a"], dtype=object))
    assert labels.classes[labels.codes].tolist() == ["a", "a\0", "a"]


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (pd.Series([], dtype="boolean"), "y has 0 samples"),
        (np.array([10**30, 0], dtype=object), "y cannot be read as labels"),
    ],
    ids=["no rows", "more than 64 bits"],
)
def test_labels_that_are_none(y, sentence):
    with pytest.raises(InputError, match=sentence):
        Labels.from_input(y)


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        ([1j, 2j], "must contain numbers"),
        ([10**400, 1], "must contain numbers"),
        ([[1.0], 1.0], "cannot be read, one value for each row"),
        ([1e300, 1.0], "is too large in 1 row, first in row 0: give each row 0, or a number from"),
        ([1.0, 1e-320], "is too small in 1 row, first in row 1"),
        (np.array([1, 2], dtype="timedelta64[D]"), "must contain numbers"),
    ],
)
def test_weights_that_cannot_be_added_up_are_refused(weight, sentence):
    with pytest.raises(InputError, match=sentence):
        given_weights(weight, 2)


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        (
            pd.Series([10**11, -(10**11)]).astype("datetime64[s]"),
            r"too far away|holds Timestamp\('5138",
        ),
        (pd.Series([Speechless(), Speechless()], dtype=object), "cannot be read as times"),
        (np.array([1j, 2j]), "values of the type complex128"),
        (pd.Series(["2026-01-01", 3], dtype=object), "holds 3 in row 1"),
    ],
    ids=["far", "objects", "complex", "mixed"],
)
def test_times_that_cannot_be_ordered_are_refused(times, sentence):
    with pytest.raises(InputError, match=sentence):
        times_of(times)


def test_times_that_came_as_objects_keep_their_order():
    assert times_of(np.array([2, 10], dtype=object)).tolist() == [2.0, 10.0]
    days = times_of([datetime.date(2026, 1, 2), datetime.date(2026, 1, 1)])
    assert days[0] > days[1]


def test_true_and_one_are_the_same_texts_in_any_order():
    column = pd.Series([True, 1, 0, "x"], dtype=object)
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        read = Table.from_input(pd.DataFrame({"a": column.iloc[order]}))
        assert read.frame["a"].tolist() == [str(column[i]) for i in order]


def test_an_arrow_table_with_notes_that_cannot_be_followed_is_read():
    words = pa.array(["a", "b"]).dictionary_encode()
    column = pd.Series(pd.arrays.ArrowExtensionArray(words))
    table = pa.Table.from_pandas(pd.DataFrame({"k": column}))
    assert Table.from_input(table).frame["k"].tolist() == ["a", "b"]


def test_an_arrow_table_that_pandas_cannot_read_is_refused():
    table = pa.Table.from_pandas(pd.DataFrame({"k": pd.cut([0.2, 0.7], [0, 0.5, 1])}))
    with pytest.raises(InputError, match="an Arrow table that pandas cannot read"):
        Table.from_input(table)
