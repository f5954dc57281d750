"""Rankers with nothing to learn: random, confidence, and the paper's two analytic scores."""

from __future__ import annotations

import numpy as np
import pandas as pd

from falcon_discover.rankers.base import Ranker
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import State


class RandomRanker(Ranker):
    """Random order, drawn from a hash of each row's state: reproducible in any row order."""

    name = "random"

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def score(self, state: State) -> FloatArray:
        """Return uniform numbers."""
        # float32: the last digits of a signal may differ between batches of one row or many.
        own = {"p": state.p}
        if state.p.ndim == 2:
            own = {f"p{c}": state.p[:, c] for c in range(state.n_classes)}
        frame = state.signals.assign(**own, seed=self.random_state).astype(np.float32)
        hashes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
        return np.asarray(hashes >> np.uint64(11), dtype=np.float64) / 2.0**53


class ConfidenceRanker(Ranker):
    """Most confident first: the paper's confidence-only baseline."""

    name = "confidence"

    def score(self, state: State) -> FloatArray:
        """Return the confidence."""
        return state.confidence


class StabilityRanker(Ranker):
    """The stability-centered score s_stab (eq:stability_score)."""

    name = "s_stab"
    needs = ("mean_drift", "label_consistency")

    def score(self, state: State) -> FloatArray:
        """Return 0.7 mean drift + 0.3 label inconsistency."""
        self.check(state)
        weights, psi = PAPER.stability_weights, state.signals
        return np.asarray(
            weights["mean_drift"] * psi["mean_drift"]
            + weights["label_inconsistency"] * (1.0 - psi["label_consistency"]),
            dtype=np.float64,
        )


class DiscrepancyRanker(Ranker):
    """The fixed analytic discrepancy score s_disc (eq:analytic_discrepancy)."""

    name = "s_disc"
    needs = (
        "confidence",
        "mean_drift",
        "max_drift",
        "label_consistency",
        "support",
        "label_agreement",
    )

    def score(self, state: State) -> FloatArray:
        """Return the weighted sum of the six conflict cues."""
        self.check(state)
        weights, psi = PAPER.discrepancy_weights, state.signals
        return np.asarray(
            weights["confidence"] * psi["confidence"]
            + weights["mean_drift"] * psi["mean_drift"]
            + weights["max_drift"] * psi["max_drift"]
            + weights["label_inconsistency"] * (1.0 - psi["label_consistency"])
            + weights["missing_support"] * (1.0 - psi["support"])
            + weights["label_disagreement"] * (1.0 - psi["label_agreement"]),
            dtype=np.float64,
        )
