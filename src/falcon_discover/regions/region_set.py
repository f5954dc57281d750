"""`RegionSet`: the regions in words and the paper's clusters, as one finding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.regions.claims import Claim, excess_claim, frequency_claim
from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.conditions import short_names
from falcon_discover.regions.rules import Figures, Rule, figures
from falcon_discover.signals.state import State
from falcon_discover.tables import BoolArray, IntArray
from falcon_discover.words import rate

HEADINGS: dict[Claim, str] = {
    "more than predicted": "Regions with more confident errors than the model's confidence "
    "predicts, on {where}:",
    "frequent, as predicted": "Regions where confident errors are frequent, about as many as the "
    "model's confidence implies, on {where}:",
    "frequent": "Regions where confident errors are frequent, on {where}:",
    "no more than predicted": "No more confident errors than the model's confidence predicts, on "
    "{where}, in:",
    "not frequent": "Confident errors are no longer frequent, on {where}, in:",
}


@dataclass(frozen=True, eq=False)
class RegionSet:
    """Where confident errors gather; printing it shows a short table with words.

    Regions are numbered from 1: `rules`, then `foreseen`. The number is what tells them apart;
    words may be equal.

    Attributes
    ----------
    rules : regions in words with more confident errors than rows of the same confidence hold
        elsewhere, confirmed ones first
    foreseen : regions in words where confident errors are frequent among all confident
        predictions, as the model's own confidence there may foresee; confirmed ones only
    clusters : the paper's regions, clusters of similar state
    here : figures of each region, in the order of their numbers, on rows other than those of the
        fit
    """

    rules: tuple[Rule, ...]
    foreseen: tuple[Rule, ...]
    clusters: Clusters
    here: tuple[Figures, ...] | None = None

    @property
    def confirmed(self) -> tuple[Rule, ...]:
        """The rules whose excess of confident errors holds on rows they were not found on."""
        return tuple(rule for rule in self.rules if rule.confirmed)

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, number: int) -> Rule:
        return self.rules[number]

    @property
    def numbered(self) -> tuple[Rule, ...]:
        """All regions in words, in the order of their numbers."""
        return (*self.rules, *self.foreseen)

    @property
    def figures(self) -> tuple[Figures, ...]:
        """What each region holds, on these rows or else on rows that it was not found on."""
        if self.here is not None:
            return self.here
        return tuple(rule.confirmation for rule in self.numbered)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What may be said of each region by its figures."""
        found, frequent = self.figures[: len(self.rules)], self.figures[len(self.rules) :]
        return (
            *(
                excess_claim(seen) if rule.confirmed else "not confirmed"
                for rule, seen in zip(self.rules, found, strict=True)
            ),
            *map(frequency_claim, frequent),
        )

    def names(self) -> list[str]:
        """Return each region in few words, to be shown."""
        told = [*self.confirmed, *self.foreseen]
        doubtful = [rule for rule in self.rules if not rule.confirmed]
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
        self, clusters: Clusters, frame: pd.DataFrame, state: State, tau: float, events: BoolArray
    ) -> RegionSet:
        """Return the same regions with their figures on other labelled rows."""
        eligible, sure = state.eligible(tau), state.confidence
        here = tuple(figures(rule.holds(frame), eligible, events, sure) for rule in self.numbered)
        return replace(self, clusters=clusters, here=here)

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
                "kind": "beyond confidence" if i < len(self.rules) else "foreseen",
                "claim": claim,
                **rule.to_dict(),
            }
            if self.here is not None:
                line |= {f"here_{n}": v for n, v in vars(self.here[i]).items()}
            lines.append(line)
        return pd.DataFrame(lines)

    def __repr__(self) -> str:
        where = "rows they were not found on" if self.here is None else "these rows"
        told = list(zip(self.claims, self.names(), self.figures, strict=True))
        parts = [] if self.confirmed else [self._none()]
        for claim, heading in HEADINGS.items():
            lines = [_line(name, seen) for own, name, seen in told if own == claim]
            if lines:
                parts.append("\n".join([heading.format(where=where), *lines]))
        return "\n".join(parts)

    def _none(self) -> str:
        frequent = self.figures[len(self.rules) :]
        # Figures that are shown below may exceed what is expected, which no test has confirmed.
        more = any(excess_claim(seen) == "more than predicted" for seen in frequent)
        verb = "is confirmed to have" if more or self.rules else "has"
        none = f"No region {verb} more confident errors than the model's confidence predicts"
        if not self.rules:
            return f"{none}."
        return (
            f"{none} ({len(self.rules)} found on one half of the rows did not hold on the other)."
        )


def _line(name: str, seen: Figures) -> str:
    if not seen.eligible:
        return f"  {name}: no confident prediction here"
    lift = "" if math.isnan(seen.lift) else f", {seen.lift:.1f} times the usual rate"
    return (
        f"  {name}: {seen.events:,} of {seen.eligible:,} confident predictions wrong "
        f"({rate(seen.rate)}, 95 % interval {rate(seen.low)} to {rate(seen.high)}){lift}; "
        f"{seen.expected:.1f} expected"
    )
