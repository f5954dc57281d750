from __future__ import annotations

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from xgboost import XGBClassifier

from falcon_discover import FalconDiscover, InputError
from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from support.tables import awkward_table

N = 200


@pytest.fixture
def every_kind() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    start = pd.Timestamp("2020-01-01")
    days = pd.to_timedelta(rng.integers(0, 1000, N), unit="D")
    table = pd.DataFrame(
        {
            "whole": pd.array(rng.integers(0, 9, N), dtype="Int64"),
            "number": rng.normal(size=N),
            "flag": rng.uniform(size=N) < 0.5,
            "maybe": pd.array(rng.choice([True, False, None], N), dtype="boolean"),
            "text": pd.array(rng.choice(["x", "y", None], N), dtype="string"),
            "category": pd.Categorical(rng.choice(["u", "v"], N)),
            "codes": pd.Categorical(rng.integers(0, 3, N)),
            "moment": start + days,
            "zoned": start.tz_localize("Europe/Berlin") + days,
            "span": days,
            "day": [
                dt.date(2020, 1, 1) + dt.timedelta(days=int(k)) for k in rng.integers(0, 99, N)
            ],
            "price": [decimal.Decimal(int(k)) / 10 for k in rng.integers(0, 99, N)],
        }
    )
    table.loc[3, "moment"] = pd.NaT
    table.loc[5, "whole"] = pd.NA
    return table


def labels(table: pd.DataFrame) -> np.ndarray:
    noise = np.random.default_rng(1).normal(0, 0.5, N)
    return (table["number"] + noise > 0).to_numpy()


def test_kinds_of_columns(every_kind):
    kinds = Table.from_input(every_kind).kinds
    assert {name for name, kind in kinds.items() if kind == "numeric"} == {
        "whole", "number", "span", "price",
    }  # fmt: skip
    assert {name for name, kind in kinds.items() if kind == "datetime"} == {
        "moment",
        "zoned",
        "day",
    }
    assert Table.from_input(pl.from_pandas(every_kind.drop(columns="codes"))).kinds == {
        name: kind for name, kind in kinds.items() if name != "codes"
    }


def test_times_are_seconds_whatever_their_resolution():
    days = pd.Series(pd.to_datetime(["1970-01-02", "1970-01-03"]))
    for unit in ("s", "ms", "us", "ns"):
        frame = Table.from_input(pd.DataFrame({"t": days.astype(f"datetime64[{unit}]")})).frame
        assert frame["t"].tolist() == [86_400.0, 172_800.0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_every_kind_goes_all_the_way(every_kind, library):
    y = labels(every_kind)
    table = every_kind if library == "pandas" else pl.from_pandas(every_kind.drop(columns="codes"))

    class Opinion:
        """Not a scikit-learn class at all; it looks at one column and checks the rest."""

        classes_ = np.array([False, True])

        def predict_proba(self, rows):
            assert type(rows) is type(table)
            assert list(rows.columns) == list(table.columns)
            p = 1 / (1 + np.exp(-3 * np.asarray(rows["number"], dtype=float)))
            return np.column_stack([1 - p, p])

        def predict(self, rows):
            return self.predict_proba(rows)[:, 1] >= 0.5

        def __sklearn_is_fitted__(self):
            return True

    for model in ("logistic_regression", FrozenEstimator(Opinion())):
        falcon = FalconDiscover(model, random_state=0).fit(table[:150], y[:150])
        assert falcon.transform(table[150:]).notna().all().all()
        assert len(falcon.review(table[150:])) == 10


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize(
    "model",
    [
        CatBoostClassifier(
            iterations=20, verbose=0, allow_writing_files=False, cat_features=["category", "codes"]
        ),
        XGBClassifier(n_estimators=20, enable_categorical=True),
        LGBMClassifier(n_estimators=20, verbosity=-1),
        HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype"),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore:.*never calls a row")
def test_models_with_native_categories(every_kind, model, frozen):
    table = every_kind[["number", "category", "codes", "flag"]]
    y = labels(every_kind)
    if frozen:
        model = FrozenEstimator(model.__class__(**model.get_params()).fit(table[:80], y[:80]))
    falcon = FalconDiscover(model, random_state=0).fit(table[80:160], y[80:160])
    frame = falcon.transform(table[160:])
    assert frame.notna().all().all()
    assert frame["mean_drift"].max() > 0


def test_columns_that_are_no_columns_are_named():
    with pytest.raises(InputError, match="column 'l' contains values that are not numbers"):
        Table.from_input(pl.DataFrame({"l": [[1, 2], [3]], "x": [1.0, 2.0]}))
    with pytest.raises(InputError, match=r"lazy frame: call collect"):
        Table.from_input(pl.DataFrame({"x": [1.0]}).lazy())


def test_the_view_by_hand():
    view = TransformedView().fit(pd.DataFrame({"x": [0.0, 2.0, None], "k": ["a", None, "a"]}))
    # Median 1 fills the gap: mean 1, standard deviation sqrt(2/3); "a" is the most frequent.
    rows = view.transform(pd.DataFrame({"x": [None, 1 + np.sqrt(2 / 3)], "k": ["b", None]}))
    np.testing.assert_allclose(rows, [[0, 0], [1, 1]], atol=1e-6)
    assert rows.dtype == np.float32


def test_content_hashes_do_not_depend_on_the_library_or_the_place(every_kind):
    plain = Table.from_input(every_kind.drop(columns="codes"))
    other = Table.from_input(pl.from_pandas(every_kind.drop(columns="codes")))
    np.testing.assert_array_equal(plain.row_hashes(), other.row_hashes())
    np.testing.assert_array_equal(
        plain.take(np.array([5, 2])).row_hashes(), plain.row_hashes()[[5, 2]]
    )


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("kept", [slice(None), ["kind", "id", "yes"], ["steps", "gap", "when"]])
def test_the_view_gives_what_its_encoder_gives_to_the_last_bit(kept):
    X, _ = awkward_table(300, seed=0)
    # More values than fit: the rare ones share a coordinate.
    X["id"] = [f"i{i}" for i in range(300)]
    X["yes"], X["nothing"] = X["steps"] > 1, np.nan
    X["when"] = pd.date_range("2020-01-01", periods=300)
    new = X.copy()
    new.loc[:5, "kind"], new.loc[6:9, "kind"], new.loc[10:12, "id"] = "unknown", None, None
    X, new = X.loc[:, kept], new.loc[:, kept]
    view = TransformedView().fit(X)
    expected = view.encoder_.transform(Table.from_input(new, view.kinds_).frame)
    assert view.transform(new).tobytes() == np.ascontiguousarray(expected, np.float32).tobytes()
