"""How much review is enough: a budget with a guarantee, and what a budget can leave behind.

The rate of confident errors among rows that are *not* reviewed is bounded by the exact
(Clopper-Pearson) bound on labelled rows that the ranker did not learn from. Budgets are tested
in a fixed order from large to small, and testing stops at the first that fails; so the statement
as a whole holds with the stated confidence, whichever budget it ends at. A bound for the next
batch of rows instead of the long run is an exact prediction bound; see `bounds.safe_level` for why
the fixed order holds for it too.

Two facts are known without labels and shape the order. Rows below the threshold cannot be
confident errors: reviewing all eligible rows leaves none. And a budget that leaves too few rows
could not pass whatever their labels: such budgets are not tested.

All of it takes the rows as independent draws from one population. Rows with a twin may be
copies: bounds are then also made with one of each set of twins, and the larger one counts.

Of rows in groups the groups are independent draws, and of weighted rows each stands for several.
The exact bound does not hold for these: `betting.betting_bound` takes its place. A budget is then
a share of what the rows stand for, and there is no bound for the next batch.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.data.twins import Content
from falcon_discover.evaluation.assumptions import (
    ASSUMED,
    EXACT,
    check_batch,
    check_share,
    copies,
    doubted,
    needed,
    resting_on,
    said,
)
from falcon_discover.evaluation.bounds import Unread, as_share
from falcon_discover.evaluation.sources import NEW_ROWS
from falcon_discover.evaluation.stated import Stated
from falcon_discover.metrics import review_size
from falcon_discover.metrics.decisions import Tau
from falcon_discover.metrics.design import Design
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.runtime.words import (
    amount,
    budget_words,
    capital,
    counted,
    is_count,
    level,
    percent,
    rate,
)
from falcon_discover.settings import PAPER

GRID_STEP = 0.02
FINE_GRID = (0.015, 0.01, 0.005, 0.0025, 0.0)
GRID = (*(round(1.0 - GRID_STEP * i, 2) for i in range(1, round(1 / GRID_STEP))), *FINE_GRID)


@dataclass(frozen=True, repr=False)
class MissedBound(Stated):
    """How many confident errors a review budget leaves behind, with an upper bound.

    Attributes
    ----------
    budget : the share reviewed, or the number of rows: of these or, with `batch`, of the next ones
    rows, unreviewed, missed : labelled rows, those not reviewed, confident errors among them
    rate, upper : their rate and the upper bound: in the long run, or in the batch
    confidence_level : of the bound
    source : which rows it was estimated on
    doubt : why it may be invalid, if so
    twins : labelled rows with a twin; see `falcon_discover.data.twins`
    simultaneous : whether the bound holds jointly with those of all other budgets
    batch : size of the next batch that the bound refers to; None for the long run
    batch_unreviewed, batch_missed : rows of the batch that are not reviewed, and the upper bound
        on the confident errors among them
    method : which bound it is
    assumed : what it assumes about the rows, in words
    """

    budget: float
    rows: float
    unreviewed: float
    missed: float
    rate: float
    upper: float
    confidence_level: float
    source: str
    doubt: str = ""
    twins: int = 0
    simultaneous: bool = False
    batch: int | None = None
    batch_unreviewed: int | None = None
    batch_missed: int | None = None
    method: str = EXACT
    assumed: str = ASSUMED

    NEXT = "finding.review_budget(max_residual_rate) finds the budget for a rate that you choose."

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        return {**asdict(self), "statement": self.text()}

    def statement(self) -> str:
        """Return what the budget leaves behind, in two sentences."""
        return (
            f"If you review the riskiest {self._budget()}, {amount(self.unreviewed)} of "
            f"{amount(self.rows)} predictions go unreviewed; {amount(self.missed)} of those "
            f"{'was a confident error' if self.missed == 1 else 'were confident errors'} "
            f"({rate(self.rate)}). With {percent(self.confidence_level)} confidence, "
            f"{self._bound()}, {self.assumed} and {self._budgets()}{said(self.method)}."
        )

    def text(self) -> str:
        """Return what is left unreviewed and the bound on its errors."""
        return (
            f"{doubted(self.doubt)}{self.statement()}{copies(self.twins)}\n"
            f"Estimated on {self.source}."
        )

    def _bound(self) -> str:
        if self.batch is None:
            return f"their rate in the long run is at most {rate(self.upper)}"
        return (
            f"at most {self.batch_missed:,} of the {self.batch_unreviewed:,} unreviewed among the "
            f"next {self.batch:,} rows will be confident errors ({rate(self.upper)})"
        )

    def _budget(self) -> str:
        words = budget_words(self.budget)
        if self.batch is None or not is_count(self.budget):
            return words
        return f"{words} of every {self.batch:,}"

    def _budgets(self) -> str:
        if self.simultaneous:
            return "any budget, even one chosen after seeing the bounds"
        return "a budget chosen in advance"


@dataclass(frozen=True, eq=False, repr=False)
class ReviewBudget(Stated):
    """The smallest review budget that keeps confident errors rare among unreviewed rows.

    Attributes
    ----------
    budget : share of the rows to review
    max_residual_rate : the target for the rate of confident errors among the rest
    confidence_level : of the statement
    eligible : share of the rows that could be confident errors at all
    all_eligible : whether every eligible row has to be reviewed
    tested : one row per budget tested, in order, with its bound and whether it passed
    source : which rows it was estimated on
    tau : confidence from which a row is eligible
    doubt : why the statement may be invalid, if so
    twins : labelled rows with a twin; see `falcon_discover.data.twins`
    batch : size of the next batch that the statement refers to; None for the long run
    method : which bound it rests on
    assumed : what it assumes about the rows, in words
    """

    budget: float
    max_residual_rate: float
    confidence_level: float
    eligible: float
    all_eligible: bool
    tested: pd.DataFrame
    rows: int
    source: str
    tau: Tau = PAPER.tau
    doubt: str = ""
    twins: int = 0
    batch: int | None = None
    method: str = EXACT
    assumed: str = ASSUMED

    NEXT = "finding.report(path, max_residual_rate={self.max_residual_rate:g}) writes it down."

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        return {
            "budget": self.budget,
            "max_residual_rate": self.max_residual_rate,
            "confidence_level": self.confidence_level,
            "eligible": self.eligible,
            "all_eligible": self.all_eligible,
            "rows": self.rows,
            "tested": self.tested.to_dict("records"),
            "source": self.source,
            "doubt": self.doubt,
            "twins": self.twins,
            "batch": self.batch,
            "method": self.method,
            "assumed": self.assumed,
            "statement": self.text(),
        }

    def frame(self) -> pd.DataFrame:
        """Return the budgets that were tested."""
        return self.tested.copy()

    def text(self) -> str:
        """Return how much to review and what that is worth."""
        if not self.eligible:
            return self.statement()
        rows = f"Estimated on {self.rows:,} rows: {self.source}."
        return f"{doubted(self.doubt)}{self.statement()}{copies(self.twins)}\n{rows}"

    def statement(self) -> str:
        """Return how much to review, and what that achieves."""
        if not self.eligible:
            return (
                f"There is nothing to review: no prediction reaches {level(self.tau)} "
                "confidence, so none can be a confident error."
            )
        where = "in the long run" if self.batch is None else f"in the next {self.batch:,} rows"
        target = (
            f"at most {rate(self.max_residual_rate)} of the unreviewed predictions "
            f"are confident errors {where}"
        )
        if self.all_eligible:
            share = percent(self.budget) if self.budget >= 0.01 else rate(self.budget)
            return (
                f"Review every confident prediction ({share} of all rows) to be "
                f"{percent(self.confidence_level)} sure that {target}: {self._why_all()}"
            )
        last = self.tested[self.tested["passed"]].iloc[-1]
        head = "Nothing needs review"
        if self.budget:
            head = f"Review the riskiest {percent(self.budget)}"
            # Of weighted rows, what is not reviewed is counted in weight, not in rows.
            if self.method == EXACT:
                head += f" ({counted(self.rows - last['unreviewed'])} of {self.rows:,} rows)"
        missed = last["missed"]
        error = "was a confident error" if missed == 1 else "were confident errors"
        return (
            f"{head}: with {percent(self.confidence_level)} confidence, "
            f"{target}, {self.assumed}. {capital(counted(missed))} of the "
            f"{counted(last['unreviewed'])} unreviewed rows {error}, so "
            f"{self._bound(last)}{said(self.method)}."
        )

    def _bound(self, last: pd.Series) -> str:
        if self.batch is None:
            return f"the rate is at most {rate(float(last['upper']))}"
        return (
            f"at most {int(last['batch_missed']):,} of the {int(last['batch_unreviewed']):,} "
            f"unreviewed among the next {self.batch:,} will be"
        )

    def _why_all(self) -> str:
        if len(self.tested):
            return "no smaller budget can be shown to be enough."
        few = f"{self.rows:,} labelled rows are too few to show that a smaller budget is enough"
        if self.batch is not None:
            return f"{few}."
        return f"{few}; {needed(self.method, self.max_residual_rate, self.confidence_level)}."


def review_budget(
    events: BoolArray,
    score: FloatArray,
    eligible: BoolArray,
    *,
    max_residual_rate: float,
    confidence_level: float = PAPER.interval_level,
    batch: int | None = None,
    content: Content | None = None,
    design: Design | None = None,
    source: str = NEW_ROWS,
    tau: Tau = PAPER.tau,
    doubt: str = "",
) -> ReviewBudget:
    """Return the smallest budget that can be shown to keep confident errors rare in the rest.

    Parameters
    ----------
    events : which labelled rows are confident errors
    score : their suspicion, by a ranker that did not learn from them
    eligible : which of them could be confident errors
    batch : size of the next batch that the statement refers to; None for the long run
    content : what the rows hold: it orders rows of equal score and tells twins. Without it, a cut
        among equal scores counts the expected number, rounded up
    design : weights and groups of the rows; None where they are independent and count alike

    Examples
    --------
    >>> rows = np.arange(1_000)
    >>> found = review_budget(rows < 10, -rows.astype(float), rows < 700, max_residual_rate=0.01)
    >>> found.budget
    0.01
    """
    check_share(max_residual_rate, "max_residual_rate")
    check_share(confidence_level, "confidence_level")
    check_batch(batch, design)
    n = len(events)
    rows = Unread.of(events, score, content, design, eligible)
    share = float(np.mean(eligible)) if n else 0.0
    if design is not None and n:
        share = design.mean(eligible)
    budgets = [budget for budget in GRID if budget < share]
    level = confidence_level
    if batch is not None:
        level = rows.level(GRID, max_residual_rate, confidence_level, batch)
    tested = []
    for budget in budgets:
        if rows.best(budget, level, batch) > max_residual_rate:
            continue
        left = asdict(rows.left(budget, level, batch=batch))
        passed = left["upper"] <= max_residual_rate
        tested.append({"budget": budget, **left, "passed": passed})
        if not passed:
            break
    columns = ["budget", "unreviewed", "missed", "upper", "passed"]
    if batch is not None:
        columns[-1:] = ["batch_unreviewed", "batch_missed", "passed"]
    # Without a line the type of a column is not known.
    frame = pd.DataFrame(tested, columns=columns).astype({"passed": bool})
    safe = [line["budget"] for line in tested if line["passed"]]
    every = not safe
    return ReviewBudget(
        share if every else safe[-1],
        max_residual_rate,
        confidence_level,
        share,
        every,
        frame,
        n,
        source,
        tau,
        doubt,
        rows.twins,
        batch,
        *resting_on(rows, design),
    )


def missed_bound(
    events: BoolArray,
    score: FloatArray,
    *,
    budget: float,
    confidence_level: float = PAPER.interval_level,
    batch: int | None = None,
    simultaneous: bool = False,
    content: Content | None = None,
    design: Design | None = None,
    eligible: BoolArray | None = None,
    source: str = NEW_ROWS,
    doubt: str = "",
) -> MissedBound:
    """Return the upper bound on the rate of confident errors that a budget leaves behind.

    Parameters
    ----------
    budget : a share of the rows, or a number of them: of these or, with `batch`, of the next ones
    batch : size of the next batch that the bound refers to; None for the long run
    simultaneous : whether it should hold jointly with the bounds of all other budgets, and so for
        a budget that is chosen after seeing them
    content, design : as in `review_budget`
    eligible : which rows could be confident errors; of use with a design

    Examples
    --------
    >>> rows = np.arange(1_000)
    >>> missed_bound(rows < 10, -rows.astype(float), budget=0.2).missed
    0
    """
    check_share(confidence_level, "confidence_level")
    check_batch(batch, design)
    review_size(len(events), budget)
    rows = Unread.of(events, score, content, design, eligible)
    share = as_share(budget, len(events) if batch is None else batch, design)
    left = rows.left(share, confidence_level, batch=batch, simultaneous=simultaneous)
    return MissedBound(
        budget,
        len(events) if design is None else design.total(),
        left.unreviewed,
        left.missed,
        left.missed / left.unreviewed if left.unreviewed else 0.0,
        left.upper,
        confidence_level,
        source,
        doubt,
        rows.twins,
        simultaneous,
        batch,
        left.batch_unreviewed,
        left.batch_missed,
        *resting_on(rows, design),
    )
