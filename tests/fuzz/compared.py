"""Rows to ask about, and what makes two answers the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover import Finding, discover
from fuzz.outcome import WrongError

SMALL: dict[str, Any] = {"cv": 2, "n_neighbors": 4, "n_regions": 2, "random_state": 0, "n_jobs": 1}


@dataclass(frozen=True)
class Rows:
    """Generated rows with labels and scores."""

    X: pd.DataFrame
    y: np.ndarray
    p: np.ndarray

    @classmethod
    def drawn(cls, rng: np.random.Generator, n: int = 40) -> Rows:
        X = pd.DataFrame(
            {
                "a": rng.normal(size=n),
                "b": rng.integers(0, 5, n).astype(float),
                "c": np.where(rng.random(n) < 0.1, np.nan, rng.gamma(2.0, size=n)),
                "k": rng.choice(["u", "v", "w"], n),
            }
        ).iloc[:, np.sort(rng.choice(4, int(rng.integers(1, 5)), replace=False))]
        # Multiples of a power of two: one minus them is exact.
        p = np.round(rng.beta(0.3, 0.3, n) * 2**20) / 2**20
        # One confident prediction in six or so is wrong, so that there is something to learn.
        y = (rng.random(n) < 0.15 + 0.7 * p).astype(int)
        y[:4] = 0, 1, 0, 1
        # Some rows are the same, and some scores.
        X.iloc[-3:] = X.iloc[:3].to_numpy()
        p[-3:] = p[:3]
        return cls(X, y, p)


def audited(rows: Rows, ranker: str, **more: Any) -> Finding:
    return discover(rows.X, rows.y, rows.p, **{**SMALL, "ranker": ranker, **more})


def exactly(one: Any, other: Any, what: str) -> None:
    if not np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True):
        raise WrongError(f"{what}: not the same to the last bit")


def closely(one: Any, other: Any, what: str) -> None:
    if not np.allclose(np.asarray(one), np.asarray(other), rtol=1e-9, atol=1e-12, equal_nan=True):
        raise WrongError(f"{what}: not the same")


def said(found: Finding) -> pd.DataFrame:
    """Return suspicion, signals and events of each row."""
    return (
        found.frame()
        .reset_index(drop=True)
        .assign(suspicion=found.suspicion(), event=found.events.astype(float))
    )


def same_finding(one: Finding, other: Finding, same: Callable[[Any, Any, str], None]) -> None:
    mine, theirs = said(one), said(other)
    for name in mine:
        same(mine[name], theirs[name], name)
    same(
        one.risk() if one.risk() is not None else 0,
        other.risk() if other.risk() is not None else 0,
        "risk",
    )
