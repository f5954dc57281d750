"""Rankers by name: `rankers.make("learned")`, or pass an instance of your own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from falcon_discover.exceptions import InputError
from falcon_discover.rankers.base import LabelSource, Ranker, trait
from falcon_discover.rankers.fixed import (
    ConfidenceRanker,
    DiscrepancyRanker,
    RandomRanker,
    StabilityRanker,
)
from falcon_discover.rankers.gated import (
    GatedConfidence,
    GatedRisk,
    GatedSignal,
    GatedStability,
    check_severity,
)
from falcon_discover.rankers.learned import LearnedWitness

__all__ = [
    "BASELINES",
    "RANKERS",
    "ConfidenceRanker",
    "DiscrepancyRanker",
    "GatedConfidence",
    "GatedRisk",
    "GatedSignal",
    "GatedStability",
    "LabelSource",
    "LearnedWitness",
    "RandomRanker",
    "Ranker",
    "StabilityRanker",
    "compared",
    "make",
    "name_of",
    "specified",
    "trait",
]

RANKERS: dict[str, Callable[[], Ranker]] = {
    "auto": GatedRisk,
    "random": RandomRanker,
    "confidence": ConfidenceRanker,
    "s_stab": StabilityRanker,
    "s_disc": DiscrepancyRanker,
    "learned": LearnedWitness,
    "learned_oof": lambda: LearnedWitness("oof"),
    "learned_both": lambda: LearnedWitness("both"),
    "gated_confidence": GatedConfidence,
    "gated_trustscore": lambda: GatedSignal("log_trust_1"),
    "gated_stability": GatedStability,
}

# Shown beside any ranker: they need no labels, and a ranker earns its keep by beating them.
BASELINES = ("gated_confidence", "s_disc", "s_stab", "confidence", "random")


def specified(ranker: Any, severity: str = "count") -> Any:
    """Return the ranker that a name and a severity ask for.

    Examples
    --------
    >>> specified("auto", "surprise")
    GatedRisk(severity='surprise')
    """
    check_severity(severity)
    if severity == "count":
        return ranker
    if ranker != "auto":
        raise InputError(
            f"severity={severity!r} only applies to ranker='auto', not to {ranker!r}: leave it out."
        )
    return GatedRisk("surprise")


def make(ranker: Any) -> Ranker:
    """Return a fresh ranker from a name or an instance.

    Examples
    --------
    >>> make("s_stab")
    StabilityRanker()
    """
    if isinstance(ranker, str):
        if ranker not in RANKERS:
            raise InputError(
                f"there is no ranker {ranker!r}: choose one of {', '.join(RANKERS)}, or pass an "
                "object with fit(state, false_confidence, tau) and score(state)."
            )
        return RANKERS[ranker]()
    if not (hasattr(ranker, "fit") and hasattr(ranker, "score")):
        raise InputError(
            f"ranker is {ranker!r}: give a name or an object with fit(state, false_confidence, "
            "tau) and score(state)."
        )
    copy: Ranker = clone(ranker, safe=False)
    return copy


def name_of(ranker: Any) -> str:
    """Return the name of a ranker that is given by name or as it is."""
    return ranker if isinstance(ranker, str) else trait(ranker, "name")


def compared(ranker: Any, known: set[str]) -> dict[str, Any]:
    """Return the ranker and the baselines that the known signals suffice for, by name."""
    own = {name_of(ranker): ranker}
    others = {name: name for name in BASELINES if set(make(name).needs) <= known}
    return {**own, **(others | own)}
