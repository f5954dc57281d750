"""`RegionSet`: the regions in words and the paper's clusters, as one finding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.rules import Figures, Rule, figures
from falcon_discover.signals.state import State
from falcon_discover.tables import BoolArray
from falcon_discover.words import rate

# Words of a rule are cut here in a printed table.
MAX_PRINTED = 150


@dataclass(frozen=True, eq=False)
class RegionSet:
    """Where confident errors gather; printing it shows a short table with words.

    Attributes
    ----------
    rules : regions in words with more confident errors than rows of the same confidence hold
        elsewhere, confirmed ones first
    foreseen : regions in words where confident errors are frequent among all confident
        predictions, as the model's own confidence there may foresee; confirmed ones only
    clusters : the paper's regions, clusters of similar state
    here : figures of each rule, by its words, on rows other than those of the fit
    """

    rules: tuple[Rule, ...]
    foreseen: tuple[Rule, ...]
    clusters: Clusters
    here: dict[str, Figures] | None = None

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

    def name(self, frame: pd.DataFrame) -> npt.NDArray[np.object_]:
        """Return the first confirmed region that holds each row of a canonical table, or ""."""
        names = np.full(len(frame), "", dtype=object)
        for rule in reversed((*self.confirmed, *self.foreseen)):
            names[rule.holds(frame)] = rule.words
        return names

    def described(
        self, clusters: Clusters, frame: pd.DataFrame, state: State, tau: float, events: BoolArray
    ) -> RegionSet:
        """Return the same regions with their figures on other labelled rows."""
        eligible, sure = state.eligible(tau), state.confidence
        here = {
            rule.words: figures(rule.holds(frame), eligible, events, sure)
            for rule in (*self.rules, *self.foreseen)
        }
        return replace(self, clusters=clusters, here=here)

    def frame(self) -> pd.DataFrame:
        """Return one row per rule: words, figures on discovery, confirmation and these rows."""
        records: list[dict[str, Any]] = []
        for rule in (*self.rules, *self.foreseen):
            kind = "foreseen" if rule in self.foreseen else "beyond confidence"
            record = {"rule": rule.words, "kind": kind, **rule.to_dict()}
            if self.here is not None:
                record |= {f"here_{n}": v for n, v in vars(self.here[rule.words]).items()}
            records.append(record)
        return pd.DataFrame(records)

    def __repr__(self) -> str:
        where = "rows they were not found on" if self.here is None else "these rows"
        parts = [self._beyond(where)]
        if self.foreseen:
            head = f"Confident errors are most frequent, on {where}, in"
            parts.append("\n".join([head, *(self._line(rule) for rule in self.foreseen)]))
        return "\n".join(parts)

    def _beyond(self, where: str) -> str:
        if self.confirmed:
            head = f"More confident errors than their confidence admits, on {where}, in"
            return "\n".join([head, *(self._line(rule) for rule in self.confirmed)])
        if not self.rules:
            return "No region holds more confident errors than its confidence admits."
        return (
            "No region is confirmed to hold more confident errors than its confidence admits "
            f"({len(self.rules)} found on one half of the rows did not hold on the others)."
        )

    def _line(self, rule: Rule) -> str:
        seen = rule.confirmation if self.here is None else self.here[rule.words]
        words = rule.words if len(rule.words) <= MAX_PRINTED else f"{rule.words[:MAX_PRINTED]}…"
        if not seen.eligible:
            return f"  {words}: no confident prediction here"
        return (
            f"  {words}: {seen.events:,} of {seen.eligible:,} confident predictions wrong "
            f"({rate(seen.rate)}, 95 % interval {rate(seen.low)} to {rate(seen.high)}), "
            f"{seen.lift:.1f} times the usual rate; {seen.expected:.1f} expected"
        )
