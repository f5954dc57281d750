"""Beyond the paper: rank only what can be a confident error first."""

from __future__ import annotations

from falcon_discover.metrics import gated_confidence
from falcon_discover.rankers.base import Ranker
from falcon_discover.signals.state import State
from falcon_discover.tables import FloatArray


class GatedConfidence(Ranker):
    """Eligible rows first, then lowest confidence; no learning, no labels."""

    name = "gated_confidence"

    def score(self, state: State) -> FloatArray:
        """Return the gated confidence."""
        return gated_confidence(state.confidence, self.tau_)
