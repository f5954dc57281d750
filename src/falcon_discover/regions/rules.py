"""Regions in words: where confident errors gather, by conditions on the original columns.

A rule is found on one half of the labelled rows and tested on the other, which it has not seen.
It counts as confirmed if confident errors are more frequent in it than among rows of the same
confidence, by an exact test, adjusted for the number of rules that were tested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from falcon_discover import progress
from falcon_discover.exceptions import InputError
from falcon_discover.inference import share_interval
from falcon_discover.regions.bins import columns
from falcon_discover.regions.conditions import Condition, in_words, members
from falcon_discover.regions.confirm import excess_p_value, expected_events, holm, strata
from falcon_discover.regions.scan import MIN_EVENTS, Scan, rounded
from falcon_discover.settings import PAPER
from falcon_discover.tables import BoolArray, FloatArray, IntArray, Kind

MAX_RULES = 6
# A rule most of whose rows are in an earlier one says nothing new.
MIN_NEW_SHARE = 0.5

Against = Literal["confidence", "all"]
Stratify = Callable[[FloatArray], IntArray]
STRATIFIERS: dict[str, Stratify] = {
    "confidence": strata,
    "all": lambda confidence: np.zeros(len(confidence), dtype=np.intp),
}


@dataclass(frozen=True)
class Figures:
    """What a rule holds on a set of rows.

    Attributes
    ----------
    rows, eligible, events : its rows, the confident ones, and the confident errors among them
    rate, low, high : events per eligible row, with its exact interval
    lift : the rate over that of all eligible rows
    expected : events that as many rows of the same confidence would hold
    """

    rows: int
    eligible: int
    events: int
    rate: float
    low: float
    high: float
    lift: float
    expected: float


@dataclass(frozen=True, eq=False)
class Rule:
    """A region in words, with its figures on the rows it was found on and on unseen ones.

    Attributes
    ----------
    conditions : what a row must satisfy, all of them
    discovery, confirmation : figures on the rows it was found on, and on the others
    p_value, adjusted_p : of the excess on the confirmation rows; adjusted for all rules tested
    rows : positions of its rows among all labelled rows
    """

    conditions: tuple[Condition, ...]
    discovery: Figures
    confirmation: Figures
    p_value: float
    adjusted_p: float
    rows: IntArray

    @property
    def words(self) -> str:
        """The rule as people write it."""
        return in_words(self.conditions)

    @property
    def confirmed(self) -> bool:
        """Whether the excess holds on rows it was not found on."""
        return self.adjusted_p <= 1 - PAPER.interval_level

    def holds(self, frame: pd.DataFrame) -> BoolArray:
        """Return which rows of a canonical table are in the region."""
        return members(self.conditions, frame)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        figures = {
            f"{part}_{name}": value
            for part in ("discovery", "confirmation")
            for name, value in vars(getattr(self, part)).items()
        }
        return {
            "confirmed": self.confirmed,
            "adjusted_p": self.adjusted_p,
            "p_value": self.p_value,
            **figures,
        }


def find_rules(
    frame: pd.DataFrame,
    kinds: dict[str, Kind],
    confidence: FloatArray,
    events: BoolArray,
    *,
    tau: float = PAPER.tau,
    against: Against = "confidence",
    confirmation: BoolArray | None = None,
    max_rules: int = MAX_RULES,
    seed: int = 0,
) -> list[Rule]:
    """Return the regions in words, confirmed ones first, then by p-value.

    Parameters
    ----------
    frame, kinds : the canonical table and what its columns are (`Table.frame`, `Table.kinds`)
    confidence, events : of each row
    against : {"confidence", "all"}
        "confidence": a region must hold more confident errors than eligible rows of the same
        confidence do, so what the model itself doubts is no finding; "all": more than all
        eligible rows do
    confirmation : which rows are kept for the test; by default a random half of them

    Examples
    --------
    >>> from falcon_discover import datasets, tables
    >>> planted = datasets.make_planted(4_000, shape="missing", random_state=0)
    >>> wrong = (planted.proba >= 0.5) != planted.y
    >>> sure = np.maximum(planted.proba, 1 - planted.proba)
    >>> table = tables.Table.from_input(planted.X)
    >>> rules = find_rules(table.frame, table.kinds, sure, wrong & (sure >= 0.9))
    >>> rules[0].words, rules[0].confirmed
    ('load is missing', True)
    """
    if against not in STRATIFIERS:
        raise InputError(f"against is {against!r}: choose one of {', '.join(STRATIFIERS)}.")
    stratify = STRATIFIERS[against]
    eligible = confidence >= tau
    if confirmation is None:
        confirmation = half(events & eligible, eligible, seed)
    seen = np.flatnonzero(eligible & ~confirmation)
    if events[seen].sum() < MIN_EVENTS:
        return []
    found = _covering(frame.iloc[seen], kinds, confidence[seen], events[seen], max_rules, stratify)
    held = [members(conditions, frame) for conditions in found]
    p_values = _p_values(held, events, confidence, eligible & confirmation, stratify)
    adjusted = holm(p_values) if len(found) else p_values
    rules = []
    for conditions, inside, p, q in zip(found, held, p_values, adjusted, strict=True):
        discovery, confirmed = (
            figures(inside[part], eligible[part], events[part], confidence[part])
            for part in (~confirmation, confirmation)
        )
        rules.append(
            Rule(conditions, discovery, confirmed, float(p), float(q), np.flatnonzero(inside))
        )
    return sorted(rules, key=lambda rule: (not rule.confirmed, rule.p_value))


def figures(
    inside: BoolArray, eligible: BoolArray, events: BoolArray, confidence: FloatArray
) -> Figures:
    """Return what a region holds on a set of rows."""
    own = inside & eligible
    n, hits = int(own.sum()), int((events & own).sum())
    base = float(events[eligible].mean()) if eligible.any() else 0.0
    usual = expected_events(events[eligible], strata(confidence[eligible]))
    low, high = share_interval(hits, n)
    rate = hits / n if n else float("nan")
    return Figures(
        rows=int(inside.sum()),
        eligible=n,
        events=hits,
        rate=rate,
        low=low,
        high=high,
        lift=rate / base if base else float("nan"),
        expected=float(usual[inside[eligible]].sum()),
    )


def _p_values(
    held: Sequence[BoolArray],
    events: BoolArray,
    confidence: FloatArray,
    tested: BoolArray,
    stratify: Stratify,
) -> FloatArray:
    """Return the p-value of each rule on the tested rows that no rule before it holds.

    Otherwise a rule that touches a strong region would be confirmed by the errors in there.
    """
    left, p_values = tested.copy(), []
    for inside in held:
        stratum = stratify(confidence[left])
        p_values.append(excess_p_value(events[left], inside[left], stratum))
        left &= ~inside
    return np.array(p_values)


def half(events: BoolArray, eligible: BoolArray, seed: int) -> BoolArray:
    """Return a random half of the rows, with half of the events and of the eligible rows."""
    kind = events.astype(int) + eligible
    confirmation = np.zeros(len(events), dtype=bool)
    rng = np.random.default_rng(seed)
    for value in np.unique(kind):
        own = rng.permutation(np.flatnonzero(kind == value))
        confirmation[own[: len(own) // 2]] = True
    return confirmation


def _covering(
    frame: pd.DataFrame,
    kinds: dict[str, Kind],
    confidence: FloatArray,
    events: BoolArray,
    max_rules: int,
    stratify: Stratify,
) -> list[tuple[Condition, ...]]:
    """Return rules found one after another, each among the rows that none before it holds."""
    cells = columns(frame, kinds)
    left = np.arange(len(frame))
    found: list[tuple[Condition, ...]] = []
    progress.expect(max_rules)
    for _ in range(max_rules):
        progress.step("regions in words")
        if not events[left].any():
            break
        expected = expected_events(events[left], stratify(confidence[left]))
        part = [replace(column, codes=column.codes[left]) for column in cells]
        rule = Scan(part, events[left], expected).best()
        if rule is None:
            break
        conditions = tuple(cells[k].condition(mask) for k, mask in sorted(rule.masks.items()))
        conditions = rounded(conditions, frame.iloc[left], events[left], expected)
        inside = members(conditions, frame)
        new = inside[left].sum()
        if new >= MIN_NEW_SHARE * inside.sum():
            found.append(conditions)
        left = left[~inside[left]]
    return found
