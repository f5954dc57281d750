from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def rows():
    """Two numeric columns and labels that follow them with noise."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(160, 2)), columns=["a", "b"])
    return X, (X["a"] + rng.normal(0, 0.7, 160) > 0).to_numpy().astype(int)
