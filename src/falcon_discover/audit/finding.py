"""The finding: what is known about a set of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from falcon_discover import rankers
from falcon_discover.audit.absent import LEFT_OUT, NO_MODEL
from falcon_discover.audit.costs import BY_COST, checked_cost, expected_cost
from falcon_discover.audit.examined import matching
from falcon_discover.audit.regime import judged_conflict
from falcon_discover.audit.review import review_list
from falcon_discover.audit.review_list import ReviewList
from falcon_discover.audit.told import Told
from falcon_discover.calibration import calibration_weights
from falcon_discover.calibration.discrepancy import Caution
from falcon_discover.calibration.model import StateCalibrator
from falcon_discover.data.times import times_of
from falcon_discover.evaluation import budget as guarantee
from falcon_discover.evaluation.budget import MissedBound, ReviewBudget
from falcon_discover.evaluation.contributions import Contributions
from falcon_discover.evaluation.periods import Periods
from falcon_discover.evaluation.results import Evaluation, evaluate
from falcon_discover.evaluation.sources import KNOWN_UNSEEN
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import Tau
from falcon_discover.regions.conflict import Conflict
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.monitoring.label_doubt import LabelNoise
    from falcon_discover.plots.accessor import Plots

ASSUMED_UNSEEN = "provided that the model has not seen these rows"
# What does not depend on costs.
KEPT = ("_scores", "_judged", "regions", "alerts", "one_sided", "ties", "content", "events")


class Finding(Told):
    """Everything known about a set of rows; `falcon.examine(X, y)` and `discover()` return one.

    Suspicion, risk and what follows from them are computed once, when first needed.
    """

    @cached_property
    def _scores(self) -> dict[tuple[int | str, Tau], tuple[Any, FloatArray]]:
        """Suspicion by ranker and threshold, each with the ranker that an id stands for."""
        return {}

    def frame(self) -> pd.DataFrame:
        """Return the ten signals of each row; without a model, the stability signals are NaN."""
        return self.state.frame(self.index)

    def suspicion(self) -> FloatArray:
        """Return the suspicion of each row, higher = review first."""
        return self.score(self.audit.spec, self.tau)

    def costing(self, cost: Any) -> Finding:
        """Return the same finding with the cost of a confident error in each row.

        Its review list, bounds and report rank rows by expected cost.

        Parameters
        ----------
        cost : one number for each row, 0 or more; None changes nothing
        """
        if cost is None:
            return self
        other = replace(self, cost=checked_cost(matching(self, "cost", cost), len(self.state)))
        # What was computed without costs holds with them; scores are kept for both from now on.
        _ = self._scores
        vars(other).update({name: vars(self)[name] for name in KEPT if name in vars(self)})
        return other

    def priority(self, tau: Tau | None = None) -> FloatArray:
        """Return what rows are reviewed by: their suspicion, or with costs the expected cost."""
        tau = self.tau if tau is None else tau
        suspicion = self.score(self.audit.spec, tau)
        if self.cost is None:
            return suspicion
        return expected_cost(self.cost, self.risk(tau), suspicion, self.state.eligible(tau))

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

    def risk(self, tau: Tau | None = None) -> FloatArray | None:
        """Return the probability that each row is a confident error; None without an estimate.

        Parameters
        ----------
        tau : confidence from which an error counts; default: that of the audit
        """
        other = tau is not None and tau != self.tau
        if not self.is_fit_rows and not other:
            return self._judged[1]
        ranker = self.audit.ranker_of(self.audit.spec, self.tau if tau is None else tau)
        if not isinstance(ranker, rankers.GatedRisk):
            return None
        if not self.is_fit_rows:
            return ranker.risk(self.state)
        return ranker.held_out_risk_[: len(self.state)]

    def risk_interval(self) -> tuple[FloatArray, FloatArray] | None:
        """Return between which rates rows like each are confident errors, where that is known."""
        ranker = self.audit.ranker
        if not isinstance(ranker, rankers.GatedRisk) or not ranker.calibration_.spread:
            return None
        if not self.is_fit_rows:
            return ranker.risk_interval(self.state)
        n = len(self.state)
        return ranker.held_out_low_[:n], ranker.held_out_high_[:n]

    def review(self, budget: float = PAPER.main_budget, cost: Any = None) -> ReviewList:
        """Return the rows to review first, with a reason for each.

        Parameters
        ----------
        budget : how much to review: 0.05 is 5% of the rows, 50 is 50 rows
        cost : cost of a confident error in each row, one number of 0 or more per row; rows are
            then ranked by risk times cost. If the ranker estimates no risk, the rank of the
            suspicion is used instead; rows below `tau` cost nothing

        Returns
        -------
        frame, most suspicious first: row (position), suspicion, p (the probability of the last of
        two `classes`; of more, that of the predicted one), predicted, confidence, region,
        region_id, reason; with costs also cost and, where risks are known, expected_cost; its
        index holds the row labels
        """
        if cost is not None:
            return self.costing(cost).review(budget)
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
            cost=self.cost,
            priority=self.priority(),
            places=self.places,
        )

    def compared(self) -> dict[str, Any]:
        """Return the names of the rankers to compare: this audit's first, then the baselines."""
        return rankers.compared(self.audit.spec, set(self.state.signals.columns))

    def evaluate(
        self,
        *,
        budgets: Sequence[float] = PAPER.budgets,
        taus: Sequence[float] = PAPER.taus,
        cost: Any = None,
    ) -> Evaluation:
        """Return how well the ranker and the baselines find the rows' confident errors.

        Parameters
        ----------
        budgets : how much to review: 0.05 is 5% of the rows, 50 is 50 rows
        taus : further confidence thresholds to evaluate
        cost : as in `review`; adds the share of the errors' cost that is found, and the ranking
            by expected cost
        """
        if cost is not None:
            return self.costing(cost).evaluate(budgets=budgets, taus=taus)
        codes, compared = self.labels, self.compared()
        names = list(compared)
        if self.cost is not None:
            names.insert(1, BY_COST)
        return evaluate(
            self.state,
            codes,
            lambda name, tau: (
                self.priority(tau) if name == BY_COST else self.score(compared[name], tau)
            ),
            rankers=names,
            tau=self.tau,
            budgets=budgets,
            taus=taus,
            classes=self.classes,
            assumption="" if self.source in KNOWN_UNSEEN else ASSUMED_UNSEEN,
            alerts=self.alerts,
            notice=self.one_sided,
            risk=self.risk(),
            cost=self.cost,
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
        max_residual_rate : acceptable rate of confident errors among unreviewed rows
        confidence_level : probability with which the statement holds
        batch : size of the next batch that the statement refers to; default: the long run
        confidence : the old name of `confidence_level`
        """
        return guarantee.review_budget(
            self.events,
            self.priority(),
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
        """Return how many confident errors a review budget leaves behind, with an upper bound.

        Parameters
        ----------
        budget : how much to review: 0.05 is 5% of the rows, 50 is 50 of these rows or, with
            `batch`, of the next batch
        confidence_level, batch, confidence : as in `review_budget`
        simultaneous : whether the bound should hold for all budgets at once, and so for one that
            is chosen after seeing the bounds
        """
        return guarantee.missed_bound(
            self.events,
            self.priority(),
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

    def by_period(self, times: Any) -> Periods:
        """Return the rate of confident errors by period; the rows must be labelled.

        Parameters
        ----------
        times : the time of each row: numbers, dates, or ISO date strings
        """
        return Periods.of(
            times_of(matching(self, "times", times), len(self.state)),
            self.state.eligible(self.tau),
            self.events,
            tau=self.tau,
            design=self.state.design,
        )

    def conflict(self) -> Conflict:
        """Return Gamma over a grid of evidence and instability, and the regime of the rows.

        The regime compares the best ranker of the discrepancy family with the better of
        confidence and TrustScore, each chosen on other rows than it is judged on.
        """
        self._check_compared("conflict", "conflict needs")
        return judged_conflict(self)

    def calibration_weights(self) -> FloatArray:
        """Return w_cal of each row; the rows must be labelled."""
        self._check_compared("the calibration weight", "calibration weights need")
        return calibration_weights(self.state, self.events)

    def _check_compared(self, what: str, needs: str) -> None:
        if not self.audit.has_rows:
            raise InputError(f"{what} compares rows with {LEFT_OUT}")
        if not self.state.has_stability:
            raise InputError(f"{needs} a model. {NO_MODEL}")

    def calibrator(
        self, method: str, *, weighted: bool = False, caution: Caution = 0.0
    ) -> StateCalibrator:
        """Return a calibrator fitted on the rows of the fit; see `FittedAudit.calibrator`."""
        return self.audit.calibrator(method, weighted=weighted, caution=caution)

    def contributions(self) -> Contributions:
        """Return what each family of signals contributes; see `FittedAudit.contributions`."""
        return self.audit.contributions()

    def label_doubt(self) -> pd.DataFrame:
        """Return how probable it is that a label that contradicts a confident prediction is wrong.

        No row is deleted or changed: this is a list of labels to check.

        Returns
        -------
        frame, most doubtful first: row (position), label_doubt (the probability that the label is
        wrong), predicted, actual (the label), confidence, reason (what supports the model); its
        index holds the row labels
        """
        return self.label_noise().frame()

    def label_noise(self) -> LabelNoise:
        """Return how many of the confident errors look like wrong labels, with an interval."""
        from falcon_discover.monitoring.label_doubt import label_noise

        return label_noise(self)

    def report(
        self,
        path: str | Path,
        *,
        name: str = "rows",
        budget: float = PAPER.main_budget,
        max_residual_rate: float | None = None,
        batch: int | None = None,
        contributions: bool | None = None,
        cost: Any = None,
        times: Any = None,
        how: dict[str, Any] | None = None,
    ) -> Path:
        """Write what was found as an offline HTML page, as Markdown and as JSON.

        Parameters
        ----------
        path : a folder for all files and the review list, or one file ending in .html, .md, .json
        name : of the data, as the report's title
        budget : how much to review: a share of the rows, or a number of them
        max_residual_rate : acceptable rate of confident errors among unreviewed rows; the report
            then says which budget meets it
        batch : size of the next batch that budgets refer to; without it, they refer to the long run
        contributions : whether to measure what each family of signals contributes, which refits
            the ranker; None measures it if that is quick
        cost : of a confident error in each row, as in `review`
        times : the time of each row, for the rate of confident errors by period
        how : further facts to show, by name; `version`, `owner`, `purpose`, `period` at the top

        Returns
        -------
        path of the page, or of the one file
        """
        from falcon_discover.report.write import write_report

        return write_report(
            self.costing(cost),
            Path(path),
            name=name,
            budget=budget,
            max_residual_rate=max_residual_rate,
            batch=batch,
            contributions=contributions,
            times=times,
            how=how,
        )

    @property
    def plot(self) -> Plots:
        """Plots for matplotlib: `plot.capture()`, `plot.reliability()` and more."""
        from falcon_discover.plots.accessor import Plots

        return Plots(self)
