"""A model whose probabilities are known, and an audit of it that learns nothing."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

# A ranker that learns nothing: these tests are about what it is given.
FAST = {"ranker": "s_disc", "random_state": 0, "cv": 3}


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
