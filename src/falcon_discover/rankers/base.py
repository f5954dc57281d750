"""What every ranker is: something that turns a state into suspicion."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy.typing as npt
from sklearn.base import BaseEstimator

from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import Tau
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import State

# "all": out-of-fold training rows, and validation rows where there are any.
LabelSource = Literal["validation", "oof", "both", "all"]
Target = Literal["events", "errors"]


class Ranker(BaseEstimator):
    """Turns a state into suspicion; higher is reviewed first.

    A ranker sees only the state. Subclasses override `score`, and `fit` if they learn.

    Attributes
    ----------
    name : the name it goes by in tables
    needs : the signals without which it cannot score
    labels : which labelled rows it learns from, or None if it learns from none
    target : what `fit` is told about them: which are false-confidence events, or which are
        errors at any confidence
    wants_opinions : whether second opinions are worth training for it
    gated : whether rows below the threshold are ranked by their confidence alone, so that no other
        signal of theirs is needed
    cross_fits : whether `fit` leaves scores of its own rows in `held_out_`, each by a model that
        did not see the row; otherwise rows are scored by refitting without their fold
    """

    name: ClassVar[str] = "custom"
    needs: ClassVar[tuple[str, ...]] = ()
    labels: LabelSource | None = None
    target: ClassVar[Target] = "events"
    wants_opinions: ClassVar[bool] = False
    gated: ClassVar[bool] = False
    cross_fits: ClassVar[bool] = False
    held_out_: FloatArray
    tau_: Tau = PAPER.tau

    def fit(self, state: State, false_confidence: npt.ArrayLike, tau: Tau = PAPER.tau) -> Self:
        """Take the threshold; labels are not looked at."""
        self.tau_ = tau
        return self

    def score(self, state: State) -> FloatArray:
        """Return the suspicion of each row."""
        raise NotImplementedError

    def check(self, state: State) -> None:
        """Raise if the state lacks a signal that this ranker needs."""
        missing = [name for name in self.needs if name not in state.signals.columns]
        if missing:
            raise InputError(
                f"ranker {self.name!r} needs {', '.join(missing)}, which only a model provides: "
                "pass the model, or choose a ranker that works on predictions."
            )


def trait(ranker: Any, name: str) -> Any:
    """Return what a ranker says of itself; an object of the user's own need not say anything."""
    default = type(ranker).__name__ if name == "name" else getattr(Ranker, name)
    return getattr(ranker, name, default)
