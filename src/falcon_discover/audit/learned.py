"""What an audit learned from reviewed rows, as numbers and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from falcon_discover.metrics.intervals import share_interval
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.words import counted, percent, rate


@dataclass(frozen=True, repr=False)
class Learned(Result):
    """What `learn` was told and what it changed; prints itself.

    Attributes
    ----------
    rounds : how often the audit has learned
    rows, wrong : confident predictions that it has learned from so far, and how many were wrong
    new_rows, new_wrong : those of the last time
    expected : how many of these the audit expected to be wrong before it learned
    below : reviewed rows below the threshold of confidence, which say nothing about confident ones
    already_known : rows left out because the audit was fitted on them, or had learned from them
    rate_before, rate_after : confident errors expected among the confident rows of the fit
    top, top_kept : the most suspicious rows of the fit (5%), and how many of them still are
    """

    rounds: int
    rows: int
    wrong: int
    new_rows: int
    new_wrong: int
    expected: float
    below: int
    already_known: int
    rate_before: float
    rate_after: float
    top: int
    top_kept: int

    NEXT = "rank the next batch with the new audit, review its top, and learn again."

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, and the same in words."""
        return {**asdict(self), "words": self.words()}

    def frame(self) -> pd.DataFrame:
        """Return the numbers as a table of one row."""
        return pd.DataFrame([asdict(self)])

    def text(self) -> str:
        """Return what was learned and what it changed, in sentences."""
        return self.words()

    def shown(self) -> pd.DataFrame:
        """Return what a notebook shows: what was expected and what reviewers found."""
        return self.frame()[["new_rows", "new_wrong", "expected", "rate_before", "rate_after"]]

    def words(self) -> str:
        """Return what was learned and what it changed, in sentences."""
        said = [self._told()]
        if self.rounds > 1:
            said.append(
                f"In {self.rounds} rounds so far it has learned from {self.rows:,} reviewed "
                f"predictions; {self.wrong:,} {'was' if self.wrong == 1 else 'were'} wrong."
            )
        if self.already_known:
            said.append(f"Left out, because the audit knows them: {_rows(self.already_known)}.")
        if self.below:
            said.append(
                f"Not used, because they are below the confidence threshold: {_rows(self.below)}."
            )
        said += [self._level()]
        if self.top > 1:
            said.append(self._ranking())
        return " ".join([*said, "The model and the regions are unchanged."])

    def _told(self) -> str:
        many = self.new_rows != 1
        low, high = share_interval(self.new_wrong, self.new_rows)
        verdict = "; the difference may be chance"
        if self.expected > high * self.new_rows:
            verdict = ", which is too many"
        elif self.expected < low * self.new_rows:
            verdict = ", which is too few"
        return (
            f"Learned from {self.new_rows:,} reviewed confident prediction{'s' if many else ''}. "
            f"{self.new_wrong:,} {'was' if self.new_wrong == 1 else 'were'} wrong; the audit "
            f"expected {counted(round(self.expected, 1))}{verdict}."
        )

    def _level(self) -> str:
        before, after = rate(self.rate_before), rate(self.rate_after)
        moved = ", as before" if before == after else f"; it was {before}"
        return f"The expected rate of confident errors among confident rows is {after}{moved}."

    def _ranking(self) -> str:
        share = percent(self.top_kept / self.top)
        return (
            f"{self.top_kept:,} of the {self.top:,} most suspicious rows of the fit ({share}) "
            f"still {'is' if self.top_kept == 1 else 'are'} among the {self.top:,} most suspicious."
        )


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
