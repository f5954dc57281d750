"""The learned witness: a weighted linear logit over the standardised state."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from falcon_discover.metrics import gated_confidence
from falcon_discover.metrics.decisions import Tau
from falcon_discover.rankers.base import LabelSource, Ranker
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import SIGNALS
from falcon_discover.signals.state import State


class LearnedWitness(Ranker):
    """The paper's learned discrepancy ranker (eq:learned_ranker to eq:weights).

    Standardised signals, L2 logistic regression, weight `1 + eta` on events. It learns from
    the rows that `labels` names: `validation` (the paper's words), `oof` (training rows,
    out-of-fold) or `both`. Without a model it uses the signals that are there.

    Parameters
    ----------
    labels : {"validation", "oof", "both"}
    signals : names of the signals to use, or None for all that are there
    """

    name = "learned"

    def __init__(
        self, labels: LabelSource = "validation", *, signals: tuple[str, ...] | None = None
    ) -> None:
        self.labels = labels
        self.signals = signals

    def fit(self, state: State, false_confidence: npt.ArrayLike, tau: Tau = PAPER.tau) -> Self:
        """Learn which states are false-confidence events."""
        events = np.asarray(false_confidence, dtype=bool)
        self.tau_ = tau
        self.used_ = [name for name in (self.signals or SIGNALS) if name in state.signals.columns]
        self.witness_ = None
        # Rows of weight 0 teach nothing.
        taught = events if state.weight is None else events[state.weight > 0]
        if taught.all() or not taught.any():
            notices.warn(
                f"{int(taught.sum())} of {len(taught):,} calibration rows are confident errors: "
                "the learned ranker has nothing to learn from and ranks by gated confidence."
            )
            return self
        self.witness_ = standardised_logit(
            state.signals[self.used_].to_numpy(),
            events,
            1.0 + PAPER.witness_eta * events,
            state.weight,
        )
        return self

    def score(self, state: State) -> FloatArray:
        """Return the witness's probability of an event."""
        if self.witness_ is None:
            return gated_confidence(state.confidence, state.level(self.tau_))
        values = state.signals[self.used_].to_numpy()
        return np.asarray(self.witness_.predict_proba(values)[:, 1], dtype=np.float64)


def standardised_logit(
    signals: FloatArray,
    targets: BoolArray,
    weights: FloatArray,
    counts: FloatArray | None = None,
) -> Pipeline:
    """Return a weighted L2 logistic regression on standardised signals.

    The steps are fitted one by one: with metadata routing switched on, a Pipeline takes no weights
    for one of its steps.

    Parameters
    ----------
    weights : of the rows in the regression
    counts : how many rows each stands for, there and when signals are standardised
    """
    if counts is not None:
        weights = weights * counts
    # L2 is scikit-learn's default penalty. Ten columns: Newton's method reaches the optimum to
    # the last digits in a few steps, so the score does not depend on where a solver stopped.
    model = LogisticRegression(C=PAPER.witness_c, solver="newton-cholesky", tol=1e-10, max_iter=200)
    scaler = StandardScaler()
    with notices.solving():
        standardised = scaler.fit(signals, sample_weight=counts).transform(signals)
        model.fit(standardised, targets, sample_weight=weights)
    return make_pipeline(scaler, model)
