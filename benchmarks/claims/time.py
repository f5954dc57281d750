"""Rows that change as time goes on: what an audit says of the rows to come."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.claims.common import Measured, mean, simulated
from scipy.special import expit
from sklearn.model_selection import TimeSeriesSplit
from sklearn.tree import DecisionTreeClassifier

from falcon_discover import FalconDiscover

AREA = "time"
PERIODS = 6
TAU = 0.8
MARGIN = 0.02


def drifting(seed: int, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows of one period more than are audited, in the order of time.

    What a column means for the label is drawn anew in each period, and another column tells the
    period: a model that has seen a period's rows knows what it means there, and nowhere else.
    """
    rng = np.random.default_rng(seed)
    period = np.repeat(np.arange(PERIODS + 1), n)
    X = pd.DataFrame(rng.normal(size=(len(period), 3)), columns=["x0", "x1", "x2"])
    X["price"] = period + rng.uniform(size=len(period))
    meaning = rng.normal(0, 2.5, PERIODS + 1)[period]
    y = rng.uniform(size=len(period)) < expit(1.5 * X["x0"] + meaning * X["x1"])
    return X, y.to_numpy().astype(int)


def audited(seed: int, n: int, cv: Any) -> float:
    """Return how far the estimated rate of confident errors lies above that of the rows to come."""
    X, y = drifting(seed, n)
    past = slice(0, PERIODS * n)
    model = DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
    falcon = FalconDiscover(model, tau=TAU, ranker="gated_confidence", cv=cv, random_state=seed)
    found = falcon.fit(X[past], y[past]).examine()
    later = X[PERIODS * n :]
    p = falcon.predict_proba(later)
    to_come = (p.argmax(axis=1) != y[PERIODS * n :]) & (p.max(axis=1) >= TAU)
    return float(found.events.mean() - to_come.mean())


def measure(share: float) -> Iterator[Measured]:
    """Yield the lines of this area."""
    draws = max(2, round(share * 200))
    what = "estimated rate of confident errors, minus that of the rows to come"
    ordered = simulated(partial(audited, n=200, cv=TimeSeriesSplit(PERIODS - 1)), draws)
    nominal = f"within {MARGIN:g} of 0"
    yield mean(AREA, f"audit in the order of time: {what}", ordered, nominal=nominal, within=MARGIN)
    shuffled = simulated(partial(audited, n=200, cv=5), draws)
    yield mean(
        AREA,
        f"shuffled audit, wrong for such rows: {what}",
        shuffled,
        nominal="below -0.05",
        at_most=-0.05,
    )
