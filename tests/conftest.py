from __future__ import annotations

import inspect
import os
from pathlib import Path

# Tests run side by side: threads that wait must not spin. Read when the libraries are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks


def scikit_learn_checks(estimators: list, failing: dict[str, str] | None = None):
    """Return scikit-learn's checks of estimators as a parametrisation; `failing` must fail."""
    failing, strict = dict(failing or {}), {"xfail_strict": True}
    if "xfail_strict" not in inspect.signature(parametrize_with_checks).parameters:
        # Releases before 1.8 are not strict, and this check subtracts a float from integers.
        failing["check_positive_only_tag_during_fit"] = "fails before it asks"
        strict = {}
    return parametrize_with_checks(
        estimators, expected_failed_checks=lambda estimator: failing, **strict
    )


def awkward_table(n: int, seed: int, *, few_values: bool = True) -> tuple[pd.DataFrame, np.ndarray]:
    """A small table with ties, duplicates, a constant column, gaps and categories."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "steps": rng.integers(0, 4, n).astype(float) if few_values else rng.normal(size=n),
            "size": rng.normal(size=n).round(1),
            "flat": np.full(n, 3.0),
            "kind": rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]).astype(object),
            "gap": rng.normal(size=n),
        }
    )
    score = X["steps"] - X["steps"].mean() + X["size"] + (X["kind"] == "a") + rng.normal(0, 0.7, n)
    y = (score > score.median()).astype(int).to_numpy()
    X.loc[rng.uniform(size=n) < 0.15, "gap"] = np.nan
    X.loc[rng.uniform(size=n) < 0.10, "kind"] = np.nan
    # Duplicates, some with the other label.
    copies = rng.integers(0, n // 2, n // 6)
    X.iloc[n - len(copies) :] = X.iloc[copies].to_numpy()
    return X.astype({"steps": float, "size": float, "flat": float, "gap": float}), y


@pytest.fixture
def data_folder() -> Path:
    folder = os.environ.get("FALCON_DISCOVER_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the folder of data sets is not here (set FALCON_DISCOVER_DATA)")
    return Path(folder)
