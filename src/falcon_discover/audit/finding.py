"""What is known about a set of rows: signals, suspicion, regions, and how good they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover import rankers
from falcon_discover.audit.judgements import NO_MODEL, Judgements, ranker_name
from falcon_discover.audit.review import review_list
from falcon_discover.data.labels import label_repr
from falcon_discover.data.table import Table
from falcon_discover.data.twins import warn_twins
from falcon_discover.evaluation.budget import (
    CROSS_FITTED,
    NEW_ROWS,
)
from falcon_discover.metrics import false_confidence
from falcon_discover.plots.accessor import Plots
from falcon_discover.rankers.training import TrainingRows, check_labels
from falcon_discover.regions.claims import FREQUENT_LIFT
from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.halves import halves
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.regions.rules import MAX_RULES, Rule, find_together, told_already
from falcon_discover.report.build import About, Report
from falcon_discover.report.write import check_target, write
from falcon_discover.runtime import notices, progress
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import SIGNALS
from falcon_discover.signals.state import State

# Regions are found with the learned score of the rows they are found on.
REGION_WITNESS = "learned_oof"
# Regions that the model's own confidence may foresee: how many.
MAX_FORESEEN = 3


@dataclass(frozen=True, eq=False)
class Discovery(Judgements):
    """The finding on a set of rows; `discover()` returns one, and so does `falcon.examine(X)`.

    Attributes
    ----------
    table : the rows
    state : their signals
    codes : their labels as 0/1, or None if they are not known
    regions : the regions, described on these rows where their labels are known
    training : the rows that rankers learn from
    own_rows : whether these are the training rows themselves
    source : what is known about these rows, in words; see `falcon_discover.evaluation.budget`
    scored : which class a given score was the probability of; `state.p` is that of the last
    seed : orders rows of equal suspicion, together with their content
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
    seed: int = 0

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
        validation : the table of the validation rows, where there are any; with each half of
            the training rows they confirm the regions found on the other half
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
            seed=seed,
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

    def _warned(self) -> Self:
        for alert in self.alerts:
            notices.warn(alert)
        if self.one_sided:
            notices.warn(self.one_sided)
        if self.codes is not None:
            warn_twins(self.content.twins, len(self.codes))
        return self

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
            interval=self.risk_interval(),
            ties=self.ties,
        )

    def risk(self) -> FloatArray | None:
        """Return the probability of a confident error, where the ranker estimates it."""
        ranker = self.training.ranker(self.ranker, self.tau)
        if not isinstance(ranker, rankers.GatedRisk):
            return None
        if self.own_rows:
            return ranker.held_out_risk_[: len(self.state)]
        return ranker.risk(self.state)

    def risk_interval(self) -> tuple[FloatArray, FloatArray] | None:
        """Return between which rates rows like each are confident errors, where that is known."""
        ranker = self.training.ranker(self.ranker, self.tau)
        if not isinstance(ranker, rankers.GatedRisk) or not ranker.calibration_.spread:
            return None
        if not self.own_rows:
            return ranker.risk_interval(self.state)
        n = len(self.state)
        return ranker.held_out_low_[:n], ranker.held_out_high_[:n]

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
        check_target(Path(path))
        about = About(
            name=name,
            how={"rows": "the rows of the fit" if self.own_rows else "new rows", **(how or {})},
            settings={"ranker": ranker_name(self.ranker)},
            budget=budget,
            max_residual_rate=max_residual_rate,
            batch=batch,
            contributions=contributions,
        )
        return write(Report.of(self, about), Path(path))

    @property
    def plot(self) -> Plots:
        """Figures for matplotlib: `plot.capture()`, `plot.reliability()` and more."""
        return Plots(self)

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
        given = (
            "" if self.scored else f"; the scores given were those of {label_repr(self.classes[0])}"
        )
        return f"The score p is the probability of {label_repr(self.classes[1])}{given}."


def signal_frame(state: State, index: pd.Index) -> pd.DataFrame:
    """Return the ten signals with the rows' own labels as index."""
    return state.signals.reindex(columns=list(SIGNALS)).set_axis(index, axis=0)


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
    kept = np.ones((2, len(events)), dtype=bool)
    own = slice(len(table))
    kept[:, own] = halves(table.frame, events[own], rows.oof.state.eligible(tau), seed)
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    found = find_together(
        frame,
        table.kinds,
        sure,
        events,
        {"confidence": MAX_RULES, "all": MAX_FORESEEN},
        tau=tau,
        confirmation=kept,
    )
    told = np.zeros(len(events), dtype=bool)
    for rule in found["confidence"]:
        if rule.confirmed:
            told[rule.rows] = True

    def tells_more(rule: Rule) -> bool:
        frequent = rule.confirmed and rule.confirmation.lift >= FREQUENT_LIFT
        return frequent and not told_already(rule, told, events)

    return tuple(found["confidence"]), tuple(rule for rule in found["all"] if tells_more(rule))


def _witness_scores(score: Callable[[], FloatArray]) -> FloatArray:
    """Return learned scores; where there is nothing to learn, regions do without a warning."""
    with notices.collected():
        return score()
