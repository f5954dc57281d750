"""Models as people bring them: odd pipelines, odd outputs, odd decisions."""

from __future__ import annotations

import decimal
from dataclasses import replace

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
import xgboost
from catboost import CatBoostClassifier, CatBoostRegressor
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from falcon_discover import DataWarning, FalconDiscover, InputError, datasets, discover
from falcon_discover.data.table import Table
from falcon_discover.rankers.failure import failure_scores
from falcon_discover.storage import frames

quiet = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
# A ranker that learns nothing: these tests are about what it is given.
FAST = {"ranker": "s_disc", "random_state": 0, "cv": 3}


@pytest.fixture(scope="module")
def rows():
    """Two numeric columns and labels that follow them with noise."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(160, 2)), columns=["a", "b"])
    return X, (X["a"] + rng.normal(0, 0.7, 160) > 0).to_numpy().astype(int)


@quiet
def test_metadata_routing_changes_nothing(rows):
    X, y = rows
    signals, wrong = X.to_numpy(), y.astype(bool)
    falcon = FalconDiscover(LogisticRegression(), ranker="learned_oof", tau=0.7, random_state=0)
    plain = falcon.fit(X, y).score_samples()
    failures = failure_scores(signals, wrong, signals)
    with sklearn.config_context(enable_metadata_routing=True):
        np.testing.assert_array_equal(falcon.fit(X, y).score_samples(), plain)
        np.testing.assert_array_equal(failure_scores(signals, wrong, signals), failures)


class AddRatio(TransformerMixin, BaseEstimator):
    """A transformer that learns nothing."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X.assign(ratio=X["a"] / (X["b"].abs() + 1))


def ratio(X):
    return X.assign(ratio=X["a"] / (X["b"].abs() + 1))


@quiet
@pytest.mark.parametrize("frozen", [True, False])
def test_a_pipeline_may_end_in_a_transformer_that_learns_nothing(rows, frozen):
    X, y = rows
    frames = []
    # scikit-learn knows that a FunctionTransformer needs no fit; of AddRatio it does not.
    for step in (AddRatio(), FunctionTransformer(ratio)):
        model = make_pipeline("passthrough", None, step, LogisticRegression())
        if frozen:
            model = FrozenEstimator(model.fit(X[:60], y[:60]))
        falcon = FalconDiscover(model, **FAST).fit(X[60:], y[60:])
        frames.append(falcon.transform(X[:60]))
        np.testing.assert_array_equal(falcon.predict_proba(X), falcon.model_.predict_proba(X))
    pd.testing.assert_frame_equal(*frames, check_exact=True)


class Curve(ClassifierMixin, BaseEstimator):
    """A logistic curve whose probabilities go through `alter` on their way out."""

    def __init__(self, alter=lambda proba: proba):
        self.alter = alter

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-4 * np.asarray(X)[:, 0]))
        return self.alter(np.column_stack([1 - p, p]))


def audited(rows, alter):
    X, y = rows
    model = FrozenEstimator(Curve(alter).fit(X, y))
    return FalconDiscover(model, **FAST).fit(X[:100], y[:100]).transform(X[100:])


@quiet
def test_a_model_that_reuses_its_output_buffer_is_read_rightly(rows):
    buffer = np.empty((100_000, 2))

    def into_buffer(proba):
        buffer[: len(proba)] = proba
        return buffer[: len(proba)]

    pd.testing.assert_frame_equal(
        audited(rows, into_buffer), audited(rows, lambda proba: proba), check_exact=True
    )


@quiet
@pytest.mark.parametrize(
    "alter",
    [
        lambda proba: proba[:, 1],
        lambda proba: proba[:, 1:],
        lambda proba: pd.DataFrame(proba),
        lambda proba: proba.tolist(),
        lambda proba: np.ma.masked_array(proba),
    ],
    ids=["one column, flat", "one column", "frame", "list", "nothing masked"],
)
def test_probabilities_may_come_in_any_shape_that_says_what_is_meant(rows, alter):
    pd.testing.assert_frame_equal(audited(rows, alter), audited(rows, lambda proba: proba))


def gap(proba):
    return np.where(np.arange(len(proba))[:, None] % 50 == 7, np.nan, proba)


def gap_in_mixes(proba):
    return gap(proba) if len(proba) > 200 else proba


@quiet
@pytest.mark.parametrize(
    ("alter", "sentence"),
    [
        (gap, r"Curve.predict_proba is nan in row 7 \(2 such row"),
        (gap_in_mixes, "Curve.predict_proba for rows mixed with their neighbours is nan in row"),
        (lambda proba: 2 * proba - 0.5, r"is -?[\d.]+ in row \d+ .*lies between 0 and 1"),
        (lambda proba: 0.9 * proba, r"two columns that sum to 0.9 in row 0 \(100 such row"),
        (lambda proba: np.column_stack([proba, proba]) / 2, r"has the shape \(100, 4\)"),
        (lambda proba: proba[1:], r"has the shape \(99, 2\): .* 100 in all"),
        (lambda proba: proba.astype(complex), "contains complex numbers"),
        (lambda proba: np.ma.masked_less(proba, 0.2), "contains masked values"),
        (lambda proba: sp.csr_array(proba), "has the type csr_array and cannot be read"),
    ],
    ids=["nan", "nan in mixes", "range", "sum", "columns", "rows", "complex", "masked", "sparse"],
)
def test_what_is_not_a_probability_is_said_to_be_the_models(rows, alter, sentence):
    with pytest.raises(InputError, match=sentence):
        audited(rows, alter)


@quiet
def test_given_probabilities_are_held_to_the_same(rows):
    X, y = rows
    p = np.clip(0.5 + X["a"].to_numpy() / 8, 0, 1)
    wanted = discover(X, y, p, random_state=0).suspicion()
    two = np.column_stack([1 - p, p])
    np.testing.assert_array_equal(discover(X, y, two, random_state=0).suspicion(), wanted)
    for given, sentence in [
        (0.8 * two, "proba has two columns that sum to 0.8"),
        (np.ma.masked_less(p, 0.3), "proba contains masked values"),
        (p + 0.1j, "proba contains complex numbers"),
        (["sure"] * len(p), "proba .* cannot be read as numbers"),
    ]:
        with pytest.raises(InputError, match=sentence):
            discover(X, y, given)


@quiet
def test_any_sparse_layout_before_the_classifier_is_fine(rows):
    X, y = rows
    frames = [
        FalconDiscover(
            make_pipeline(StandardScaler(), FunctionTransformer(layout), LogisticRegression()),
            **FAST,
        )
        .fit(X[:100], y[:100])
        .transform(X[100:])
        for layout in (sp.csr_array, sp.coo_matrix, sp.csc_array)
    ]
    for other in frames[1:]:
        pd.testing.assert_frame_equal(other, frames[0], check_exact=True)


class FirstColumn(Curve):
    def predict_proba(self, X):
        return super().predict_proba(np.asarray(X, dtype=float).reshape(-1, 1))


@quiet
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda X: X["a"], r"step 'functiontransformer' makes a Series of the shape \(160,\)"),
        (lambda X: X["a"].tolist(), "step 'functiontransformer' makes a list of 160 rows"),
        (lambda X: X["a"].to_numpy(str), "makes a ndarray of the shape"),
        (lambda X: pd.concat([X, X], axis=1), "makes more than one column 'a'"),
    ],
    ids=["series", "list", "texts", "same names"],
)
def test_a_step_that_makes_no_table_is_named(rows, change, sentence):
    X, y = rows
    model = make_pipeline(FunctionTransformer(change), FirstColumn()).fit(X, y)
    with pytest.raises(InputError, match=sentence):
        FalconDiscover(FrozenEstimator(model), **FAST).fit(X, y)


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
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
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
    np.testing.assert_array_equal(falcon.score_samples(), wanted)


@quiet
def test_rows_without_names_are_fine_where_names_are_numbers(rows):
    X, y = rows
    X = X.set_axis([0, 1], axis=1)
    falcon = FalconDiscover(LogisticRegression(), **FAST).fit(X[:100], y[:100])
    found = falcon.transform(X[100:].to_numpy())
    np.testing.assert_array_equal(found, falcon.transform(X[100:]))


SMALL = {
    "linear": LogisticRegression(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "search": GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2),
    "xgboost": xgboost.XGBClassifier(n_estimators=3),
    "lightgbm": LGBMClassifier(n_estimators=3, verbosity=-1),
    "catboost": CatBoostClassifier(iterations=3, verbose=0, allow_writing_files=False),
    "catboost in a pipeline": make_pipeline(
        StandardScaler(), CatBoostClassifier(iterations=3, verbose=0, allow_writing_files=False)
    ),
}


@pytest.mark.filterwarnings("ignore:.*confident errors")
@pytest.mark.parametrize("name", SMALL)
def test_a_fitted_model_that_is_not_frozen_is_fitted_again_and_that_is_said(rows, name):
    X, y = rows
    X, y = X.to_numpy()[:90], y[:90]
    model = SMALL[name].__class__(**SMALL[name].get_params(deep=False))
    falcon = FalconDiscover(model, **FAST).fit(X, y)
    # The copies were fitted, the model was not: no warning until it is.
    fitted = model.fit(X[:50], y[:50])
    with pytest.warns(DataWarning, match=r"is already fitted: .* pass FrozenEstimator\(model\)"):
        again = FalconDiscover(fitted, **FAST).fit(X, y)
    np.testing.assert_array_equal(again.score_samples(), falcon.score_samples())


@pytest.mark.filterwarnings("ignore:.*confident errors")
def test_models_that_are_always_fitted_bring_no_such_warning():
    planted = datasets.make_planted(120, random_state=0)
    FalconDiscover(planted.model, **FAST).fit(planted.X, planted.y)
    FalconDiscover(FrozenEstimator(planted.model), **FAST).fit(planted.X, planted.y)


class Half(Curve):
    """Sure of nothing in half of the rows, where it takes the first class."""

    def predict_proba(self, X):
        proba = super().predict_proba(X)
        return np.where(np.asarray(X)[:, [1]] > 0, 0.5, proba)

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


class Silent(Curve):
    def predict(self, X):
        raise RuntimeError("this model does not decide")


class Wordy(Curve):
    def predict(self, X):
        return np.where(self.predict_proba(X)[:, 1] > 0.9, "true", "false")


@pytest.mark.filterwarnings("ignore:.*confident errors")
@pytest.mark.parametrize("model", [Half(), Silent(), Wordy(), LogisticRegression()])
def test_ties_and_decisions_in_other_words_are_not_counted(rows, model):
    X, y = rows
    FalconDiscover(FrozenEstimator(model.fit(X, y)), **FAST).fit(X, y).review(X[:9] + 0.1)


def native_booster(X, y):
    return xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(X, y), 2)


def light_booster(X, y):
    data = lightgbm.Dataset(X, y)
    return lightgbm.train({"objective": "binary", "verbosity": -1}, data, num_boost_round=2)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            native_booster,
            r"xgboost.Booster .*XGBClassifier\(\).load_model\(path\), or .*discover",
        ),
        (
            light_booster,
            r"lightgbm.Booster has no .*: pass its probabilities to discover",
        ),
        (LinearRegression().fit, r"LinearRegression is a regressor .* discover\(X, y, proba\)"),
        (
            CatBoostRegressor(iterations=2, verbose=0, allow_writing_files=False).fit,
            "CatBoostRegressor is a regressor",
        ),
        (SVC().fit, "SVC has no predict_proba: wrap it in .*CalibratedClassifierCV"),
    ],
    ids=["xgboost", "lightgbm", "regressor", "catboost regressor", "svc"],
)
@quiet
def test_what_has_no_probabilities_is_told_a_way_that_works(rows, make, sentence):
    X, y = rows
    model = make(X.to_numpy(), y)
    for given in (model, FrozenEstimator(model)):
        with pytest.raises(InputError, match=sentence):
            FalconDiscover(given, **FAST).fit(X.to_numpy(), y)


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (LogisticRegression, r"estimator is the class LogisticRegression: give an instance"),
        (3, "estimator is a int: give a classifier, FrozenEstimator"),
        ([LogisticRegression()], "estimator is a list: give a classifier"),
    ],
)
def test_what_is_no_model(rows, estimator, sentence):
    with pytest.raises(InputError, match=sentence):
        FalconDiscover(estimator).fit(*rows)
