"""Models as people bring them: odd pipelines, odd outputs, odd decisions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

from falcon_discover import FalconDiscover
from falcon_discover.baselines.failure import failure_scores

quiet = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")


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
