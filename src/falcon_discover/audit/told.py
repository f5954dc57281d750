"""A finding in words, as it prints itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from falcon_discover.audit.absent import NO_MODEL
from falcon_discover.data.labels import label_repr
from falcon_discover.runtime.words import level

if TYPE_CHECKING:
    from falcon_discover.audit.finding import Finding


def told(found: Finding) -> str:
    """Return what is known about the rows: how many are confident, how wrong, and where."""
    if found.codes is None:
        sure = int(found.state.eligible(found.tau).sum())
        return (
            f"{len(found.state):,} rows without labels. The model is at least {level(found.tau)} "
            f"sure of {sure:,} of them. Call review(budget) to rank them. {_score(found)}"
        )
    evaluation = found.evaluate(taus=())
    if not found.audit.has_rows:
        return f"{evaluation}\n\n{found.regions}"
    note = "" if found.state.has_stability else f"\n\n{NO_MODEL}"
    return f"{evaluation}\n\n{_score(found)}{note}\n\n{found.regions}"


def _score(found: Finding) -> str:
    if len(found.classes) > 2:
        return "The score p is the probability of the predicted class."
    first, last = map(label_repr, found.classes[[0, -1]])
    given = "" if found.audit.scored else f"; the scores passed in were those of {first}"
    return f"The score p is the probability of {last}{given}."
