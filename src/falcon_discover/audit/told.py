"""A finding in words, as it prints itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import pandas as pd

from falcon_discover.audit.absent import NO_MODEL
from falcon_discover.audit.examined import Examined
from falcon_discover.data.labels import label_repr
from falcon_discover.evaluation.results import Evaluation
from falcon_discover.evaluation.sides import plain_label
from falcon_discover.metrics.decisions import by_name
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.words import level
from falcon_discover.settings import PAPER


class Told(Result, Examined):
    """Rows that say what is known about them: how many are confident, how wrong, and where."""

    NEXT = "review(budget) lists the riskiest predictions; report(path) writes the audit as a page."

    @abstractmethod
    def evaluate(
        self,
        *,
        budgets: Sequence[float] = PAPER.budgets,
        taus: Sequence[float] = PAPER.taus,
        cost: Any = None,
    ) -> Evaluation:
        """Return how well the ranker and the baselines find the rows' confident errors."""

    def text(self) -> str:
        """Return what is known about the rows, in words."""
        if self.codes is None:
            sure = int(self.state.eligible(self.tau).sum())
            return (
                f"{len(self.state):,} rows without labels. The model is at least "
                f"{level(self.tau)} sure of {sure:,} of them. Call review(budget) to rank them. "
                f"{_score(self)}"
            )
        evaluation = self.evaluate(taus=())
        if not self.audit.has_rows:
            return f"{evaluation}\n\n{self.regions}"
        note = "" if self.state.has_stability else f"\n\n{NO_MODEL}"
        return f"{evaluation}\n\n{_score(self)}{note}\n\n{self.regions}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words; the rows themselves are in `frame()`."""
        known = self.codes is not None
        return {
            "words": self.text(),
            "rows": len(self.state),
            "eligible": int(self.state.eligible(self.tau).sum()),
            "classes": [plain_label(label) for label in self.classes],
            "tau": by_name(self.tau, self.classes),
            "evaluation": self.evaluate().to_dict() if known else None,
            "regions": self.regions.to_dict(),
        }

    def shown(self) -> pd.DataFrame:
        """Return what reviews find, or nothing where labels are not known."""
        return pd.DataFrame() if self.codes is None else self.evaluate(taus=()).shown()


def _score(found: Examined) -> str:
    if len(found.classes) > 2:
        return "The score p is the probability of the predicted class."
    first, last = map(label_repr, found.classes[[0, -1]])
    given = "" if found.audit.scored else f"; the scores passed in were those of {first}"
    return f"The score p is the probability of {last}{given}."
