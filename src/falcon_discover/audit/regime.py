"""Conflict amplification of a finding, and the regime it speaks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from falcon_discover.data.twins import one_of_each
from falcon_discover.regions.conflict import (
    Conflict,
    chosen_gain,
    conflict_grid,
    folds_by_confidence,
)
from falcon_discover.runtime import notices

if TYPE_CHECKING:
    from falcon_discover.audit.finding import Finding

# Rankers of the discrepancy family, of which the regime takes the best.
FAMILY = ("s_stab", "s_disc", "learned_oof")


def judged_conflict(found: Finding) -> Conflict:
    """Return the slices of a labelled finding with the gain of the family over the priors."""
    state, tau, events = found.state, found.tau, found.events
    confidence = state.confidence
    known = {name: state.signals[name].to_numpy() for name in state.signals}
    distinct = one_of_each(found.content.sets, confidence) if found.content.twins else None
    slices = conflict_grid(known, events, confidence, state.level(tau), distinct, state.design)
    trust = state.evidence["log_trust_1"].to_numpy()
    priors = [found.score("confidence", tau), -trust]
    # Where there is nothing to learn, fit has said so.
    with notices.collected():
        family = [found.score(name, tau) for name in FAMILY]
    fold = state.fold
    if fold is None:
        fold = folds_by_confidence(confidence, state.group)
    to_learn_from = int(found.audit.training.source("all").events(tau).sum())
    gain = chosen_gain(events, family, priors, fold, weight=state.weight)
    return Conflict.judge(slices, to_learn_from, gain)
