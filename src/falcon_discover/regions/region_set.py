"""`RegionSet`: the regions in words and the paper's clusters, as one finding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.metrics.decisions import Tau
from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.conditions import short_names
from falcon_discover.regions.confirm import Against
from falcon_discover.regions.retest import (
    Claim,
    Outcome,
    Retest,
    excess_claim,
    frequency_claim,
    retested,
)
from falcon_discover.regions.rules import Figures, Rule, figures
from falcon_discover.runtime import notices
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import records
from falcon_discover.runtime.types import BoolArray, IntArray
from falcon_discover.runtime.words import amount, rate, rounded
from falcon_discover.signals.state import State

HELD_OUT = " (on held-out rows)"
# On rows that the regions were not found on.
HEADINGS: dict[Claim, str] = {
    "more than predicted": "Regions with more confident errors than the model's confidence "
    f"predicts{HELD_OUT}:",
    "frequent, as predicted": "Regions where confident errors are frequent, about as many as the "
    f"model's confidence implies{HELD_OUT}:",
    "frequent": f"Regions where confident errors are frequent{HELD_OUT}:",
    "no more than predicted": "Regions with no more confident errors than the model's confidence "
    f"predicts{HELD_OUT}:",
    "not frequent": f"Regions where confident errors are not frequent{HELD_OUT}:",
}
# On other labelled rows, where each line says what became of the region.
HEADINGS_HERE = {
    "confidence": "Regions that the fit confirmed to have more confident errors than the "
    "model's confidence predicts, counted on these rows:",
    "all": "Regions that the fit confirmed to have frequent confident errors, counted on these "
    "rows:",
}
INDEPENDENT = "The tests treat rows as independent; exact copies count once."
GROUPED = "No group is on both sides, and the tests treat groups, not rows, as independent."
OUTCOMES = (
    "Held: an excess again, in a 5% test across all regions. Did not hold: clearly fewer errors "
    "than in the fit."
)


@dataclass(frozen=True, eq=False, repr=False)
class RegionSet(Result):
    """Where confident errors gather; printing it shows a short table with words.

    Regions are numbered from 1: `unexpected`, then `expected`. The number is what tells them
    apart; words may be equal.

    Attributes
    ----------
    unexpected : regions in words with more confident errors than rows of the same confidence hold
        elsewhere, confirmed ones first
    expected : regions in words where confident errors are frequent among all confident
        predictions, as the model's own confidence there may predict; confirmed ones only
    clusters : the paper's regions, clusters of similar state
    here : figures of each region, in the order of their numbers, on rows other than those of the
        fit
    retests : whether each region holds there, None for those that were never confirmed
    why_none : why regions were not looked for, in words
    basis : what the tests take the rows for, in words
    """

    unexpected: tuple[Rule, ...]
    expected: tuple[Rule, ...]
    clusters: Clusters
    here: tuple[Figures, ...] | None = None
    retests: tuple[Retest | None, ...] | None = None
    why_none: str = ""
    basis: str = INDEPENDENT

    @classmethod
    def none(cls, why: str) -> RegionSet:
        """Return no region, and why there is none."""
        return cls((), (), Clusters.none(), why_none=why)

    @property
    def confirmed(self) -> tuple[Rule, ...]:
        """The rules whose excess of confident errors is confirmed on held-out rows."""
        return tuple(rule for rule in self.unexpected if rule.confirmed)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The old name of `unexpected`."""
        notices.deprecated("rules", "unexpected")
        return self.unexpected

    @property
    def foreseen(self) -> tuple[Rule, ...]:
        """The old name of `expected`."""
        notices.deprecated("foreseen", "expected")
        return self.expected

    def __len__(self) -> int:
        return len(self.unexpected)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.unexpected)

    def __getitem__(self, number: int) -> Rule:
        return self.unexpected[number]

    @property
    def numbered(self) -> tuple[Rule, ...]:
        """All regions in words, in the order of their numbers."""
        return (*self.unexpected, *self.expected)

    @property
    def figures(self) -> tuple[Figures, ...]:
        """The figures of each region, on these rows or else on held-out rows."""
        if self.here is not None:
            return self.here
        return tuple(rule.confirmation for rule in self.numbered)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What each region's figures on held-out rows show."""
        return (
            *(
                excess_claim(rule.confirmation) if rule.confirmed else "not confirmed"
                for rule in self.unexpected
            ),
            *(frequency_claim(rule.confirmation) for rule in self.expected),
        )

    @property
    def outcomes(self) -> tuple[Outcome | None, ...]:
        """Whether each region held on rows other than those of the fit; None if not tested."""
        if self.retests is None:
            return (None,) * len(self.numbered)
        return tuple(None if again is None else again.outcome for again in self.retests)

    def names(self) -> list[str]:
        """Return a short name for each region."""
        told = [*self.confirmed, *self.expected]
        doubtful = [rule for rule in self.unexpected if not rule.confirmed]
        # What did not hold is shown apart, and may read like a region that did.
        named = {
            id(rule): name
            for group in (told, doubtful)
            for rule, name in zip(group, short_names([r.conditions for r in group]), strict=True)
        }
        return [named[id(rule)] for rule in self.numbered]

    def numbers(self, frame: pd.DataFrame) -> IntArray:
        """Return the number of the first confirmed region that holds each row, 0 for none."""
        numbers = np.zeros(len(frame), dtype=np.intp)
        for number, rule in reversed(list(enumerate(self.numbered, start=1))):
            if rule.confirmed:
                numbers[rule.holds(frame)] = number
        return numbers

    def words(self, numbers: IntArray) -> npt.NDArray[np.object_]:
        """Return regions in full words by number, "" for none."""
        return np.array(["", *(rule.words for rule in self.numbered)], dtype=object)[numbers]

    def described(
        self, clusters: Clusters, frame: pd.DataFrame, state: State, tau: Tau, events: BoolArray
    ) -> RegionSet:
        """Return the same regions with their figures on other labelled rows, tested again there."""
        eligible, sure = state.eligible(tau), state.confidence
        design = state.design
        here = tuple(
            figures(rule.holds(frame), eligible, events, sure, design) for rule in self.numbered
        )
        told = [(i, rule) for i, rule in enumerate(self.numbered) if rule.confirmed]
        again = retested(
            [(rule, self._against(i)) for i, rule in told], frame, sure, events, eligible, design
        )
        by_place = {i: test for (i, _), test in zip(told, again, strict=True)}
        retests = tuple(by_place.get(i) for i in range(len(here)))
        basis = basis_of(state)
        return replace(self, clusters=clusters, here=here, retests=retests, basis=basis)

    def _against(self, place: int) -> Against:
        return "confidence" if place < len(self.unexpected) else "all"

    def frame(self) -> pd.DataFrame:
        """Return one row per region: words, figures on discovery, confirmation and these rows."""
        lines: list[dict[str, Any]] = []
        for i, (rule, name, claim) in enumerate(
            zip(self.numbered, self.names(), self.claims, strict=True)
        ):
            line = {
                "region_id": i + 1,
                "rule": rule.words,
                "name": name,
                "kind": "unexpected" if self._against(i) == "confidence" else "expected",
                "claim": claim,
                **rule.to_dict(),
            }
            if self.here is not None:
                line |= {f"here_{n}": v for n, v in vars(self.here[i]).items()}
            if self.retests is not None:
                again = self.retests[i]
                line["outcome"] = again and again.outcome
                line["here_p_value"] = again and again.p_value
                line["here_adjusted_p"] = again and again.adjusted_p
            lines.append(line)
        return pd.DataFrame(lines)

    NEXT = "finding.review() names each prediction's region; finding.plot.regions() draws them."

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        return {"words": self.text(), "why_none": self.why_none, "regions": records(self.frame())}

    def shown(self) -> pd.DataFrame:
        """Return the regions with what they hold."""
        lines = zip(self.names(), self.claims, self.outcomes, self.figures, strict=True)
        return pd.DataFrame(
            [
                {
                    "region": name,
                    "confident": seen.eligible,
                    "wrong": seen.events,
                    "expected": seen.expected,
                    "rate": seen.rate,
                    "low": seen.low,
                    "high": seen.high,
                    "judged": outcome or claim,
                }
                for name, claim, outcome, seen in lines
            ]
        )

    def text(self) -> str:
        """Return the regions by what may be said of them."""
        if self.why_none:
            return f"No regions: {self.why_none}"
        parts = [] if self.confirmed else [self._none()]
        groups = self._groups()
        parts += ["\n".join([heading, *lines]) for heading, lines in groups.items()]
        if groups:
            parts.append(self.basis if self.retests is None else f"{OUTCOMES} {self.basis}")
        return "\n".join(parts)

    def brief(self, most: int = 2) -> str:
        """Return the regions in a few lines: the first `most` of each kind."""
        if self.why_none:
            return repr(self)
        parts = [] if self.confirmed else [self._none()]
        for heading, lines in self._groups(short=True).items():
            rest = len(lines) - most
            more = [f"  and {rest} more in the report"] if rest > 0 else []
            parts += [heading.replace(HELD_OUT, ""), *lines[:most], *more]
        return "\n".join(parts)

    def _groups(self, *, short: bool = False) -> dict[str, list[str]]:
        """Return a line for each region under the heading that it belongs to."""
        named = list(zip(self.names(), self.figures, strict=True))
        if self.retests is None:
            groups = {
                heading: [
                    _line(*named[i], short=short)
                    for i, own in enumerate(self.claims)
                    if own == claim
                ]
                for claim, heading in HEADINGS.items()
            }
        else:
            groups = {
                heading: [
                    _line(*named[i], outcome, short=short)
                    for i, outcome in enumerate(self.outcomes)
                    if outcome is not None and self._against(i) == against
                ]
                for against, heading in HEADINGS_HERE.items()
            }
        return {heading: lines for heading, lines in groups.items() if lines}

    def _none(self) -> str:
        # Figures that are shown below may exceed what is expected, which no test has confirmed.
        frequent = self.figures[len(self.unexpected) :]
        more = any(excess_claim(seen) == "more than predicted" for seen in frequent)
        verb = "is confirmed to have" if more or self.unexpected else "has"
        none = f"No region {verb} more confident errors than the model's confidence predicts"
        if not self.unexpected:
            return f"{none}."
        tried = len(self.unexpected)
        were, them = ("candidate was", "it") if tried == 1 else ("candidates were", "them")
        return f"{none}. {tried} {were} not confirmed on held-out rows; do not act on {them}."


def basis_of(state: State) -> str:
    """Return what tests take rows for, in words."""
    return INDEPENDENT if state.group is None else GROUPED


def _line(name: str, seen: Figures, outcome: Outcome | None = None, *, short: bool = False) -> str:
    if not seen.eligible:
        return f"  {name}: no confident prediction here"
    if short:
        return (
            f"  {name}: {amount(seen.events)} of {amount(seen.eligible)} wrong "
            f"({rate(seen.rate)}), {rounded(seen.expected)} expected"
            f"{'' if outcome is None else f': {outcome}'}"
        )
    lift = "" if math.isnan(seen.lift) else f", {seen.lift:.1f} times the usual rate"
    again = "" if outcome is None else f": {outcome}"
    return (
        f"  {name}: {amount(seen.events)} of {amount(seen.eligible)} confident predictions wrong "
        f"({rate(seen.rate)}, 95% interval {rate(seen.low)} to {rate(seen.high)}){lift}; "
        f"{seen.expected:.1f} expected{again}"
    )
