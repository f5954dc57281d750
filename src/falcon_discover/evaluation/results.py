"""Results that print, frame and serialise themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover import metrics
from falcon_discover.evaluation.risks import RiskCalibration
from falcon_discover.evaluation.sides import Sides
from falcon_discover.evaluation.verdict import Verdict, rate_figures
from falcon_discover.exceptions import check_numbers
from falcon_discover.metrics.clustered import area_interval
from falcon_discover.metrics.decisions import Tau
from falcon_discover.metrics.design import Design, counted, rate_interval
from falcon_discover.metrics.ordering import Found, Ranking
from falcon_discover.metrics.ranking import BUDGET, Captured, captures, drawn_captures, is_budget
from falcon_discover.metrics.weighted import WeightedRanking
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import framed, plain, records
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.runtime.words import budget_words, level, percent
from falcon_discover.signals.state import State

Scores = Callable[[str, Tau], FloatArray]
# The main threshold in tables, where it differs by class.
BY_CLASS = "by class"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Result):
    """How well each ranker finds the confident errors of labelled rows.

    Attributes
    ----------
    ranker : name of the ranker under evaluation, the first in every table
    tau : the main threshold, or "by class" if it differs
    captures : one row per threshold, ranker and budget
    rankings : one row per threshold and ranker: AUROC over all rows and among eligible rows
    severity : how many events at higher thresholds the ranking made for `tau` finds
    model : figures of the base model that do not depend on a ranker
    sides : the confident errors by predicted class: which class is missed
    assumption : what the figures assume and the rows cannot show
    alerts : why the figures may be invalid, in sentences; usually none
    notice : what to know if all confident errors are rows of one class; usually empty
    risk : how well the predicted risk matches these rows, if the ranker estimates one
    design : what weights and groups mean for the figures, in words; empty without them
    implied : how many confident errors the model's own confidence implies
    rate_low, rate_high : 95% interval of the rate of confident errors
    """

    ranker: str
    tau: float | str
    captures: pd.DataFrame
    rankings: pd.DataFrame
    severity: pd.DataFrame
    model: dict[str, float]
    sides: Sides
    assumption: str = ""
    alerts: tuple[str, ...] = ()
    notice: str = ""
    risk: RiskCalibration | None = None
    design: str = ""
    implied: float = math.nan
    rate_low: float = math.nan
    rate_high: float = math.nan

    NEXT = "finding.review(budget=0.2) lists the riskiest; finding.report(path) writes a page."

    def _level(self) -> str:
        if isinstance(self.tau, str):
            return level(tuple(self.sides.table["tau"]))
        return percent(self.tau)

    def frame(self) -> pd.DataFrame:
        """Return captures: threshold, ranker, budget, counts, share found and its interval."""
        return self.captures.copy()

    def verdict(self) -> str:
        """Return how many confident predictions were wrong, and what a review would find."""
        # Not by `query`, which changes the warning filters of the whole process meanwhile.
        own = (self.captures["tau"] == self.tau) & (self.captures["ranker"] == self.ranker)
        return Verdict(
            captures=self.captures[own],
            tau=self._level(),
            implied=self.implied,
            rate_low=self.rate_low,
            rate_high=self.rate_high,
            assumption=self.assumption,
            doubtful=bool(self.alerts),
            units="groups" if "groups" in self.design else "rows",
        ).words()

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists and numbers; undefined figures are None."""
        return {
            "ranker": self.ranker,
            "tau": self.tau,
            "verdict": self.verdict(),
            "design": self.design,
            "implied": plain(self.implied),
            "model": plain(self.model),
            "captures": records(self.captures),
            "rankings": records(self.rankings),
            "severity": records(self.severity),
            "risk": None if self.risk is None else self.risk.to_dict(),
            "sides": {**self.sides.to_dict(), "notice": self.notice},
        }

    def text(self) -> str:
        """Return the figures, what casts doubt on them before and what to know after them."""
        notes = [f"NOTE: {self.notice}"] if self.notice else []
        return "\n\n".join(
            [*(f"WARNING: {alert}" for alert in self.alerts), self.figures(), *notes]
        )

    def figures(self) -> str:
        """Return the verdict and the tables: by budget, by predicted class, and the risk check."""
        main = self.captures[self.captures["tau"] == self.tau]
        ranks = self.rankings[self.rankings["tau"] == self.tau].set_index("ranker")
        table = _by_budget(main, "capture").loc[list(ranks.index)].rename_axis(None)
        table["eligible AUROC"] = ranks["eligible_auroc"]
        table["95% interval"] = [
            "not defined" if math.isnan(low) else f"[{low:.3f}, {high:.3f}]"
            for low, high in zip(
                ranks["eligible_auroc_low"], ranks["eligible_auroc_high"], strict=True
            )
        ]
        words = table.to_string(float_format=lambda v: f"{v:.3f}", na_rep="not defined")
        return (
            f"{self.verdict()}{self.design and f' {self.design}'}\n\n"
            f"Share of confident errors found, by review budget:\n{words}\n\n"
            f"{self._costs()}"
            f"By predicted class, with the number found within each budget:\n{self.sides}"
            + (f"\n\n{self.risk}" if self.risk is not None else "")
        )

    def _costs(self) -> str:
        """Return what the errors that are found would have cost, where costs are known."""
        if "captured_cost" not in self.captures:
            return ""
        main = self.captures[self.captures["tau"] == self.tau]
        table = _by_budget(main, "captured_cost").loc[list(dict.fromkeys(main["ranker"]))]
        words = table.rename_axis(None).to_string(
            float_format=lambda v: f"{v:.3f}", na_rep="not defined"
        )
        return f"Share of the cost of confident errors found, by review budget:\n{words}\n\n"


def _by_budget(captures: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Return a figure by ranker and budget."""
    table = captures.pivot_table(figure, "ranker", "budget", dropna=False)
    table.columns = [f"top {budget_words(budget)}" for budget in table.columns]
    return table


def evaluate(
    state: State,
    codes: npt.NDArray[np.int8],
    scores: Scores,
    *,
    rankers: Sequence[str],
    tau: Tau,
    budgets: Sequence[float],
    taus: Sequence[float],
    classes: Sequence[Any] | npt.NDArray[Any] = (0, 1),
    assumption: str = "",
    alerts: tuple[str, ...] = (),
    notice: str = "",
    risk: FloatArray | None = None,
    cost: FloatArray | None = None,
) -> Evaluation:
    """Return the evaluation of several rankers on labelled rows; the first is the audit's own.

    `scores` returns the suspicion of the rows for a ranker's name and a threshold. `classes` are
    in the order of their codes; `risk` is of each row, where the ranker estimates it, and `cost`
    that of a confident error in each row, where it is known.
    """
    check_numbers("budgets", budgets, is_budget, BUDGET)
    must = "give confidences between 0.5 and 1"
    check_numbers("taus", taus, lambda level: 0.5 <= level <= 1, must, at_least=0)
    numbers = set(taus) if isinstance(tau, tuple) else {*taus, tau}
    levels: dict[Any, Tau] = {number: number for number in sorted(numbers)}
    own = BY_CLASS if isinstance(tau, tuple) else tau
    levels[own] = tau
    # Rows in an order of their own, so that not even a last digit depends on that of the file.
    wrong = state.decision != codes
    rows = np.lexsort((wrong, state.confidence))
    confidence, wrong = state.confidence[rows], wrong[rows]
    design, own_cost = state.design, None if cost is None else cost[rows]
    drawn = None if design is None else design.take(rows)
    captures, rankings, severity = [], [], []
    for shown, threshold in levels.items():
        least = np.broadcast_to(state.level(threshold), len(state))[rows]
        for name in rankers:
            ranked = _Ranked.by(scores(name, threshold)[rows], confidence, wrong, least, drawn)
            key = {"tau": shown, "ranker": name}
            captures += [key | line for line in _captures(ranked, budgets, own_cost)]
            if shown == own:
                severity += _severity(ranked, name, own, budgets)
            rankings.append(key | _ranking(ranked))
    return Evaluation(
        rankers[0],
        own,
        framed(captures),
        pd.DataFrame(rankings),
        framed(severity),
        _model(state, codes),
        Sides.of(state, codes, scores(rankers[0], tau), classes=classes, tau=tau, budgets=budgets),
        assumption,
        alerts,
        notice,
        _risk_figures(risk, state, codes, tau),
        "" if design is None else design.words(),
        *rate_figures(state, codes, tau),
    )


def _risk_figures(
    risk: FloatArray | None, state: State, codes: npt.NDArray[np.int8], tau: Tau
) -> RiskCalibration | None:
    eligible = state.eligible(tau)
    if risk is None or not eligible.any():
        return None
    # In an order of their own, so that not even a last digit depends on that of the file.
    own, wrong = risk[eligible], (state.decision != codes)[eligible]
    order = np.lexsort((wrong, own))
    design = None if state.design is None else state.design.take(eligible).take(order)
    return RiskCalibration.of(own[order], wrong[order], design=design)


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Labelled rows, most suspicious first: what is sorted once is not sorted again."""

    score: FloatArray
    confidence: FloatArray
    wrong: BoolArray
    eligible: BoolArray
    starts: IntArray
    order: IntArray
    design: Design | None

    @classmethod
    def by(
        cls,
        score: FloatArray,
        confidence: FloatArray,
        wrong: BoolArray,
        least: FloatArray,
        design: Design | None,
    ) -> _Ranked:
        ranking = Ranking.of(score)
        order, eligible = ranking.order, confidence >= least
        return cls(
            score[order],
            confidence[order],
            wrong[order],
            eligible[order],
            ranking.starts,
            order,
            None if design is None else design.take(order),
        )

    @property
    def events(self) -> BoolArray:
        return self.wrong & self.eligible

    @property
    def weight(self) -> FloatArray | None:
        return None if self.design is None else self.design.weight

    def captures(self, events: BoolArray, budgets: Sequence[float]) -> Iterator[Captured]:
        if self.design is None:
            return captures(Found.of(events, self.starts), budgets)
        return drawn_captures(events, self._weighted(self.design), self.design, budgets)

    def _weighted(self, design: Design) -> WeightedRanking:
        return WeightedRanking(np.arange(len(design)), self.starts, design.weight)

    def share(self, values: FloatArray, size: float) -> float:
        """Return which share of a sum of values the first rows hold; NaN where the sum is 0."""
        if not values.any():
            return math.nan
        if self.design is None:
            return Found.of(values, self.starts).share(int(size))
        whole = self.design.total(values)
        return self._weighted(self.design).top(values, size) / whole if whole else math.nan


def _severity(
    ranked: _Ranked, ranker: str, tau: Any, budgets: Sequence[float]
) -> list[dict[str, Any]]:
    """Return what the ranking made for `tau` finds of the events the model was surer of."""
    return [
        {
            "ranker": ranker,
            "ranked_for": tau,
            "events_at": higher,
            **{name: getattr(line, name) for name in ("budget", "events", "captured", "capture")},
        }
        for higher in metrics.SEVERE_TAUS
        if tau == BY_CLASS or higher > tau
        for line in ranked.captures(ranked.events & (ranked.confidence >= higher), budgets)
    ]


def _captures(
    ranked: _Ranked, budgets: Sequence[float], cost: FloatArray | None
) -> Iterator[dict[str, float]]:
    events = ranked.events
    costs = None if cost is None else np.where(events, cost[ranked.order], 0.0)
    surprising = np.where(events, metrics.surprise(ranked.confidence), 0.0)
    rows, eligible = counted(ranked.design, np.ones(len(events), bool), ranked.eligible)
    for line in ranked.captures(events, budgets):
        yield {
            "budget": line.budget,
            "rows": rows,
            "reviewed": line.reviewed,
            "eligible": eligible,
            "events": line.events,
            "captured": line.captured,
            "capture": line.capture,
            "capture_low": line.low,
            "capture_high": line.high,
            "captured_surprise": ranked.share(surprising, line.reviewed),
            **_cost_figures(ranked, costs, line.reviewed),
        }


def _cost_figures(ranked: _Ranked, costs: FloatArray | None, reviewed: float) -> dict[str, float]:
    """Return what the confident errors cost in all, and which share of it a review finds."""
    if costs is None:
        return {}
    total = float(costs.sum()) if ranked.design is None else ranked.design.total(costs)
    return {"cost": total, "captured_cost": ranked.share(costs, reviewed)}


def _ranking(ranked: _Ranked) -> dict[str, float]:
    events, score, eligible = ranked.events, ranked.score, ranked.eligible
    design, weight = ranked.design, ranked.weight
    inside = None if design is None else design.take(eligible)
    own = None if inside is None else inside.weight
    low, high = area_interval(events, score, design)
    eligible_low, eligible_high = area_interval(events[eligible], score[eligible], inside)
    rows, sure, count = counted(design, np.ones(len(events), bool), eligible, events)
    return {
        "rows": rows,
        "eligible": sure,
        "events": count,
        "fc_auroc": metrics.fc_auroc(events, score, sample_weight=weight),
        "fc_auroc_low": low,
        "fc_auroc_high": high,
        "eligible_auroc": metrics.fc_auroc(events[eligible], score[eligible], sample_weight=own),
        "eligible_auroc_low": eligible_low,
        "eligible_auroc_high": eligible_high,
        "eligible_average_precision": metrics.eligible_average_precision(
            events[eligible], score[eligible], ranked.confidence[eligible], 0.0, sample_weight=own
        ),
        "aurc": metrics.aurc(ranked.wrong, score, sample_weight=weight),
    }


def _model(state: State, codes: npt.NDArray[np.int8]) -> dict[str, float]:
    wrong, design, weight = state.decision != codes, state.design, state.weight
    everywhere = np.ones(len(wrong), bool)
    low, high = rate_interval(design, ~wrong, everywhere)
    return {
        "rows": counted(design, everywhere)[0],
        "accuracy": float(1 - (wrong.mean() if design is None else design.mean(wrong))),
        "accuracy_low": low,
        "accuracy_high": high,
        "auroc": metrics.label_auroc(codes, state.p, sample_weight=weight),
        "ece": metrics.ece(codes, state.p, sample_weight=weight),
        "brier": metrics.brier(codes, state.p, sample_weight=weight),
        "nll": metrics.nll(codes, state.p, sample_weight=weight),
        "aurc": metrics.aurc(wrong, 1.0 - state.confidence, sample_weight=weight),
    }
