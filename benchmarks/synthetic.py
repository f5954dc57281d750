"""The synthetic table that several measurements share."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification


def wide_table(rows: int, columns: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers with a class that a model finds, but for one row in twenty."""
    X, y = make_classification(
        rows,
        columns,
        n_informative=columns // 2,
        n_redundant=columns // 5,
        flip_y=0.1,
        random_state=0,
    )
    return pd.DataFrame(X, columns=[f"c{i:02d}" for i in range(columns)]), y
