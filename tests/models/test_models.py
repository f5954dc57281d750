"""Models are audited as people bring them: odd pipelines, odd outputs, odd decisions."""

from __future__ import annotations

import lightgbm
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
import xgboost
from catboost import CatBoostClassifier, CatBoostRegressor
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from falcon_discover import DataWarning, FalconDiscover, InputError, datasets, discover
from falcon_discover.rankers.failure import failure_scores
from support.curves import FAST, Curve
from support.refusals import quiet


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
