"""The finding: what is known about a set of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover import rankers
from falcon_discover.audit.absent import LEFT_OUT, NO_MODEL
from falcon_discover.audit.regime import judged_conflict
from falcon_discover.audit.review import review_list
from falcon_discover.calibration import calibration_weights
from falcon_discover.calibration.discrepancy import Caution
from falcon_discover.calibration.model import StateCalibrator
from falcon_discover.data.labels import label_repr
from falcon_discover.data.table import Table
from falcon_discover.data.twins import Content, warn_twins
from falcon_discover.evaluation import budget as guarantee
from falcon_discover.evaluation.budget import KNOWN_UNSEEN, NEW_ROWS, MissedBound, ReviewBudget
from falcon_discover.evaluation.contributions import Contributions
from falcon_discover.evaluation.plausibility import alerts
from falcon_discover.evaluation.results import Evaluation, evaluate
from falcon_discover.evaluation.sides import by_predicted_class, notice
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import Tau
from falcon_discover.metrics.ordering import tie_keys
from falcon_discover.regions.conflict import Conflict
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import BoolArray, FloatArray, UInt64Array
from falcon_discover.runtime.words import level
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import State

if TYPE_CHECKING:
    from falcon_discover.audit.fitted import FittedAudit
    from falcon_discover.plots.accessor import Plots

ASSUMED_UNSEEN = "provided that the model has not seen these rows"


@dataclass(frozen=True, eq=False)
class Finding:
    """What is known about a set of rows; `falcon.examine(X, y)` and `discover()` return one.

    Suspicion, risk and what follows from them are computed when first asked for, and kept.

    Attributes
    ----------
    audit : the fitted audit that the rows were judged by
    table : the rows
    state : their signals
    codes : their labels as positions among the classes, or None if they are not known
    is_fit_rows : whether these are the rows of the fit themselves, each judged out-of-fold
    source : what is known about these rows, in words; see `falcon_discover.evaluation.budget`
    """

    audit: FittedAudit
    table: Table
    state: State
    codes: npt.NDArray[np.int8] | None = None
    is_fit_rows: bool = False
    source: str = NEW_ROWS

    def warned(self) -> Self:
        """Say what a user must know about these rows, and return the finding."""
        for alert in self.alerts:
            notices.warn(alert)
        if self.one_sided:
            notices.warn(self.one_sided)
        if self.codes is not None:
            warn_twins(self.content.twins, len(self.codes))
        return self

    @property
    def index(self) -> pd.Index:
        """The rows' own labels."""
        return self.table.index

    @property
    def classes(self) -> npt.NDArray[Any]:
        """The labels; of two, the positive one last."""
        return self.audit.classes

    @property
    def tau(self) -> Tau:
        """Confidence from which a wrong prediction counts; one number, or one for each class."""
        return self.audit.tau

    @cached_property
    def regions(self) -> RegionSet:
        """The regions, described on these rows where they are new and their labels known."""
        if self.is_fit_rows or self.codes is None:
            return self.audit.regions
        return self.audit.regions_on(self.table.frame, self.state, self.codes)

    @cached_property
    def alerts(self) -> tuple[str, ...]:
        """Why the scores cannot be what they are said to be, in sentences; mostly none."""
        # Nothing is asked where the model is known not to have seen these rows.
        if self.codes is None or self.source in KNOWN_UNSEEN:
            return ()
        return alerts(self.state, self.codes, self.classes, self.audit.scored)

    @cached_property
    def one_sided(self) -> str:
        """What to know where all confident errors are rows of one class, in words; mostly empty."""
        # Where an alert doubts the scores themselves, nothing is said about their errors.
        if self.codes is None or self.alerts:
            return ""
        return notice(by_predicted_class(self.state, self.codes, self.classes, self.tau))

    @cached_property
    def ties(self) -> UInt64Array:
        """What orders rows of equal suspicion: a hash of their content, mixed with the seed."""
        return tie_keys(self.table.row_hashes(), self.audit.seed)

    @cached_property
    def content(self) -> Content:
        """What the labelled rows hold, as far as budgets and bounds depend on it."""
        return Content.of(
            self.table.row_hashes(), self.audit.seed, self.labels, self.state.own_score
        )

    @property
    def labels(self) -> npt.NDArray[np.int8]:
        """The labels by position among the classes, or an error that asks for them."""
        if self.codes is None:
            raise InputError("this needs labels: give y with X.")
        return self.codes

    @cached_property
    def events(self) -> BoolArray:
        """Which rows are confident errors; their labels must be known."""
        return self.state.events(self.labels, self.tau)

    @cached_property
    def _scores(self) -> dict[tuple[int | str, Tau], tuple[Any, FloatArray]]:
        """Suspicion by ranker and threshold, each with the ranker that an id stands for."""
        return {}

    def frame(self) -> pd.DataFrame:
        """Return the ten signals of each row; without a model the stability ones are NaN."""
        return self.state.frame(self.index)

    def suspicion(self) -> FloatArray:
        """Return the suspicion of each row, higher = review first."""
        return self.score(self.audit.spec, self.tau)

    def score(self, ranker: Any, tau: Tau) -> FloatArray:
        """Return the suspicion of each row by any ranker; none scores a row it learned from."""
        key = (ranker if isinstance(ranker, str) else id(ranker), tau)
        if key not in self._scores:
            if self.is_fit_rows:
                scores = self.audit.training.oof_scores(ranker, tau)
            elif ranker is self.audit.spec and tau == self.tau:
                scores = self._judged[0]
            else:
                scores = self.audit.ranker_of(ranker, tau).score(self.state)
            self._scores[key] = (ranker, scores)
        return self._scores[key][1]

    @cached_property
    def _judged(self) -> tuple[FloatArray, FloatArray | None]:
        return self.audit.judge(self.state)

    def risk(self) -> FloatArray | None:
        """Return the probability of a confident error, where the ranker estimates it."""
        if not self.is_fit_rows:
            return self._judged[1]
        ranker = self.audit.ranker
        known = isinstance(ranker, rankers.GatedRisk)
        return ranker.held_out_risk_[: len(self.state)] if known else None

    def risk_interval(self) -> tuple[FloatArray, FloatArray] | None:
        """Return between which rates rows like each are confident errors, where that is known."""
        ranker = self.audit.ranker
        if not isinstance(ranker, rankers.GatedRisk) or not ranker.calibration_.spread:
            return None
        if not self.is_fit_rows:
            return ranker.risk_interval(self.state)
        n = len(self.state)
        return ranker.held_out_low_[:n], ranker.held_out_high_[:n]

    def review(self, budget: float = PAPER.main_budget) -> pd.DataFrame:
        """Return the most suspicious share of the rows with a reason for each.

        A frame, most suspicious first: row (position), suspicion, p (the probability of the last of
        `classes`), predicted, confidence, region, region_id, reason; its index holds the row labels
        """
        numbers = self.regions.numbers(self.table.frame)
        return review_list(
            self.state,
            self.suspicion(),
            self.regions.words(numbers),
            numbers,
            classes=self.classes,
            tau=self.tau,
            budget=budget,
            index=self.index,
            risk=self.risk(),
            interval=self.risk_interval(),
            ties=self.ties,
        )

    def compared(self) -> dict[str, Any]:
        """Return the rankers that are compared, by name: the own one first, then the baselines."""
        return rankers.compared(self.audit.spec, set(self.state.signals.columns))

    def evaluate(
        self, *, budgets: Sequence[float] = PAPER.budgets, taus: Sequence[float] = PAPER.taus
    ) -> Evaluation:
        """Return how well the ranker and the baselines find the rows' confident errors."""
        codes, compared = self.labels, self.compared()
        return evaluate(
            self.state,
            codes,
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

    def review_budget(
        self,
        max_residual_rate: float,
        confidence_level: float = PAPER.interval_level,
        *,
        batch: int | None = None,
        confidence: float | None = None,
    ) -> ReviewBudget:
        """Return the smallest review budget that leaves at most this rate of confident errors.

        Parameters
        ----------
        max_residual_rate : highest rate of confident errors among the rows not reviewed
        confidence_level : probability with which the statement is to hold
        batch : how many rows to come the statement is to speak of; without it, of the long run
        confidence : the old name of `confidence_level`
        """
        return guarantee.review_budget(
            self.events,
            self.suspicion(),
            self.state.eligible(self.tau),
            max_residual_rate=max_residual_rate,
            confidence_level=notices.renamed(
                "confidence", confidence, "confidence_level", confidence_level
            ),
            batch=batch,
            content=self.content,
            design=self.state.design,
            source=self.source,
            tau=self.tau,
            doubt=" ".join(self.alerts),
        )

    def missed_bound(
        self,
        budget: float,
        confidence_level: float = PAPER.interval_level,
        *,
        batch: int | None = None,
        simultaneous: bool = False,
        confidence: float | None = None,
    ) -> MissedBound:
        """Return how many confident errors the review of a share of the rows may leave.

        Parameters
        ----------
        budget : share of the rows to review
        confidence_level, batch, confidence : as in `review_budget`
        simultaneous : whether the bound is to hold for all budgets at once, so also for one
            chosen by looking
        """
        return guarantee.missed_bound(
            self.events,
            self.suspicion(),
            budget=budget,
            confidence_level=notices.renamed(
                "confidence", confidence, "confidence_level", confidence_level
            ),
            batch=batch,
            simultaneous=simultaneous,
            content=self.content,
            design=self.state.design,
            eligible=self.state.eligible(self.tau),
            source=self.source,
            doubt=" ".join(self.alerts),
        )

    def conflict(self) -> Conflict:
        """Return Gamma over a grid of evidence and instability, and the regime it speaks for.

        The regime compares the best ranker of the discrepancy family with the better of
        confidence and TrustScore, each chosen on other rows than it is judged on.
        """
        self._check_compared("conflict", "conflict needs")
        return judged_conflict(self)

    def calibration_weights(self) -> FloatArray:
        """Return w_cal of each row; its labels must be known."""
        self._check_compared("the measure of calibration weights", "calibration weights need")
        return calibration_weights(self.state, self.events)

    def _check_compared(self, what: str, needs: str) -> None:
        if not self.audit.has_rows:
            raise InputError(f"{what} compares with {LEFT_OUT}")
        if not self.state.has_stability:
            raise InputError(f"{needs} a model: {NO_MODEL}")

    def calibrator(
        self, method: str, *, weighted: bool = False, caution: Caution = 0.0
    ) -> StateCalibrator:
        """Return a calibrator fitted on the rows of the fit; see `FittedAudit.calibrator`."""
        return self.audit.calibrator(method, weighted=weighted, caution=caution)

    def contributions(self) -> Contributions:
        """Return what each family of signals earns; see `FittedAudit.contributions`."""
        return self.audit.contributions()

    def report(
        self,
        path: str | Path,
        *,
        name: str = "rows",
        budget: float = PAPER.main_budget,
        max_residual_rate: float | None = None,
        batch: int | None = None,
        contributions: bool | None = None,
        how: dict[str, Any] | None = None,
    ) -> Path:
        """Write what was found as an offline HTML page, as Markdown and as JSON.

        Parameters
        ----------
        path : a folder for all files and the review list, or one file ending in .html, .md, .json
        name : of the data, as the report's title
        budget : share of the rows in the review list
        max_residual_rate : rate of confident errors among unread rows to find a budget for
        batch : how many rows to come budgets are to speak of; without it, of the long run
        contributions : whether to measure what each family of signals earns, which refits the
            ranker; None measures it where that takes little
        how : what else to say about where the finding comes from

        Returns
        -------
        path of the page, or of the one file
        """
        from falcon_discover.report.write import write_report

        return write_report(
            self,
            Path(path),
            name=name,
            budget=budget,
            max_residual_rate=max_residual_rate,
            batch=batch,
            contributions=contributions,
            how=how,
        )

    @property
    def plot(self) -> Plots:
        """Figures for matplotlib: `plot.capture()`, `plot.reliability()` and more."""
        from falcon_discover.plots.accessor import Plots

        return Plots(self)

    def __repr__(self) -> str:
        if self.codes is None:
            sure = int(self.state.eligible(self.tau).sum())
            return (
                f"{len(self.state):,} rows without labels, {sure:,} of them with at least "
                f"{level(self.tau)} confidence; review(budget) ranks them. {self._score}"
            )
        evaluation = self.evaluate(taus=())
        if not self.audit.has_rows:
            return f"{evaluation}\n\nRegions: {self.regions}"
        note = "" if self.state.has_stability else f"\n\n{NO_MODEL}"
        return f"{evaluation}\n\n{self._score}{note}\n\n{self.regions}"

    @property
    def _score(self) -> str:
        first, last = map(label_repr, self.classes[[0, -1]])
        given = "" if self.audit.scored else f"; the scores given were those of {first}"
        return f"The score p is the probability of {last}{given}."
