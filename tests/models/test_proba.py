"""The fastest way to a model's probabilities gives the model's own numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from threadpoolctl import threadpool_limits

from falcon_discover.models.proba import BLOCK_ROWS, proba

MODELS = (
    RandomForestClassifier(20, n_jobs=2, random_state=0),
    ExtraTreesClassifier(20, n_jobs=2, random_state=0),
    HistGradientBoostingClassifier(max_iter=20, random_state=0),
)


def table(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(rows, 4)), columns=list("abcd"))


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def model(request):
    X = table(500)
    return request.param.fit(X, X["a"] + X["b"] ** 2 > 1)


@pytest.mark.parametrize("rows", [1, 2, BLOCK_ROWS // 4 + 1, BLOCK_ROWS, 2 * BLOCK_ROWS + 1])
def test_blocks_give_the_same_numbers_in_the_same_order(model, rows):
    X = table(rows)
    # One thread: what a forest's own threads add up differs in the last digits.
    alone = model if not hasattr(model, "n_jobs") else type(model)(**model.get_params())
    if alone is not model:
        alone.__dict__.update(model.__dict__ | {"n_jobs": 1})
    np.testing.assert_array_equal(proba(model, X), alone.predict_proba(X))


def test_the_number_of_threads_changes_nothing_and_is_left_as_it_was(model):
    X = table(BLOCK_ROWS + 7)
    found = proba(model, X)
    with threadpool_limits(limits=1):
        np.testing.assert_array_equal(proba(model, X), found)
    np.testing.assert_array_equal(proba(model, X), found)
