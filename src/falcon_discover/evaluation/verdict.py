"""The finding in a few sentences: how many confident errors, compared with what, and how to act."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.metrics.decisions import Tau
from falcon_discover.metrics.design import rate_interval
from falcon_discover.runtime.words import budget_words, capital, counted, is_count, rate, rounded
from falcon_discover.signals.state import State


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the sentences are made of.

    Attributes
    ----------
    captures : what the ranker finds at the main threshold, one row per budget
    tau : the threshold, in words
    implied : how many confident errors the model's own confidence implies
    rate_low, rate_high : 95% interval of the rate of confident errors
    assumption : what a bound rests on and nobody can tell from the rows
    doubtful : whether the scores themselves are in doubt, so that no bound is given
    units : what is independent of each other: rows or groups
    """

    captures: pd.DataFrame
    tau: str
    implied: float
    rate_low: float
    rate_high: float
    assumption: str = ""
    doubtful: bool = False
    units: str = "rows"

    def words(self) -> str:
        """Return the finding in two to four sentences."""
        first = self.captures.iloc[0]
        rows, sure, wrong = (first[name] for name in ("rows", "eligible", "events"))
        if not sure:
            return f"None of the {counted(rows)} predictions reached {self.tau} confidence."
        head = (
            f"The model was at least {self.tau} sure of {counted(sure)} of its {counted(rows)} "
            "predictions."
        )
        if not wrong:
            return f"{head} None of those was wrong, so there is nothing to rank.{self._bound()}"
        were = "was" if wrong == 1 else "were"
        return (
            f"{head} {capital(counted(wrong))} of those {were} wrong, {self._compared(sure)}. "
            f"Checking {self._found()}."
        )

    def _bound(self) -> str:
        if self.doubtful:
            return ""
        return (
            f" With 95% confidence, fewer than {rate(self.rate_high)} of such predictions are "
            f"wrong, assuming independent {self.units} like these"
            f"{self.assumption and f' and {self.assumption}'}."
        )

    def _compared(self, sure: float) -> str:
        """Return how the number of confident errors compares with the model's own confidence."""
        implied, number = self.implied / sure, rounded(self.implied)
        if self.rate_low <= implied <= self.rate_high:
            return f"about as many as its confidence implies ({number})"
        compared = "more" if implied < self.rate_low else "fewer"
        return f"{compared} than its confidence implies ({number})"

    def _found(self) -> str:
        """Return what the smallest and the largest budget find."""
        ends = self.captures.sort_values("reviewed").iloc[[0, -1]].drop_duplicates("budget")
        parts = [
            (f"the riskiest {_reviewed(row.budget, row.reviewed)}", counted(row.captured))
            for row in ends.itertuples()
        ]
        (budget, found), *others = parts
        return "; ".join(
            [f"{budget} finds {found} of them", *(f"{more}, {count}" for more, count in others)]
        )


def _reviewed(budget: float, rows: float) -> str:
    """Return a review budget with the number of rows it comes to."""
    words = budget_words(budget)
    return words if is_count(budget) else f"{words} ({counted(rows)} row{'' if rows == 1 else 's'})"


def rate_figures(state: State, codes: npt.NDArray[np.int8], tau: Tau) -> tuple[float, float, float]:
    """Return how many confident errors confidence implies, and the interval of their rate."""
    eligible, design = state.eligible(tau), state.design
    wrong = (state.decision != codes) & eligible
    doubt = 1.0 - state.confidence[eligible]
    # Sorted, so that not even a last digit depends on the order of the file.
    weight = np.ones(len(doubt)) if design is None else design.weight[eligible]
    implied = np.sort(doubt * weight).sum()
    return float(implied), *rate_interval(design, wrong, eligible)
