"""Tables whose truth is known: P(y | x) with an interaction and a category that a line misses."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit

COLUMNS = 6
LEVELS = np.array(["a", "b", "c", "d"])


def features(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return six normal columns and a category."""
    numbers = rng.normal(size=(n, COLUMNS))
    table = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(COLUMNS)])
    table["kind"] = LEVELS[rng.integers(0, len(LEVELS), n)]
    return table


def truth(X: pd.DataFrame) -> np.ndarray:
    """Return the probability that each row is positive."""
    line = 2.0 * X["x0"] + 1.2 * X["x1"] - 0.8 * X["x2"]
    bend = 1.2 * X["x3"] * X["x4"] + 1.5 * (X["kind"] == "d") * np.sign(X["x1"])
    return expit((line + bend).to_numpy())


def draw(seed: int, n: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return rows, labels and the true probabilities."""
    rng = np.random.default_rng(seed)
    X = features(rng, n)
    p = truth(X)
    return X, (rng.uniform(size=n) < p).astype(int), p


def linear_scores(X: pd.DataFrame) -> np.ndarray:
    """Return what a linear model that was fitted elsewhere says, over-confident by a tenth."""
    return expit(1.1 * (1.7 * X["x0"] + 1.0 * X["x1"] - 0.7 * X["x2"]).to_numpy())


def confident_error_rate(p: np.ndarray, score: np.ndarray, tau: float = 0.9) -> np.ndarray:
    """Return the true probability that each prediction is a confident error."""
    wrong = np.where(score >= 0.5, 1 - p, p)
    return np.where(np.maximum(score, 1 - score) >= tau, wrong, 0.0)
