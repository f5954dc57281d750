"""The threshold at which a model decides: the one asked for, or the model's own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from falcon_discover import DataWarning, FalconDiscover
from falcon_discover.models.thresholds import own_threshold

# A ranker that learns nothing: these tests are about what it is given.
FAST = {"ranker": "s_disc", "random_state": 0, "cv": 3}
pytestmark = pytest.mark.filterwarnings("ignore:.*confident errors")
each_way = pytest.mark.parametrize(
    ("frozen", "in_pipeline"), [(True, True), (True, False), (False, True), (False, False)]
)


@pytest.fixture(scope="module")
def rows():
    """Two numeric columns and labels that follow them with noise."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(160, 2)), columns=["a", "b"])
    return X, np.where(X["a"] + rng.normal(0, 0.7, 160) > 0, "yes", "no")


def decides_at(level, rows, *, frozen, in_pipeline, positive="yes"):
    model = FixedThresholdClassifier(LogisticRegression(), threshold=level, pos_label=positive)
    model = make_pipeline(StandardScaler(), model) if in_pipeline else model
    return FrozenEstimator(model.fit(*rows)) if frozen else model


@each_way
def test_decisions_at_another_threshold_are_counted(rows, frozen, in_pipeline):
    X, labels = rows
    model = decides_at(0.8, rows, frozen=frozen, in_pipeline=in_pipeline)
    falcon = FalconDiscover(model, threshold=0.6, **FAST)
    with pytest.warns(DataWarning, match="predict differs from 'p >= 0.6'") as told:
        falcon.fit(X, labels)
    p = falcon.examine().state.p
    between = int(((p >= 0.6) & (p < 0.8)).sum())
    assert f"in {between} of 160 rows: the audit is about decisions at 0.6" in str(told[0].message)
    new = X[:40] + 0.05
    p = falcon.predict_proba(new)[:, 1]
    between = int(((p >= 0.6) & (p < 0.8)).sum())
    with pytest.warns(DataWarning, match=f"in {between} of 40 rows"):
        falcon.review(new)


@each_way
@pytest.mark.parametrize("positive", ["yes", "no"])
def test_the_threshold_of_a_model_is_taken_and_named(rows, frozen, in_pipeline, positive):
    X, labels = rows
    model = decides_at(0.8, rows, frozen=frozen, in_pipeline=in_pipeline, positive=positive)
    falcon = FalconDiscover(model, **FAST)
    with pytest.warns(DataWarning, match="FixedThresholdClassifier predicts 'yes' from"):
        falcon.fit(X, labels)
    assert falcon.threshold_ == pytest.approx(0.8 if positive == "yes" else 0.2)
    new = X[:40] + 0.05
    found = falcon.examine(new)
    np.testing.assert_array_equal(falcon.classes_[found.state.decision], falcon.predict(new))
    called = falcon.predict_proba(new)[:, 1] >= falcon.threshold_
    assert called.any()
    assert not called.all()
    expected = np.where(called, found.state.p, 1 - found.state.p)
    np.testing.assert_array_equal(found.state.confidence, expected)


def test_a_tuned_threshold_is_that_of_the_refitted_model(rows):
    X, labels = rows
    model = TunedThresholdClassifierCV(LogisticRegression(), scoring="balanced_accuracy", cv=2)
    falcon = FalconDiscover(model, **FAST)
    with pytest.warns(DataWarning, match="TunedThresholdClassifierCV predicts 'yes' from"):
        falcon.fit(X, labels)
    assert falcon.threshold_ == falcon.model_.best_threshold_ != 0.5


def test_a_threshold_of_other_scores_than_probabilities_is_left_alone(rows):
    model = FixedThresholdClassifier(
        LogisticRegression(), threshold=0.8, response_method="decision_function"
    ).fit(*rows)
    assert own_threshold(model, model.classes_, 0.5) == 0.5
