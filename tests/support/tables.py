"""Tables with everything that goes wrong in tables."""

from __future__ import annotations

import numpy as np
import pandas as pd


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
