"""Rows and a small audit that the tests of saved audits share."""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from falcon_discover import FalconDiscover, datasets

TRAIN = datasets.make_planted(300, random_state=0)
OTHER = datasets.make_planted(300, random_state=1)
NEW = datasets.make_planted(80, random_state=2)
NUMBERS = ["signal_a", "signal_b", "load", "height"]
MIXED = [*NUMBERS, "colour"]


def numeric_pipeline():
    return make_pipeline(StandardScaler(), LogisticRegression())


def small_audit():
    """Return an audit with little in it."""
    X, y = TRAIN.X[MIXED], TRAIN.y
    falcon = FalconDiscover("logistic_regression", cv=2, random_state=0)
    return falcon.fit(X, y, X_cal=OTHER.X[MIXED], y_cal=OTHER.y)
