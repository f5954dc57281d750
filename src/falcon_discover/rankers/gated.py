"""Beyond the paper: rank only what can be a confident error first."""

from __future__ import annotations

import numpy as np

from falcon_discover.rankers.base import Ranker
from falcon_discover.signals.state import State
from falcon_discover.tables import FloatArray


def gate(state: State, tau: float) -> FloatArray:
    """Return the gated-confidence suspicion: eligible rows first, least confident leading.

    Eligible rows score in (1, 1.5]; the others follow with their confidence, those
    closest to the threshold first.

    Examples
    --------
    >>> gate(State.from_scores(np.array([0.91, 0.99, 0.6])), tau=0.90)
    array([1.09, 1.01, 0.6 ])
    """
    confidence = state.confidence
    return np.where(confidence >= tau, 2.0 - confidence, confidence)


class GatedConfidence(Ranker):
    """Eligible rows first, then lowest confidence; no learning, no labels."""

    name = "gated_confidence"

    def score(self, state: State) -> FloatArray:
        """Return the gated confidence."""
        return gate(state, self.tau_)
