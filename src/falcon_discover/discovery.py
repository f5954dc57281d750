"""What is known about a set of rows: signals, suspicion, regions, and how good they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover import notices, progress, rankers
from falcon_discover.calibration import (
    calibration_weights,
    fitted_calibrator,
    training_weights,
)
from falcon_discover.calibration.discrepancy import Caution
from falcon_discover.calibration.model import StateCalibrator
from falcon_discover.contributions import Contributions, contributions
from falcon_discover.exceptions import InputError
from falcon_discover.guarantee import (
    CROSS_FITTED,
    KNOWN_UNSEEN,
    NEW_ROWS,
    MissedBound,
    ReviewBudget,
    missed_bound,
    review_budget,
)
from falcon_discover.metrics import capture_at, false_confidence
from falcon_discover.plausibility import alerts
from falcon_discover.plots.accessor import Plots
from falcon_discover.rankers.training import TrainingRows, check_labels
from falcon_discover.reasons import review_list
from falcon_discover.regions.claims import FREQUENT_LIFT
from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.conflict import Conflict, conflict_grid
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.regions.rules import Rule, find_rules, half
from falcon_discover.report.build import About, Report
from falcon_discover.report.write import check_target, write
from falcon_discover.results import Evaluation, evaluate
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import SIGNALS, STABILITY_SIGNALS, State
from falcon_discover.tables import FloatArray, Table, shown

NO_MODEL = (
    "There was no model to probe, so the stability signals "
    f"({', '.join(STABILITY_SIGNALS)}) are absent and rankers that need them are left out."
)
ASSUMED_UNSEEN = "provided that the model has not seen these rows"
# Regions are found with the learned score of the rows they are found on.
REGION_WITNESS = "learned_oof"
FAMILY = ("s_stab", "s_disc", "learned_oof")
# Regions that the model's own confidence may foresee: how many, and how much of their confident
# errors may lie in regions that are told already. Rows do not count: a wide region around a small
# one that is told has few rows of it, but may have little else to tell.
MAX_FORESEEN = 3
MAX_TOLD_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Discovery:
    """The finding on a set of rows; `discover()` returns one, and so does `falcon.examine(X)`.

    Attributes
    ----------
    table : the rows
    state : their signals
    codes : their labels as 0/1, or None if they are not known
    regions : the regions, described on these rows where their labels are known
    training : the rows that rankers learn from
    own_rows : whether these are the training rows themselves
    source : what is known about these rows, in words; see `falcon_discover.guarantee`
    scored : which class a given score was the probability of; `state.p` is that of the last
    """

    table: Table
    state: State
    codes: npt.NDArray[np.int8] | None
    index: pd.Index
    classes: npt.NDArray[Any]
    tau: float
    ranker: Any
    regions: RegionSet
    learned: FloatArray
    training: TrainingRows
    own_rows: bool
    source: str = NEW_ROWS
    scored: int = 1

    @classmethod
    def of_training_rows(
        cls,
        table: Table,
        rows: TrainingRows,
        *,
        validation: Table | None = None,
        classes: npt.NDArray[Any],
        tau: float,
        ranker: Any,
        n_regions: int,
        seed: int,
        source: str = CROSS_FITTED,
        scored: int = 1,
    ) -> Discovery:
        """Return the finding on cross-fitted rows; no ranker scores a row it learned from.

        Parameters
        ----------
        source, scored : as the attributes
        validation : the table of the validation rows, where there are any; with half of the
            training rows they confirm the regions found on the other half
        """
        checked = rankers.make(ranker)
        if isinstance(checked, rankers.Ranker):
            checked.check(rows.oof.state)
        check_labels(getattr(checked, "labels", None), has_validation=rows.validation is not None)
        progress.expect(1)
        progress.step("regions")
        state, codes = rows.oof.state, rows.oof.codes
        learned = _witness_scores(lambda: rows.oof_scores(REGION_WITNESS, tau))
        clusters = Clusters.find(
            state,
            learned,
            rows.oof.events(tau),
            state.decision == codes,
            n_regions=n_regions,
            seed=seed,
        )
        rules, foreseen = _rules(table, rows, validation, tau, seed)
        regions = RegionSet(rules, foreseen, clusters)
        return cls(
            table,
            state,
            codes,
            table.index,
            classes,
            tau,
            ranker,
            regions,
            learned,
            rows,
            own_rows=True,
            source=source,
            scored=scored,
        )._warned()

    def of_new_rows(
        self,
        table: Table,
        state: State,
        codes: npt.NDArray[np.int8] | None,
    ) -> Discovery:
        """Return the finding on other rows, by the rankers and regions of the training rows."""
        rows = self.training
        witness = _witness_scores(lambda: rows.ranker(REGION_WITNESS, self.tau).score(state))
        regions = self.regions
        if codes is not None:
            events = false_confidence(codes, state.p, self.tau)
            clusters = regions.clusters.described(state, witness, events, state.decision == codes)
            regions = regions.described(clusters, table.frame, state, self.tau, events)
        return replace(
            self,
            table=table,
            state=state,
            codes=codes,
            index=table.index,
            regions=regions,
            learned=witness,
            own_rows=False,
            source=NEW_ROWS,
        )._warned()

    def _warned(self) -> Discovery:
        for alert in self.alerts:
            notices.warn(alert)
        return self

    @cached_property
    def alerts(self) -> tuple[str, ...]:
        """Why the scores cannot be what they are said to be, in sentences; mostly none.

        Scores that rank the labels backwards, or that look as if the model had been trained on
        these rows. Nothing is asked where the model is known not to have seen them.
        """
        if self.codes is None or self.source in KNOWN_UNSEEN:
            return ()
        return alerts(self.state, self.codes, self.classes, self.scored)

    def frame(self) -> pd.DataFrame:
        """Return the ten signals of each row; without a model the stability ones are NaN."""
        return signal_frame(self.state, self.index)

    def suspicion(self) -> FloatArray:
        """Return the suspicion of each row, higher = review first."""
        return self.score(self.ranker, self.tau)

    def score(self, ranker: Any, tau: float) -> FloatArray:
        """Return the suspicion of each row by any ranker; none scores a row it learned from."""
        if self.own_rows:
            return self.training.oof_scores(ranker, tau)
        return self.training.ranker(ranker, tau).score(self.state)

    def review(self, budget: float = PAPER.main_budget) -> pd.DataFrame:
        """Return the most suspicious share of the rows with a reason for each."""
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
        )

    def risk(self) -> FloatArray | None:
        """Return the probability of a confident error, where the ranker estimates it."""
        ranker = self.training.ranker(self.ranker, self.tau)
        if not isinstance(ranker, rankers.GatedRisk):
            return None
        if self.own_rows:
            return ranker.held_out_risk_[: len(self.state)]
        return ranker.risk(self.state)

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
            assumption="" if self.source in KNOWN_UNSEEN else ASSUMED_UNSEEN,
            alerts=self.alerts,
        )

    def compared(self) -> dict[str, Any]:
        """Return the rankers that are compared, by name: the own one first, then the baselines."""
        known = set(self.state.signals.columns)
        others = {n: n for n in rankers.BASELINES if set(rankers.make(n).needs) <= known}
        return {_name(self.ranker): self.ranker, **(others | {_name(self.ranker): self.ranker})}

    def review_budget(
        self, max_residual_rate: float, confidence: float = PAPER.interval_level
    ) -> ReviewBudget:
        """Return the smallest review budget that leaves at most this rate of confident errors."""
        return review_budget(
            self._events(),
            self.suspicion(),
            self.state.eligible(self.tau),
            max_residual_rate=max_residual_rate,
            confidence=confidence,
            source=self.source,
            tau=self.tau,
            doubt=" ".join(self.alerts),
        )

    def missed_bound(self, budget: float, confidence: float = PAPER.interval_level) -> MissedBound:
        """Return how many confident errors the review of a share of the rows may leave."""
        return missed_bound(
            self._events(),
            self.suspicion(),
            budget=budget,
            confidence=confidence,
            source=self.source,
            doubt=" ".join(self.alerts),
        )

    def conflict(self) -> Conflict:
        """Return Gamma over a grid of evidence and instability, and the regime it speaks for.

        The regime compares, on these rows, the best ranker of the discrepancy family with the
        better of confidence and TrustScore.
        """
        if not self.state.has_stability:
            raise InputError(f"conflict needs a model: {NO_MODEL}")
        events = self._events()
        known = {name: self.state.signals[name].to_numpy() for name in self.state.signals}
        slices = conflict_grid(known, events, self.state.confidence, self.tau)
        trust = self.state.evidence["log_trust_1"].to_numpy()
        priors = [self.score("confidence", self.tau), -trust]
        family = [_witness_scores(partial(self.score, name, self.tau)) for name in FAMILY]
        best = [
            max(capture_at(events, score, PAPER.main_budget) for score in scores)
            for scores in (family, priors)
        ]
        to_learn_from = int(self.training.source("all").events(self.tau).sum())
        return Conflict.judge(slices, to_learn_from, best[0] - best[1])

    def calibration_weights(self) -> FloatArray:
        """Return w_cal of each row; its labels must be known."""
        if not self.state.has_stability:
            raise InputError(f"calibration weights need a model: {NO_MODEL}")
        return calibration_weights(self.state, self._events())

    def calibrator(
        self, method: str, *, weighted: bool = False, caution: Caution = "auto"
    ) -> StateCalibrator:
        """Return a calibrator fitted on the rows that rankers learn from."""
        rows = self.training.source("all")
        weights = None
        if weighted:
            if not rows.state.has_stability:
                raise InputError(f"calibration weights need a model: {NO_MODEL}")
            weights = training_weights(calibration_weights(rows.state, rows.events(self.tau)))
        return fitted_calibrator(method, rows.state, rows.codes, weights, caution=caution)

    def report(
        self,
        path: str | Path,
        *,
        name: str = "rows",
        budget: float = PAPER.main_budget,
        max_residual_rate: float | None = None,
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
        contributions : whether to measure what each family of signals earns, which refits the
            ranker; None measures it where that takes little
        how : what else to say about where the finding comes from

        Returns
        -------
        path of the page, or of the one file
        """
        check_target(Path(path))
        about = About(
            name=name,
            how={"rows": "the rows of the fit" if self.own_rows else "new rows", **(how or {})},
            settings={"ranker": _name(self.ranker)},
            budget=budget,
            max_residual_rate=max_residual_rate,
            contributions=contributions,
        )
        return write(Report.of(self, about), Path(path))

    @property
    def plot(self) -> Plots:
        """Figures for matplotlib: `plot.capture()`, `plot.reliability()` and more."""
        return Plots(self)

    def contributions(self) -> Contributions:
        """Return what each family of signals earns, on the rows that the ranker learned from."""
        ranker = self.training.ranker(self.ranker, self.tau)
        if not isinstance(ranker, rankers.GatedRisk):
            ranker = self.training.ranker("auto", self.tau)
            assert isinstance(ranker, rankers.GatedRisk)
        return contributions(self.training.source(ranker.labels), ranker, self.tau)

    def _events(self) -> npt.NDArray[np.bool_]:
        if self.codes is None:
            raise InputError("this needs labelled rows: give y with X.")
        return false_confidence(self.codes, self.state.p, self.tau)

    def __repr__(self) -> str:
        if self.codes is None:
            eligible = int(self.state.eligible(self.tau).sum())
            return (
                f"{len(self.state):,} rows without labels, {eligible:,} of them with a "
                f"confidence of at least {self.tau:g}; review(budget) ranks them. {self._score}"
            )
        note = "" if self.state.has_stability else f"\n\n{NO_MODEL}"
        return f"{self.evaluate(taus=())}\n\n{self._score}{note}\n\n{self.regions}"

    @property
    def _score(self) -> str:
        given = "" if self.scored else f"; the scores given were those of {shown(self.classes[0])}"
        return f"The score p is the probability of {shown(self.classes[1])}{given}."


def signal_frame(state: State, index: pd.Index) -> pd.DataFrame:
    """Return the ten signals with the rows' own labels as index."""
    return state.signals.reindex(columns=list(SIGNALS)).set_axis(index, axis=0)


def _name(ranker: Any) -> str:
    if isinstance(ranker, str):
        return ranker
    made = rankers.make(ranker)
    return getattr(made, "name", type(made).__name__)


def _rules(
    table: Table, rows: TrainingRows, validation: Table | None, tau: float, seed: int
) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """Return regions in words: found on half of the training rows, confirmed on all others.

    First those with more confident errors than rows of the same confidence hold, then those
    with more than all eligible rows hold, unless most of their confident errors lie in confirmed
    ones of the first kind: those would be told twice.
    """
    parts, frames = [rows.oof], [table.frame]
    if rows.validation is not None and validation is not None:
        parts.append(rows.validation)
        frames.append(validation.frame)
    events = np.concatenate([part.events(tau) for part in parts])
    sure = np.concatenate([part.state.confidence for part in parts])
    kept = np.ones(len(events), dtype=bool)
    kept[: len(table)] = half(rows.oof.events(tau), rows.oof.state.eligible(tau), seed)
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    search = partial(find_rules, frame, table.kinds, sure, events, tau=tau, confirmation=kept)
    foreseen = search(against="all", max_rules=MAX_FORESEEN)
    beyond = search()
    told = np.zeros(len(events), dtype=bool)
    for rule in beyond:
        if rule.confirmed:
            told[rule.rows] = True

    def tells_more(rule: Rule) -> bool:
        own = rule.rows[events[rule.rows]]
        frequent = rule.confirmed and rule.confirmation.lift >= FREQUENT_LIFT
        return frequent and bool(told[own].mean() < MAX_TOLD_SHARE)

    return tuple(beyond), tuple(rule for rule in foreseen if tells_more(rule))


def _witness_scores(score: Callable[[], FloatArray]) -> FloatArray:
    """Return learned scores; where there is nothing to learn, regions do without a warning."""
    with notices.collected():
        return score()
