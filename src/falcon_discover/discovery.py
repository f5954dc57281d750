"""What is known about a set of rows: signals, suspicion, regions, and how good they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover import progress, rankers
from falcon_discover.exceptions import DataWarning, InputError
from falcon_discover.metrics import false_confidence
from falcon_discover.rankers.training import TrainingRows, check_labels
from falcon_discover.reasons import review_list
from falcon_discover.regions.clusters import RegionSet
from falcon_discover.results import Evaluation, evaluate
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import SIGNALS, STABILITY_SIGNALS, State
from falcon_discover.tables import FloatArray

NO_MODEL = (
    "There was no model to probe, so the stability signals "
    f"({', '.join(STABILITY_SIGNALS)}) are absent and rankers that need them are left out."
)
# Regions are found with the learned score of the rows they are found on.
REGION_WITNESS = "learned_oof"


@dataclass(frozen=True)
class Discovery:
    """The finding on a set of rows; `discover()` returns one, and so does `falcon.examine(X)`.

    Attributes
    ----------
    state : the rows' signals
    codes : their labels as 0/1, or None if they are not known
    regions : the regions, described on these rows where their labels are known
    """

    state: State
    codes: npt.NDArray[np.int8] | None
    index: pd.Index
    classes: npt.NDArray[Any]
    tau: float
    ranker: Any
    regions: RegionSet
    learned: FloatArray
    scorer: Callable[[Any, float], FloatArray]

    @classmethod
    def of_training_rows(
        cls,
        rows: TrainingRows,
        *,
        classes: npt.NDArray[Any],
        index: pd.Index,
        tau: float,
        ranker: Any,
        n_regions: int,
        seed: int,
    ) -> Discovery:
        """Return the finding on cross-fitted rows; no ranker scores a row it learned from."""
        checked = rankers.make(ranker)
        if isinstance(checked, rankers.Ranker):
            checked.check(rows.oof.state)
        check_labels(getattr(checked, "labels", None), has_validation=rows.validation is not None)
        progress.expect(1)
        progress.step("regions")
        state, codes = rows.oof.state, rows.oof.codes
        learned = _witness_scores(lambda: rows.oof_scores(REGION_WITNESS, tau))
        regions = RegionSet.find(
            state,
            learned,
            rows.oof.events(tau),
            state.decision == codes,
            n_regions=n_regions,
            seed=seed,
        )
        return cls(state, codes, index, classes, tau, ranker, regions, learned, rows.oof_scores)

    def of_new_rows(
        self,
        state: State,
        index: pd.Index,
        codes: npt.NDArray[np.int8] | None,
        rows: TrainingRows,
    ) -> Discovery:
        """Return the finding on other rows, by the rankers and regions of the training rows."""
        witness = _witness_scores(lambda: rows.ranker(REGION_WITNESS, self.tau).score(state))
        regions = self.regions
        if codes is not None:
            regions = regions.described(
                state,
                witness,
                false_confidence(codes, state.p, self.tau),
                state.decision == codes,
            )
        return replace(
            self,
            state=state,
            codes=codes,
            index=index,
            regions=regions,
            learned=witness,
            scorer=_NewRows(rows, state),
        )

    def frame(self) -> pd.DataFrame:
        """Return the ten signals of each row; without a model the stability ones are NaN."""
        return signal_frame(self.state, self.index)

    def suspicion(self) -> FloatArray:
        """Return the suspicion of each row, higher = review first."""
        return self.scorer(self.ranker, self.tau)

    def review(self, budget: float = PAPER.main_budget) -> pd.DataFrame:
        """Return the most suspicious share of the rows with a reason for each."""
        return review_list(
            self.state,
            self.suspicion(),
            self.regions.assign(self.state, self.learned),
            classes=self.classes,
            tau=self.tau,
            budget=budget,
            index=self.index,
        )

    def evaluate(
        self, *, budgets: Sequence[float] = PAPER.budgets, taus: Sequence[float] = PAPER.taus
    ) -> Evaluation:
        """Return how well the ranker and the baselines find the rows' confident errors."""
        if self.codes is None:
            raise InputError("evaluate needs labels: give y with X.")
        own = _name(self.ranker)
        others = [
            name
            for name in rankers.BASELINES
            if name != own and set(rankers.make(name).needs) <= set(self.state.signals.columns)
        ]
        return evaluate(
            self.state,
            self.codes,
            lambda name, tau: self.scorer(self.ranker if name == own else name, tau),
            rankers=[own, *others],
            tau=self.tau,
            budgets=budgets,
            taus=taus,
        )

    def __repr__(self) -> str:
        if self.codes is None:
            eligible = int(self.state.eligible(self.tau).sum())
            return (
                f"{len(self.state):,} rows without labels, {eligible:,} of them with a "
                f"confidence of at least {self.tau:g}; review(budget) ranks them."
            )
        note = "" if self.state.has_stability else f"\n\n{NO_MODEL}"
        return f"{self.evaluate(taus=())}{note}\n\nRegions:\n{self.regions}"


@dataclass(frozen=True)
class _NewRows:
    """Scores rows by rankers fitted on other rows."""

    rows: TrainingRows
    state: State

    def __call__(self, ranker: Any, tau: float) -> FloatArray:
        return self.rows.ranker(ranker, tau).score(self.state)


def signal_frame(state: State, index: pd.Index) -> pd.DataFrame:
    """Return the ten signals with the rows' own labels as index."""
    return state.signals.reindex(columns=list(SIGNALS)).set_axis(index, axis=0)


def _name(ranker: Any) -> str:
    if isinstance(ranker, str) and ranker != "auto":
        return ranker
    made = rankers.make(ranker)
    return getattr(made, "name", type(made).__name__)


def _witness_scores(score: Callable[[], FloatArray]) -> FloatArray:
    """Return learned scores; where there is nothing to learn, regions do without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return score()
