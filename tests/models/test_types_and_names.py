"""Neither the type that numbers come in nor rows without names change what an audit finds."""

from __future__ import annotations

import decimal
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from falcon_discover import FalconDiscover
from falcon_discover.data.table import Table
from falcon_discover.storage import frames
from support.curves import FAST, Curve
from support.refusals import quiet


def sizes(convert):
    """The same whole numbers and tenths, some missing, as another library's or type's."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "a": rng.integers(-6, 7, 150) / 2,
            "b": rng.integers(0, 50, 150).astype(float),
            "kind": rng.choice(["u", "v"], 150),
        }
    )
    X.loc[rng.uniform(size=150) < 0.1, "b"] = np.nan
    y = (X["a"] + rng.normal(0, 1, 150) > 0).to_numpy().astype(int)
    return convert(X), y


def typed(dtype):
    return lambda X: X.astype({"a": dtype, "b": dtype})


def decimals(X):
    def column(values):
        return [None if np.isnan(v) else decimal.Decimal(str(v)) for v in values]

    return X.assign(a=column(X["a"]), b=column(X["b"]))


def arrow_decimals(X):
    kind = pd.ArrowDtype(pa.decimal128(10, 2))
    return decimals(X).astype({"a": kind, "b": kind})


class Reader(Curve):
    """A model that reads numbers of any type."""

    def predict_proba(self, X):
        frame = Table.from_input(X).frame
        assert set(frame["kind"]) <= {"u", "v"}
        gap = frame["b"].fillna(25).to_numpy()
        return super().predict_proba((frame["a"].to_numpy() + gap / 40 - 0.6)[:, None])


SAME_NUMBERS = {
    "float32": typed("float32"),
    "Float64": typed("Float64"),
    "longdouble": typed(np.longdouble),
    "big-endian": typed(">f8"),
    "object": typed(object),
    "sparse": typed(pd.SparseDtype("float64", np.nan)),
    "decimal": decimals,
    "arrow decimal": arrow_decimals,
    "arrow double": typed(pd.ArrowDtype(pa.float64())),
    "polars": pl.from_pandas,
    "polars decimal": lambda X: pl.from_pandas(arrow_decimals(X)),
}


@quiet
@pytest.mark.parametrize("name", SAME_NUMBERS)
def test_signals_do_not_depend_on_the_type_that_numbers_come_in(name):
    signals = []
    for convert in (lambda X: X, SAME_NUMBERS[name]):
        X, y = sizes(convert)
        falcon = FalconDiscover(FrozenEstimator(Reader().fit(None, y)), **FAST)
        falcon.fit(X[:110], y[:110])
        signals.append(falcon.transform(X[110:]).reset_index(drop=True))
        if "decimal" in name:
            reference = falcon.audit_.reference
            layout, data = frames.rows_stored(reference.encoded)
            encoded = frames.rows_restored(layout, data, 10**9, "encoded", 110)
            falcon.audit_ = replace(falcon.audit_, reference=replace(reference, encoded=encoded))
            signals.append(falcon.transform(X[110:]).reset_index(drop=True))
    for other in signals[1:]:
        pd.testing.assert_frame_equal(other, signals[0], check_exact=True)


@quiet
@pytest.mark.parametrize("name", ["int64", "Int64", "object", "uint8"])
def test_whole_numbers_mix_like_others(name):
    signals = []
    for dtype in (float, name):
        X, y = sizes(lambda X: X.assign(a=2 * X["a"] + 6, b=X["b"].fillna(0)))
        X = X.astype({"a": dtype, "b": dtype})
        falcon = FalconDiscover(FrozenEstimator(Reader().fit(None, y)), **FAST)
        signals.append(falcon.fit(X[:110], y[:110]).transform(X[110:]))
    pd.testing.assert_frame_equal(*signals, check_exact=True)


@quiet
@pytest.mark.parametrize("estimator", ["logistic_regression", LogisticRegression()])
@pytest.mark.parametrize("library", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("fitted_with_names", [True, False])
def test_rows_without_names_are_taken_by_position(rows, estimator, library, fitted_with_names):
    X, y = rows
    named, bare = library(X), X.to_numpy()
    if not hasattr(LogisticRegression().fit(named, y), "feature_names_in_"):
        pytest.skip("this release of scikit-learn does not see the names of such frames")
    fitted_on, other = (named, bare) if fitted_with_names else (bare, named)
    falcon = FalconDiscover(estimator, **FAST).fit(fitted_on[:100], y[:100])
    for ask in ("predict_proba", "predict", "transform", "score_samples", "review"):
        wanted = getattr(falcon, ask)(fitted_on[100:])
        with pytest.warns(UserWarning, match="feature names"):
            found = getattr(falcon, ask)(other[100:])
        # Sums over rows and over columns of memory round the last digits in another way.
        found, wanted = (pd.DataFrame(one).set_axis(range(one.shape[0])) for one in (found, wanted))
        pd.testing.assert_frame_equal(found, wanted, rtol=1e-9)
    with pytest.warns(UserWarning, match="feature names"):
        found = falcon.examine(other[100:], y[100:])
    assert str(found.evaluate()) == str(falcon.examine(fitted_on[100:], y[100:]).evaluate())


@quiet
def test_validation_rows_without_names_are_taken_by_position(rows):
    X, y = rows
    falcon = FalconDiscover(LogisticRegression(), ranker="learned", tau=0.6, random_state=0)
    wanted = falcon.fit(X[:100], y[:100], X_cal=X[100:], y_cal=y[100:]).score_samples()
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        falcon.fit(X[:100], y[:100], X_cal=X[100:].to_numpy(), y_cal=y[100:])
    np.testing.assert_allclose(falcon.score_samples(), wanted, rtol=1e-9)


@quiet
def test_rows_without_names_are_fine_where_names_are_numbers(rows):
    X, y = rows
    X = X.set_axis([0, 1], axis=1)
    falcon = FalconDiscover(LogisticRegression(), **FAST).fit(X[:100], y[:100])
    found = falcon.transform(X[100:].to_numpy())
    np.testing.assert_array_equal(found, falcon.transform(X[100:]))
