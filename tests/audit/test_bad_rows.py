"""Rows and labels that cannot be audited: one sentence names the column, row or label at fault."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

from falcon_discover import DataWarning, FalconDiscover, InputError, discover
from falcon_discover.runtime import notices
from support.refusals import falcon, quiet, refused
from support.tables import awkward_table


def test_one_class_only(table):
    X, y = table
    with refused(r"y has only one class \(1\)"):
        falcon().fit(X, np.ones_like(y))


def test_labels_that_are_a_quantity(table):
    X, _ = table
    with refused("y has 80 different values in 80 rows: that looks like a quantity"):
        falcon().fit(X, np.arange(80))


def test_one_row(table):
    X, y = table
    with refused("y has only one class"):
        falcon().fit(X[:1], y[:1])


def test_one_row_of_a_class(table):
    X, _ = table
    with refused("class 1 has only 1 sample: .* at least 2"):
        falcon().fit(X, (np.arange(80) == 5).astype(int))


@quiet
def test_fewer_rows_of_a_class_than_folds(table):
    X, _ = table
    with pytest.warns(DataWarning, match="the rarer class has 3 rows: cv is lowered from 5 to 3"):
        falcon().fit(X, (np.arange(80) < 3).astype(int))


@quiet
def test_one_new_row_is_fine(table):
    X, y = table
    fitted = falcon().fit(X, y)
    assert len(fitted.review(X[:1].assign(size=0.123), budget=1.0)) == 1


@quiet
def test_a_column_without_values(table):
    X, y = table
    with pytest.warns(DataWarning, match="column 'gap' has no values"):
        falcon().fit(X.assign(gap=np.nan), y)


@quiet
def test_a_constant_column(table):
    X, y = table
    with pytest.warns(DataWarning, match="column 'flat' is constant"):
        falcon().fit(X, y)


@quiet
def test_a_column_of_identifiers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": [f"row {i}" for i in range(600)], "x": rng.normal(size=600)})
    with pytest.warns(DataWarning, match="column 'id' has 600 different values"):
        fitted = falcon().fit(X, np.tile([0, 1], 300))
    assert fitted.audit_.reference.index.reference.shape[1] <= 258


@quiet
def test_an_unseen_category(table):
    X, y = table
    fitted = falcon().fit(X, y)
    new = awkward_table(20, seed=1)[0]
    new.loc[:2, "kind"] = "brand new"
    message = r"column 'kind' has 1 value .*\('brand new'\), in \d row"
    with pytest.warns(DataWarning, match=message):
        fitted.transform(new)


@quiet
def test_strings_as_labels(table):
    X, y = table
    fitted = falcon().fit(X, np.array(["good", "bad"])[y])
    assert list(fitted.classes_) == ["bad", "good"]
    with refused("y contains the label 'ugly', which is neither 'bad' nor 'good'"):
        fitted.evaluate(X, ["ugly"] * 80)


def test_labels_of_mixed_types(table):
    X, _ = table
    with refused("y mixes labels of different types"):
        falcon().fit(X, pd.Series([1, "one"] * 40, dtype=object))


def test_labels_that_are_not_valid_text(table):
    X, y = table
    with refused(r"y contains '\\udc80yes', which is not valid text"):
        discover(X, np.where(y == 1, "\udc80yes", "no"), np.linspace(0, 1, len(y)))


def test_missing_labels(table):
    X, y = table
    holes = y.astype(float)
    holes[[3, 7]] = np.nan
    with refused(r"Input y contains NaN: 2 .*\(rows 3, 7\)"):
        falcon().fit(X, holes)


@quiet
def test_a_duplicated_index_is_harmless(table):
    X, y = table
    plain = falcon().fit(X, y).review(budget=0.5)
    doubled = falcon().fit(X.set_axis([0] * 80), y).review(budget=0.5)
    np.testing.assert_array_equal(plain["row"], doubled["row"])
    assert (doubled.index == 0).all()


def test_duplicated_column_names(table):
    X, y = table
    with refused("column 'size' appears more than once: rename the columns"):
        falcon().fit(X.rename(columns={"steps": "size"}), y)


def test_infinity(table):
    X, y = table
    X.loc[4, "size"] = np.inf
    with refused(r"column 'size' contains infinity in 1 row: replace it"):
        falcon().fit(X, y)


def test_no_rows_and_no_columns(table):
    X, y = table
    with refused(r"0 sample\(s\)"):
        falcon().fit(X[:0], y[:0])
    with refused(r"0 feature\(s\)"):
        falcon().fit(X[[]], y)


def test_rows_and_labels_that_do_not_match(table):
    X, y = table
    with refused("X has 80 rows and y has 79"):
        falcon().fit(X, y[:-1])


@quiet
def test_columns_of_another_table(table):
    X, y = table
    fitted = falcon().fit(X, y)
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- other"):
        fitted.transform(X.assign(other=1))
    with refused("column 'size' was numeric when fitted and holds a value that is not a numeric"):
        fitted.transform(X.assign(size="tall"))


COLUMNS = {
    "huge": (
        lambda n: np.full(n, 1e200),
        "column 'odd' contains 1e.200, which is too large, in 80",
    ),
    "huge whole": (
        lambda n: pd.Series([10**400] * n, dtype=object),
        "column 'odd' holds a value that is not a numeric value",
    ),
    "complex": (lambda n: np.full(n, 1j), "column 'odd' contains complex numbers"),
    "complex objects": (
        lambda n: pd.Series([1j] * n, dtype=object),
        "column 'odd' contains complex numbers",
    ),
    "signalling": (
        lambda n: [decimal.Decimal("sNaN")] * n,
        r"column 'odd' holds a value that is not a numeric value \(InvalidOperation\)",
    ),
    "half a character": (
        lambda n: pd.Series(["\ud800"] * n, dtype=object),
        r"column 'odd' contains '\\ud800', which is not valid text",
    ),
    "arrow list": (
        lambda n: pd.Series([[1]] * n, dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        "column 'odd' contains values that are not numbers",
    ),
    "arrow struct": (
        lambda n: pd.Series([{"a": 1}] * n, dtype=pd.ArrowDtype(pa.struct([("a", pa.int64())]))),
        "column 'odd' contains values that are not numbers",
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_odd_columns_are_named(table, name):
    X, y = table
    values, sentence = COLUMNS[name]
    with refused(sentence):
        discover(X.assign(odd=values(len(X))), y, np.linspace(0, 1, len(y)))


@quiet
def test_new_rows_beyond_single_precision_are_named(table):
    X, y = table
    fitted = falcon(ranker="confidence").fit(X, y)
    new = X[:5].assign(size=[0.1, 1e30, 0.2, 0.3, 0.4])
    assert np.isfinite(fitted.transform(new)).all().all()
    with refused(r"column 'size' contains 1e\+100, more than 1e\+37 standard deviations"):
        fitted.transform(new.replace(1e30, 1e100))


def test_column_names_of_two_levels(table):
    X, y = table
    X = X.set_axis(pd.MultiIndex.from_product([["a"], X.columns]), axis=1)
    with refused("X has column names with 2 levels"):
        falcon().fit(X, y)


@quiet
def test_a_pyarrow_table_is_a_table(table):
    X, y = table
    arrow = pa.Table.from_pandas(X)
    fitted = falcon(ranker="confidence").fit(arrow, y)
    wanted = falcon(ranker="confidence").fit(X, y)
    np.testing.assert_array_equal(fitted.transform(arrow[:30]), wanted.transform(X[:30]))


@quiet
@pytest.mark.parametrize(
    "labels",
    [
        [True, False],
        [1, 0],
        [1.0, 0.0],
        [decimal.Decimal(1), decimal.Decimal(0)],
    ],
    ids=["bool", "int", "float", "Decimal"],
)
def test_labels_that_come_as_objects(table, labels):
    X, y = table
    given = np.array([labels[0] if code else labels[1] for code in y], dtype=object)
    model = FalconDiscover(LogisticRegression(), ranker="confidence", random_state=0)
    wanted = model.fit(X[["steps", "size"]], y).evaluate()
    found = model.fit(X[["steps", "size"]], given).evaluate()
    assert found.verdict() == wanted.verdict()
    pd.testing.assert_frame_equal(found.captures, wanted.captures)
    called = ["predicted", "actual"]
    sides = [evaluation.sides.frame().drop(columns=called) for evaluation in (found, wanted)]
    pd.testing.assert_frame_equal(*sides)
    assert set(model.predict(X[["steps", "size"]])) <= set(labels)


@quiet
def test_labels_with_fractions(table):
    X, y = table
    given, p = np.where(y, 2.5, -1.0), np.linspace(0, 1, len(y))
    found = discover(X, given, p, ranker="confidence", random_state=0)
    assert set(found.review()["predicted"]) <= {2.5, -1.0}
    with refused("labels -1.0 and 2.5, .*continuous"):
        FalconDiscover(LogisticRegression()).fit(X[["steps"]], given)


@pytest.mark.parametrize("y", ["labels", {1: 2}, 3, [1j, 2j] * 40])
def test_what_is_no_column_of_labels(table, y):
    X, _ = table
    with pytest.raises(InputError):
        discover(X, y, np.linspace(0, 1, len(X)))


@quiet
def test_labels_in_another_order_are_refused(table):
    X, y = table
    labels, p = pd.Series(y), pd.Series(np.linspace(0, 1, len(y)))
    backwards = labels[::-1]
    with refused(r"X and y have the same row labels in another order: .*y.loc\[X.index\]"):
        falcon().fit(X, backwards)
    with refused("X and proba have the same row labels in another order"):
        discover(X, labels, p[::-1])
    fitted = falcon(ranker="confidence").fit(X, labels)
    with refused("X and y have the same row labels in another order"):
        fitted.examine(X, backwards)
    # Other labels, or repeated ones, say nothing about the order.
    by_position = [labels.set_axis(range(5, 85)), labels.set_axis([0] * 80), labels]
    for given in by_position:
        assert str(fitted.examine(X, given).evaluate()) == str(fitted.examine(X, y).evaluate())


@pytest.mark.filterwarnings("ignore:column 'flat' is constant")
@pytest.mark.parametrize(
    "leak",
    [lambda y: y, lambda y: 1 - y, lambda y: np.where(y, "yes", "no")],
    ids=["labels", "the other way", "names"],
)
def test_the_target_among_the_columns(table, leak):
    X, y = table
    p = np.linspace(0, 1, len(y))
    words = "column 'copy' gives away the class"
    with notices.collected() as noticed:
        discover(X.assign(copy=leak(y)), y, p, ranker="confidence", random_state=0)
    assert any(note.startswith(words) for note in noticed)
    nearly = np.where(np.arange(80) == 79, 1 - y, y)
    with notices.collected() as noticed:
        discover(X.assign(copy=nearly), y, p, ranker="confidence", random_state=0)
    assert not any(note.startswith(words) for note in noticed)
