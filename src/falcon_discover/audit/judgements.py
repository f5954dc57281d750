"""What labelled rows say about a finding: how well it ranks, how much review is enough."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from falcon_discover import rankers
from falcon_discover.calibration import (
    calibration_weights,
    fitted_calibrator,
    training_weights,
)
from falcon_discover.calibration.discrepancy import Caution
from falcon_discover.calibration.model import StateCalibrator
from falcon_discover.data.table import Table
from falcon_discover.data.twins import Content, one_of_each
from falcon_discover.evaluation.budget import (
    KNOWN_UNSEEN,
    MissedBound,
    ReviewBudget,
    missed_bound,
    review_budget,
)
from falcon_discover.evaluation.contributions import Contributions, contributions
from falcon_discover.evaluation.plausibility import alerts
from falcon_discover.evaluation.results import Evaluation, evaluate
from falcon_discover.evaluation.sides import by_predicted_class, notice
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import false_confidence
from falcon_discover.metrics.ordering import tie_keys
from falcon_discover.rankers.training import TrainingRows
from falcon_discover.regions.conflict import (
    Conflict,
    chosen_gain,
    conflict_grid,
    folds_by_confidence,
)
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import FloatArray, UInt64Array
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import STABILITY_SIGNALS
from falcon_discover.signals.state import State

NO_MODEL = (
    "There was no model to probe, so the stability signals "
    f"({', '.join(STABILITY_SIGNALS)}) are absent and rankers that need them are left out."
)
ASSUMED_UNSEEN = "provided that the model has not seen these rows"
FAMILY = ("s_stab", "s_disc", "learned_oof")


class Judgements:
    """What can be asked of a finding whose labels are known; `Discovery` is one."""

    table: Table
    state: State
    codes: npt.NDArray[np.int8] | None
    classes: npt.NDArray[Any]
    tau: float
    ranker: Any
    training: TrainingRows
    source: str
    scored: int
    seed: int

    def suspicion(self) -> FloatArray:
        """Return the suspicion of each row; `Discovery` does it."""
        raise NotImplementedError

    def score(self, ranker: Any, tau: float) -> FloatArray:
        """Return the suspicion of each row by any ranker; `Discovery` does it."""
        raise NotImplementedError

    def risk(self) -> FloatArray | None:
        """Return the risk of each row, where the ranker estimates it; `Discovery` does it."""
        raise NotImplementedError

    @cached_property
    def alerts(self) -> tuple[str, ...]:
        """Why the scores cannot be what they are said to be, in sentences; mostly none.

        Scores that rank the labels backwards, or that look as if the model had been trained on
        these rows. Nothing is asked where the model is known not to have seen them.
        """
        if self.codes is None or self.source in KNOWN_UNSEEN:
            return ()
        return alerts(self.state, self.codes, self.classes, self.scored)

    @cached_property
    def one_sided(self) -> str:
        """What to know where all confident errors are rows of one class, in words; mostly empty.

        Where an alert doubts the scores themselves, nothing is said about their errors.
        """
        if self.codes is None or self.alerts:
            return ""
        return notice(by_predicted_class(self.state, self.codes, self.classes, self.tau))

    @cached_property
    def ties(self) -> UInt64Array:
        """What orders rows of equal suspicion: a hash of their content, mixed with the seed."""
        return tie_keys(self.table.row_hashes(), self.seed)

    @cached_property
    def content(self) -> Content:
        """What the labelled rows hold, as far as budgets and bounds depend on it."""
        codes = self._labels()
        return Content.of(self.table.row_hashes(), self.seed, codes, self.state.p)

    def evaluate(
        self, *, budgets: Sequence[float] = PAPER.budgets, taus: Sequence[float] = PAPER.taus
    ) -> Evaluation:
        """Return how well the ranker and the baselines find the rows' confident errors."""
        if self.codes is None:
            raise InputError("evaluate needs labels: give y with X.")
        compared = self.compared()
        return evaluate(
            self.state,
            self.codes,
            lambda name, tau: self.score(compared[name], tau),
            rankers=list(compared),
            tau=self.tau,
            budgets=budgets,
            taus=taus,
            classes=self.classes,
            assumption="" if self.source in KNOWN_UNSEEN else ASSUMED_UNSEEN,
            alerts=self.alerts,
            notice=self.one_sided,
            risk=self.risk(),
        )

    def compared(self) -> dict[str, Any]:
        """Return the rankers that are compared, by name: the own one first, then the baselines."""
        known = set(self.state.signals.columns)
        others = {n: n for n in rankers.BASELINES if set(rankers.make(n).needs) <= known}
        return {
            ranker_name(self.ranker): self.ranker,
            **(others | {ranker_name(self.ranker): self.ranker}),
        }

    def review_budget(
        self,
        max_residual_rate: float,
        confidence: float = PAPER.interval_level,
        *,
        batch: int | None = None,
    ) -> ReviewBudget:
        """Return the smallest review budget that leaves at most this rate of confident errors.

        With `batch` the statement speaks of so many rows to come, without it of the long run.
        """
        return review_budget(
            self._events(),
            self.suspicion(),
            self.state.eligible(self.tau),
            max_residual_rate=max_residual_rate,
            confidence=confidence,
            batch=batch,
            content=self.content,
            source=self.source,
            tau=self.tau,
            doubt=" ".join(self.alerts),
        )

    def missed_bound(
        self,
        budget: float,
        confidence: float = PAPER.interval_level,
        *,
        batch: int | None = None,
        simultaneous: bool = False,
    ) -> MissedBound:
        """Return how many confident errors the review of a share of the rows may leave.

        With `batch` the bound speaks of so many rows to come, without it of the long run. With
        `simultaneous` it holds for all budgets at once, so also for one chosen by looking.
        """
        return missed_bound(
            self._events(),
            self.suspicion(),
            budget=budget,
            confidence=confidence,
            batch=batch,
            simultaneous=simultaneous,
            content=self.content,
            source=self.source,
            doubt=" ".join(self.alerts),
        )

    def conflict(self) -> Conflict:
        """Return Gamma over a grid of evidence and instability, and the regime it speaks for.

        The regime compares the best ranker of the discrepancy family with the better of
        confidence and TrustScore, each chosen on other rows than it is judged on.
        """
        if not self.state.has_stability:
            raise InputError(f"conflict needs a model: {NO_MODEL}")
        events, sure = self._events(), self.state.confidence
        known = {name: self.state.signals[name].to_numpy() for name in self.state.signals}
        content = self.content
        distinct = one_of_each(content.sets, sure) if content.twins else None
        slices = conflict_grid(known, events, sure, self.tau, distinct)
        trust = self.state.evidence["log_trust_1"].to_numpy()
        priors = [self.score("confidence", self.tau), -trust]
        # Where there is nothing to learn, fit has said so.
        with notices.collected():
            family = [self.score(name, self.tau) for name in FAMILY]
        fold = folds_by_confidence(sure) if self.state.fold is None else self.state.fold
        to_learn_from = int(self.training.source("all").events(self.tau).sum())
        return Conflict.judge(slices, to_learn_from, chosen_gain(events, family, priors, fold))

    def calibration_weights(self) -> FloatArray:
        """Return w_cal of each row; its labels must be known."""
        if not self.state.has_stability:
            raise InputError(f"calibration weights need a model: {NO_MODEL}")
        return calibration_weights(self.state, self._events())

    def calibrator(
        self, method: str, *, weighted: bool = False, caution: Caution = 0.0
    ) -> StateCalibrator:
        """Return a calibrator fitted on the rows that rankers learn from."""
        rows = self.training.source("all")
        weights = None
        if weighted:
            if not rows.state.has_stability:
                raise InputError(f"calibration weights need a model: {NO_MODEL}")
            weights = training_weights(calibration_weights(rows.state, rows.events(self.tau)))
        return fitted_calibrator(method, rows.state, rows.codes, weights, caution=caution)

    def contributions(self) -> Contributions:
        """Return what each family of signals earns, on the rows that the ranker learned from."""
        ranker = self.training.ranker(self.ranker, self.tau)
        if not isinstance(ranker, rankers.GatedRisk):
            ranker = self.training.ranker("auto", self.tau)
            assert isinstance(ranker, rankers.GatedRisk)
        return contributions(self.training.source(ranker.labels), ranker, self.tau)

    def _labels(self) -> npt.NDArray[np.int8]:
        if self.codes is None:
            raise InputError("this needs labelled rows: give y with X.")
        return self.codes

    def _events(self) -> npt.NDArray[np.bool_]:
        return false_confidence(self._labels(), self.state.p, self.tau)


def ranker_name(ranker: Any) -> str:
    """Return the name of a ranker that is given by name, by class or as it is."""
    if isinstance(ranker, str):
        return ranker
    made = rankers.make(ranker)
    return getattr(made, "name", type(made).__name__)
