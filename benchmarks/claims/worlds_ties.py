"""Scored rows whose truth is known, and what versions of the package make of their content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

TAU = 0.85
LEAVES = np.array([0.02, 0.05, 0.08, 0.11, 0.14, 0.30, 0.60, 0.90])


@dataclass(frozen=True)
class Rows:
    """Labelled rows: the score of a model, whether it is wrong, and the row's own values."""

    p: np.ndarray
    label: np.ndarray
    value: np.ndarray

    @property
    def confidence(self) -> np.ndarray:
        """How sure the model is."""
        return np.maximum(self.p, 1 - self.p)

    @property
    def eligible(self) -> np.ndarray:
        """Which rows it is sure of."""
        return self.confidence >= TAU

    @property
    def events(self) -> np.ndarray:
        """Which of them are wrong."""
        return self.eligible & ((self.p >= 0.5) != self.label)

    @property
    def score(self) -> np.ndarray:
        """The suspicion: eligible rows first, the least confident leading."""
        return np.where(self.eligible, 2.0 - self.confidence, self.confidence)

    def take(self, rows: np.ndarray) -> Rows:
        """Return rows by position."""
        return replace(self, p=self.p[rows], label=self.label[rows], value=self.value[rows])


def leaves(n: int, seed: int) -> Rows:
    """Rows scored by eight leaves, as a tree of depth 3 scores them; somewhat too sure."""
    rng = np.random.default_rng(seed)
    p = LEAVES[rng.integers(0, len(LEAVES), n)]
    truth = np.where(p < 0.5, 0.4 * p, 1 - 0.4 * (1 - p))
    return Rows(p, rng.uniform(size=n) < truth, rng.normal(size=n))


def smooth(n: int, seed: int) -> Rows:
    """Rows with scores that all differ."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.35, 0.35, n)
    truth = np.where(p < 0.5, 0.8 * p, 1 - 0.8 * (1 - p))
    return Rows(p, rng.uniform(size=n) < truth, rng.normal(size=n))


def content(rows: Rows) -> dict[str, Any]:
    """Return what bounds are told about the rows' content; the first release took nothing."""
    try:
        from falcon_discover.data.twins import Content
    except ImportError:
        return {}
    hashes = pd.util.hash_array(rows.value) ^ pd.util.hash_array(rows.p)
    return {"content": Content.of(hashes, 0, rows.label, rows.p)}


class Truth:
    """The rate of confident errors that a budget leaves in a large population."""

    def __init__(self, rows: Rows) -> None:
        order = np.argsort(-rows.score, kind="stable")
        score, events = rows.score[order], rows.events[order].astype(float)
        # Rows of equal score are read in any order: each carries the mean of its block.
        _, block = np.unique(-score, return_inverse=True)
        mean = np.bincount(block, events) / np.bincount(block)
        self.found = np.concatenate([[0.0], np.cumsum(mean[block])])
        self.rate = float(events.mean())

    def left(self, budget: float) -> float:
        """Return the rate that a budget leaves."""
        n = len(self.found) - 1
        read = min(n, round(budget * n))
        return float((self.found[-1] - self.found[read]) / (n - read)) if read < n else 0.0

    def after(self, found: Any) -> float:
        """Return the rate that a guaranteed budget leaves."""
        return 0.0 if found.all_eligible else self.left(found.budget)
