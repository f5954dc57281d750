"""How much review is enough: a budget with a guarantee, and what a budget may miss.

The rate of confident errors among rows that are *not* reviewed is bounded by the exact
(Clopper-Pearson) bound on labelled rows that the ranker did not learn from. Budgets are tested
in a fixed order from large to small, and testing stops at the first that fails; so the statement
as a whole holds with the stated confidence, whichever budget it ends at.

Two facts are known without labels and shape the order. Rows below the threshold cannot be
confident errors: reviewing all eligible rows leaves none. And a budget that leaves too few rows
could not pass whatever their labels: such budgets are not tested.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import beta

from falcon_discover.exceptions import check_number
from falcon_discover.metrics import review_order, review_size
from falcon_discover.settings import PAPER
from falcon_discover.words import percent, rate

GRID_STEP = 0.02
FINE_GRID = (0.015, 0.01, 0.005, 0.0025, 0.0)
GRID = (*(round(1.0 - GRID_STEP * i, 2) for i in range(1, round(1 / GRID_STEP))), *FINE_GRID)

# What is known about the rows of an estimate. Of a model that was given fitted, or of bare scores,
# nobody can tell from the rows whether the model has seen them.
HELD_OUT = "labelled rows that neither the model nor the ranker has seen"
NEW_ROWS = "labelled rows, provided that neither the model nor the ranker has seen them"
GIVEN_SCORES = (
    "the labelled rows of the fit, each judged by a ranker that has not seen it; this assumes that "
    "the model has not seen these rows either. The final ranker learned from a few more rows, so "
    "the statement is close to exact, not exact"
)
CROSS_FITTED = (
    "the labelled rows of the fit, each judged by a model and a ranker that have not seen it; "
    "the final ones learned from a few more rows, so the statement is close to exact, not exact"
)
KNOWN_UNSEEN = (HELD_OUT, CROSS_FITTED)


def upper_bound(count: int, n: int, confidence: float = PAPER.interval_level) -> float:
    """Return the exact one-sided upper bound of a rate; 0 where there is no row.

    Examples
    --------
    >>> round(upper_bound(0, 300), 4)
    0.0099
    """
    if n == 0:
        return 0.0
    if count >= n:
        return 1.0
    return float(beta.ppf(confidence, count + 1, n - count))


@dataclass(frozen=True)
class MissedBound:
    """What the review of a share of the rows may leave behind.

    Attributes
    ----------
    budget : the share reviewed
    rows, unreviewed, missed : labelled rows, those not reviewed, confident errors among them
    rate, upper : their rate and its upper bound
    confidence : of the bound
    source : which rows it was estimated on
    doubt : why it may be worthless, if so
    """

    budget: float
    rows: int
    unreviewed: int
    missed: int
    rate: float
    upper: float
    confidence: float
    source: str
    doubt: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        return {**asdict(self), "statement": repr(self)}

    def __repr__(self) -> str:
        return (
            f"{_doubted(self.doubt)}"
            f"Reviewing the top {percent(self.budget)} leaves {self.unreviewed:,} of "
            f"{self.rows:,} rows unread, {self.missed:,} of them confident errors "
            f"({rate(self.rate)}); with {percent(self.confidence)} confidence the rate is at "
            f"most {rate(self.upper)}.\nEstimated on {self.source}."
        )


@dataclass(frozen=True, eq=False)
class ReviewBudget:
    """The smallest review budget that keeps the rest safe.

    Attributes
    ----------
    budget : share of the rows to review
    max_residual_rate : the target for the rate of confident errors among the rest
    confidence : of the statement
    eligible : share of the rows that could be confident errors at all
    all_eligible : whether every eligible row has to be reviewed
    tested : one row per budget tested, in order, with its bound and whether it passed
    source : which rows it was estimated on
    tau : confidence from which a row is eligible
    doubt : why the statement may be worthless, if so
    """

    budget: float
    max_residual_rate: float
    confidence: float
    eligible: float
    all_eligible: bool
    tested: pd.DataFrame
    rows: int
    source: str
    tau: float = PAPER.tau
    doubt: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        return {
            "budget": self.budget,
            "max_residual_rate": self.max_residual_rate,
            "confidence": self.confidence,
            "eligible": self.eligible,
            "all_eligible": self.all_eligible,
            "rows": self.rows,
            "tested": self.tested.to_dict("records"),
            "source": self.source,
            "doubt": self.doubt,
            "statement": repr(self),
        }

    def __repr__(self) -> str:
        if not self.eligible:
            return (
                f"No prediction reaches {percent(self.tau)} confidence, so there is nothing to "
                "review: none of them can be a confident error."
            )
        rows = f"Estimated on {self.rows:,} rows: {self.source}."
        return f"{_doubted(self.doubt)}{self._statement()}\n{rows}"

    def _statement(self) -> str:
        target = (
            f"at most {rate(self.max_residual_rate)} of the predictions that are not reviewed "
            "are confident errors"
        )
        if self.all_eligible:
            share = percent(self.budget) if self.budget >= 0.01 else rate(self.budget)
            return (
                f"To be sure that {target}, review all eligible rows, {share} of "
                f"all: {self._why_all()}"
            )
        last = self.tested[self.tested["passed"]].iloc[-1]
        head = f"Review the top {percent(self.budget)}" if self.budget else "Nothing needs review"
        return (
            f"{head}: with {percent(self.confidence)} confidence "
            f"{target}. Of {int(last['unreviewed']):,} rows left unread {int(last['missed']):,} "
            f"were, so the rate is at most {rate(float(last['upper']))}."
        )

    def _why_all(self) -> str:
        if len(self.tested):
            return "no smaller budget could be shown to suffice."
        needed = fewest_rows(self.max_residual_rate, self.confidence)
        return (
            f"{self.rows:,} labelled rows are too few to show it for a smaller budget, at least "
            f"{needed:,} unread ones are needed."
        )


def _doubted(doubt: str) -> str:
    return f"{doubt} Until that is settled, do not rely on this:\n" if doubt else ""


def fewest_rows(max_residual_rate: float, confidence: float) -> int:
    """Return how many rows without an event are needed for the bound to reach a rate.

    Examples
    --------
    >>> fewest_rows(0.01, 0.95)
    299
    """
    return math.ceil(math.log(1.0 - confidence) / math.log1p(-max_residual_rate))


def review_budget(
    events: npt.NDArray[np.bool_],
    score: npt.NDArray[np.float64],
    eligible: npt.NDArray[np.bool_],
    *,
    max_residual_rate: float,
    confidence: float = PAPER.interval_level,
    source: str = NEW_ROWS,
    tau: float = PAPER.tau,
    doubt: str = "",
) -> ReviewBudget:
    """Return the smallest budget whose rest can be shown to be safe.

    Parameters
    ----------
    events : which labelled rows are confident errors
    score : their suspicion, by a ranker that did not learn from them
    eligible : which of them could be confident errors

    Examples
    --------
    >>> rows = np.arange(1_000)
    >>> found = review_budget(rows < 10, -rows.astype(float), rows < 700, max_residual_rate=0.01)
    >>> found.budget
    0.01
    """
    check_share(max_residual_rate, "max_residual_rate")
    check_share(confidence, "confidence")
    n = len(events)
    needed = fewest_rows(max_residual_rate, confidence)
    found = np.concatenate([[0], np.cumsum(np.asarray(events)[review_order(score)])])
    share = float(np.mean(eligible)) if n else 0.0
    tested = []
    for budget in GRID:
        unreviewed = n - review_size(n, budget) if budget else n
        if unreviewed < needed or budget >= share:
            continue
        missed = int(found[-1] - found[n - unreviewed])
        upper = upper_bound(missed, unreviewed, confidence)
        passed = upper <= max_residual_rate
        tested.append(
            {
                "budget": budget,
                "unreviewed": unreviewed,
                "missed": missed,
                "upper": upper,
                "passed": passed,
            }
        )
        if not passed:
            break
    columns = ["budget", "unreviewed", "missed", "upper", "passed"]
    frame = pd.DataFrame(tested, columns=columns).astype({"passed": bool})
    passed_budgets = frame.loc[frame["passed"], "budget"]
    every = passed_budgets.empty
    return ReviewBudget(
        share if every else float(passed_budgets.iloc[-1]),
        max_residual_rate,
        confidence,
        share,
        every,
        frame,
        n,
        source,
        tau,
        doubt,
    )


def missed_bound(
    events: npt.NDArray[np.bool_],
    score: npt.NDArray[np.float64],
    *,
    budget: float,
    confidence: float = PAPER.interval_level,
    source: str = NEW_ROWS,
    doubt: str = "",
) -> MissedBound:
    """Return the upper bound on the rate of confident errors that a budget leaves behind.

    Examples
    --------
    >>> rows = np.arange(1_000)
    >>> missed_bound(rows < 10, -rows.astype(float), budget=0.2).missed
    0
    """
    check_share(confidence, "confidence")
    top = review_order(score)[: review_size(len(events), budget)]
    unreviewed = len(events) - len(top)
    missed = int(np.asarray(events).sum() - np.asarray(events)[top].sum())
    return MissedBound(
        budget,
        len(events),
        unreviewed,
        missed,
        missed / unreviewed if unreviewed else 0.0,
        upper_bound(missed, unreviewed, confidence),
        confidence,
        source,
        doubt,
    )


def check_share(value: float, name: str) -> None:
    """Raise if a rate or a confidence is not between 0 and 1."""
    check_number(name, value, lambda share: 0.0 < share < 1.0, "it must lie between 0 and 1")
