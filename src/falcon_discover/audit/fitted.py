"""The fitted audit: everything that a fit leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binom

from falcon_discover import rankers
from falcon_discover.audit.absent import (
    LEFT_OUT,
    NO_FIT_ROWS,
    NO_MODEL,
    NO_SCORES,
    ONLY_CONFIDENCE,
)
from falcon_discover.audit.checks import warn_own_decisions
from falcon_discover.audit.drawn import Drawn
from falcon_discover.audit.finding import Finding
from falcon_discover.audit.learned import Learned
from falcon_discover.calibration import calibration_weights, fitted_calibrator, training_weights
from falcon_discover.calibration.discrepancy import Caution
from falcon_discover.calibration.model import StateCalibrator
from falcon_discover.data.table import Kind, Table
from falcon_discover.data.view import TransformedView
from falcon_discover.evaluation.contributions import Contributions, contributions
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import Tau
from falcon_discover.models.adapter import Probe
from falcon_discover.rankers.training import TrainingRows
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.runtime import notices, progress
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.builder import StateBuilder
from falcon_discover.signals.reference import Reference
from falcon_discover.signals.state import State

# Two rows closer than this are the same row (float32 coordinates).
DUPLICATE_DISTANCE = 1e-6
# So many rows with a twin among the fit's would be met by chance less often than this.
KNOWN_BY_CHANCE = 0.01
# If more rows of the fit than this have a twin among each other, so will any new ones.
NEARLY_ALL = 0.9
# Regions are described with the learned score of the rows they are described on.
REGION_WITNESS = "learned_oof"


@dataclass(frozen=True, eq=False)
class FittedAudit:
    """What is known after a fit, and how other rows are judged by it.

    An audit of predictions alone has no model: the scores of other rows come with them. One that
    was saved without rows has no reference, table or training rows: it ranks by confidence.

    Parameters
    ----------
    classes : the labels; of two, the positive one last
    tau : confidence from which a wrong prediction counts; one number, or one for each class
    spec : the ranker, as it was asked for
    seed : of everything drawn, and of the order of equal rows
    kinds : the columns and what they hold
    table, training : the rows of the fit that were held out, and their cross-fitted states with
        labels
    regions : what was found on them
    fitted_on : how many rows there were; a saved audit may keep fewer
    source : what is known about these rows, in words; see `falcon_discover.evaluation.sources`
    view : the transformed view of the rows
    model, reference, builder : what the states of other rows are measured with
    scored : which class a given score was the probability of; `state.p` is that of the last
    decides_otherwise : whether the model's own decisions are not those of its scores
    threshold : from which the positive one of two classes is decided
    held_out : which rows of the fit were held out, and so are judged; None if all were. The others
        are compared with
    learned : what it learned from reviewed rows; None if it has not
    """

    classes: npt.NDArray[Any]
    tau: Tau
    spec: Any
    seed: int
    kinds: dict[str, Kind]
    table: Table
    training: TrainingRows
    regions: RegionSet
    fitted_on: int
    source: str
    view: TransformedView | None = None
    model: Probe | None = None
    reference: Reference | None = None
    builder: StateBuilder | None = None
    scored: int = 1
    decides_otherwise: bool = False
    threshold: float = PAPER.decision_threshold
    held_out: BoolArray | None = None
    learned: Learned | None = None

    @property
    def has_rows(self) -> bool:
        """Whether rows of the fit are left to learn from and to compare with."""
        return len(self.training.oof.codes) > 0

    @property
    def ranker(self) -> rankers.Ranker:
        """The fitted ranker."""
        return self.ranker_of(self.spec, self.tau)

    def ranker_of(self, spec: Any, tau: Tau) -> rankers.Ranker:
        """Return any ranker, fitted once on the rows it learns from."""
        if not self.has_rows:
            made = rankers.make(spec)
            if rankers.trait(made, "labels") is not None:
                raise InputError(f"the ranker {spec!r} learns from {LEFT_OUT}")
            if not set(rankers.trait(made, "needs")) <= set(
                self.training.oof.state.signals.columns
            ):
                raise InputError(f"the ranker {spec!r} compares rows with {LEFT_OUT}")
        return self.training.ranker(spec, tau)

    def state(
        self,
        table: Table,
        p: FloatArray | None = None,
        *,
        extended: bool = True,
        only_eligible: bool = False,
    ) -> State:
        """Return the state of rows that were not given to the fit.

        Parameters
        ----------
        p : the scores of the rows, where there is no model to ask
        extended : whether more than the paper's signals is wanted
        only_eligible : measure eligible rows alone, which is less work; for rankers that put them
            first anyway
        """
        if self.reference is None or self.builder is None:
            notices.warn(ONLY_CONFIDENCE)
            return certainty_alone(self.scores(table, p), self.threshold)
        if self.model is None:
            p = self.scores(table, p)
        eligible_at = self.tau if only_eligible else None
        state = self.builder.build(
            table, self.reference, p, extended=extended, eligible_at=eligible_at
        )
        self._warn_rows_of_fit(state)
        return state

    def scores(self, table: Table, p: FloatArray | None = None) -> FloatArray:
        """Return the scores of rows: the model's, or where there is none those that were given."""
        if self.model is not None:
            return self.model.score(table)
        if p is None:
            raise InputError(NO_SCORES)
        return p

    def score(self, state: State) -> FloatArray:
        """Return the suspicion of rows, higher = review first."""
        return self.judge(state)[0]

    def judge(self, state: State) -> tuple[FloatArray, FloatArray | None]:
        """Return suspicion and, where the ranker estimates it, the risk of a confident error."""
        ranker = self.ranker
        if not isinstance(ranker, rankers.GatedRisk):
            return ranker.score(state), None
        risk = ranker.risk(state)
        return ranker.by_risk(state, risk), risk

    def examine(
        self,
        table: Table | None = None,
        codes: npt.NDArray[np.int8] | None = None,
        p: FloatArray | None = None,
        drawn: Drawn | None = None,
    ) -> Finding:
        """Return everything known about rows; without any, about the rows of the fit.

        Parameters
        ----------
        drawn : groups and weights of the rows
        """
        if table is None:
            return self._fit_rows
        state = self.state(table, p)
        if drawn is not None:
            state = drawn.given_to(state)
        if self.decides_otherwise and self.model is not None:
            differing = self.model.differing(self.model.encode(table), state.p, self.threshold)
            warn_own_decisions(differing, len(table), self.threshold, len(self.classes))
        return Finding(self, table, state, codes).warned()

    @cached_property
    def _fit_rows(self) -> Finding:
        if not self.has_rows:
            raise InputError(NO_FIT_ROWS)
        rows = self.training.oof
        return Finding(
            self, self.table, rows.state, rows.codes, is_fit_rows=True, source=self.source
        )

    def regions_on(
        self, frame: pd.DataFrame, state: State, codes: npt.NDArray[np.int8]
    ) -> RegionSet:
        """Return the regions with their figures on labelled rows other than those of the fit."""
        if not self.has_rows:
            return replace(self.regions, here=())
        events = state.events(codes, self.tau)
        # Where there was nothing to learn, regions do without.
        with notices.collected():
            witness = self.ranker_of(REGION_WITNESS, self.tau).score(state)
        clusters = self.regions.clusters.described(state, witness, events, state.decision == codes)
        return self.regions.described(clusters, frame, state, self.tau, events)

    def calibrator(
        self, method: str, *, weighted: bool = False, caution: Caution = 0.0
    ) -> StateCalibrator:
        """Return a calibrator fitted on the rows that rankers learn from."""
        if not self.has_rows:
            raise InputError(f"a calibrator learns from {LEFT_OUT}")
        progress.expect(1)
        progress.step(f"calibrator: {method}")
        rows = self.training.source("all")
        weights = rows.state.weight
        if weighted:
            if not rows.state.has_stability:
                raise InputError(f"calibration weights need a model. {NO_MODEL}")
            own = training_weights(calibration_weights(rows.state, rows.events(self.tau)))
            weights = own if weights is None else own * weights
        return fitted_calibrator(method, rows.state, rows.codes, weights, caution=caution)

    def contributions(self) -> Contributions:
        """Return what each signal family contributes, on the rows the ranker learned from."""
        if not self.has_rows:
            raise InputError(f"contributions are measured on {LEFT_OUT}")
        ranker = self.ranker
        if not isinstance(ranker, rankers.GatedRisk):
            ranker = self.ranker_of("auto", self.tau)
            assert isinstance(ranker, rankers.GatedRisk)
        return contributions(self.training.source(ranker.labels), ranker, self.tau)

    def are_rows_of_fit(self, state: State) -> bool:
        """Return whether rows that were measured as new ones are, for the most part, not new.

        In a table where many rows are alike, new rows have twins too: more must have one than
        chance explains. Where nearly all have one, nothing can be told.
        """
        usual, compared, twins = share_of_twins(self.training.oof.state), *_twins(state)
        if usual > NEARLY_ALL:
            return False
        by_chance = float(binom.sf(twins - 1, compared, usual))
        return twins > compared * (0.5 + usual / 2) and by_chance < KNOWN_BY_CHANCE

    def _warn_rows_of_fit(self, state: State) -> None:
        twins = share_of_twins(state)
        if self.are_rows_of_fit(state):
            notices.warn(
                f"{100 * twins:.0f}% of these rows are also rows of the fit, so each is its own "
                "nearest neighbour and looks safer than it is. In Python, call the method "
                "without X for their out-of-fold results (signals: examine().frame())."
            )


def certainty_alone(p: FloatArray, threshold: float = PAPER.decision_threshold) -> State:
    """Return a state of native certainty, without a row to compare with."""
    state = State.from_scores(p, threshold)
    return replace(state, evidence=pd.DataFrame({"nearest_distance": np.nan}, state.signals.index))


def share_of_twins(state: State) -> float:
    """Return which share of the rows that were compared is among those they were compared with."""
    compared, twins = _twins(state)
    return twins / compared if compared else 0.0


def _twins(state: State) -> tuple[int, int]:
    """Return how many rows were compared with others, and how many are among these."""
    distances = state.evidence["nearest_distance"].dropna()
    return len(distances), int((distances < DUPLICATE_DISTANCE).sum())
