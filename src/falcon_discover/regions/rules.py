"""Regions in words: where confident errors gather, by conditions on the original columns.

A rule is found on one half of the labelled rows and tested on the other, which it has not seen,
and each half takes its turn. A rule counts as confirmed if confident errors are more frequent in
it than among rows of the same confidence, by an exact test, adjusted for all that was tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.data.table import Kind
from falcon_discover.data.twins import one_of_each
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.design import Design, counted, rate_interval
from falcon_discover.regions.bins import columns
from falcon_discover.regions.conditions import Condition, in_words, members
from falcon_discover.regions.confirm import (
    STRATIFIERS,
    Against,
    cautious_p_value,
    expected_events,
    halves,
    holm,
    strata,
    twins_of,
)
from falcon_discover.regions.scan import MIN_EVENTS, Scan, rounded
from falcon_discover.runtime import progress
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.runtime.words import amount
from falcon_discover.settings import PAPER

MAX_RULES = 6
# A rule most of whose rows are in an earlier one says nothing new.
MIN_NEW_SHARE = 0.5
# Nor does one with so much of its confident errors in rules that are told already. Rows do not
# count here: a wide region around a small one has few rows of it, but may have little else to tell.
MAX_TOLD_SHARE = 0.5


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

    rows: float
    eligible: float
    events: float
    rate: float
    low: float
    high: float
    lift: float
    expected: float


@dataclass(frozen=True, eq=False, repr=False)
class Rule(Result):
    """A region in words, with its figures on the rows it was found on and on unseen ones.

    Attributes
    ----------
    conditions : what a row must satisfy, all of them
    discovery, confirmation : figures on the rows it was found on, and on the others
    p_value, adjusted_p : of the excess on the confirmation rows; adjusted for all rules tested
    rows : positions of its rows among all labelled rows
    confirmed_once : as `confirmation`, with one of each set of twins; None where there are none
    """

    conditions: tuple[Condition, ...]
    discovery: Figures
    confirmation: Figures
    p_value: float
    adjusted_p: float
    rows: IntArray
    confirmed_once: Figures | None = None

    NEXT = "falcon.regions_.frame() has all regions with their figures."

    def text(self) -> str:
        """Return the rule and what it holds on rows that it was not found on."""
        seen, held = self.confirmation, "" if self.confirmed else "not "
        return (
            f"{self.words}: {amount(seen.events)} of {amount(seen.eligible)} confident "
            f"predictions wrong, {seen.expected:.1f} expected; {held}confirmed."
        )

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
    tau: float | FloatArray = PAPER.tau,
    against: Against = "confidence",
    confirmation: BoolArray | None = None,
    max_rules: int = MAX_RULES,
    seed: int = 0,
    design: Design | None = None,
) -> list[Rule]:
    """Return the regions in words, confirmed ones first, then by p-value.

    Parameters
    ----------
    frame, kinds : the canonical table and what its columns are (`Table.frame`, `Table.kinds`)
    confidence, events : of each row
    tau : confidence from which rows are eligible; one number, or one for each row
    against : {"confidence", "all"}
        "confidence": a region must hold more confident errors than eligible rows of the same
        confidence do, so what the model itself doubts is no finding; "all": more than all
        eligible rows do
    confirmation : which rows are kept for the test, or several such choices, one per row of a
        matrix, which share the error level; by default each of two random halves confirms what
        is found on the other. A row with a twin among those that find is not tested.
    design : weights and groups of the rows; no group finds and confirms

    Examples
    --------
    >>> from falcon_discover import datasets
    >>> from falcon_discover.data.table import Table
    >>> planted = datasets.make_planted(4_000, shape="missing", random_state=0)
    >>> wrong = (planted.proba >= 0.5) != planted.y
    >>> sure = np.maximum(planted.proba, 1 - planted.proba)
    >>> table = Table.from_input(planted.X)
    >>> rules = find_rules(table.frame, table.kinds, sure, wrong & (sure >= 0.9))
    >>> rules[0].words, rules[0].confirmed
    ('load is missing', True)
    """
    if against not in STRATIFIERS:
        raise InputError(f"against is {against!r}: choose one of {', '.join(STRATIFIERS)}.")
    searches = {against: max_rules}
    return find_together(
        frame,
        kinds,
        confidence,
        events,
        searches,
        tau=tau,
        confirmation=confirmation,
        seed=seed,
        design=design,
    )[against]


def find_together(
    frame: pd.DataFrame,
    kinds: dict[str, Kind],
    confidence: FloatArray,
    events: BoolArray,
    searches: Mapping[Against, int],
    *,
    tau: float | FloatArray = PAPER.tau,
    confirmation: BoolArray | None = None,
    seed: int = 0,
    design: Design | None = None,
) -> dict[Against, list[Rule]]:
    """Return the rules of several searches, each up to its number, which share the error level."""
    eligible = np.asarray(confidence >= tau)
    events = events & eligible
    if confirmation is None:
        group = design.unit if design is not None and design.grouped else None
        confirmation = halves(frame, events, eligible, seed, group)
    rows = _Rows(frame, confidence, events, eligible, twins_of(frame, events, eligible), design)
    found: dict[Against, list[Rule]] = {against: [] for against in searches}
    directions = np.atleast_2d(confirmation)
    for kept in directions:
        # A twin of a row that finds would confirm by what was found.
        kept = kept & ~np.isin(rows.twins, rows.twins[~kept])
        rules = {name: _one_way(rows, kinds, kept, name, most) for name, most in searches.items()}
        p_values = np.array([rule.p_value for part in rules.values() for rule in part])
        adjusted = iter(np.minimum(1.0, len(directions) * holm(p_values)))
        for against, part in rules.items():
            found[against] += [replace(rule, adjusted_p=float(next(adjusted))) for rule in part]
    return {
        against: _told_once(part, events)[: searches[against]] for against, part in found.items()
    }


def told_already(rule: Rule, told: BoolArray, events: BoolArray) -> bool:
    """Return whether most of a rule's confident errors are among rows that are told."""
    own = rule.rows[events[rule.rows]]
    return bool(told[own].mean() >= MAX_TOLD_SHARE)


def _told_once(rules: list[Rule], events: BoolArray) -> list[Rule]:
    """Return rules, confirmed ones first, then by p-value, without those that repeat others."""
    told, kept = np.zeros(len(events), dtype=bool), []
    for rule in sorted(rules, key=lambda rule: (not rule.confirmed, -_strength(rule))):
        if not told_already(rule, told, events):
            kept.append(rule)
            told[rule.rows] = True
    return sorted(kept, key=lambda rule: (not rule.confirmed, rule.p_value))


def _strength(rule: Rule) -> float:
    """Return the log-likelihood ratio of a rule's excess on all rows.

    By it the better of two descriptions of one region is told.
    """
    seen = rule.discovery.events + rule.confirmation.events
    expected = max(rule.discovery.expected + rule.confirmation.expected, 1e-9)
    return float(seen * np.log(seen / expected) - seen + expected)


@dataclass(frozen=True, eq=False)
class _Rows:
    """What is known of the labelled rows."""

    frame: pd.DataFrame
    confidence: FloatArray
    events: BoolArray
    eligible: BoolArray
    twins: IntArray
    design: Design | None

    def drawn(self, part: BoolArray | IntArray) -> Design | None:
        return None if self.design is None else self.design.take(part)

    def figures(self, inside: BoolArray, part: BoolArray | IntArray) -> Figures:
        return figures(
            inside[part],
            self.eligible[part],
            self.events[part],
            self.confidence[part],
            self.drawn(part),
        )


def _one_way(
    rows: _Rows, kinds: dict[str, Kind], kept: BoolArray, against: Against, max_rules: int
) -> list[Rule]:
    """Return rules found on the rows that are not kept, with p-values on those that are."""
    seen = np.flatnonzero(rows.eligible & ~kept)
    if rows.events[seen].sum() < MIN_EVENTS:
        return []
    design = rows.drawn(seen)
    found = _covering(
        rows.frame.iloc[seen],
        kinds,
        rows.confidence[seen],
        rows.events[seen],
        max_rules,
        against,
        None if design is None else design.weight,
    )
    held = [members(conditions, rows.frame) for conditions in found]
    p_values = _p_values(held, rows, rows.eligible & kept, against)
    unseen = np.flatnonzero(kept)
    once = unseen[one_of_each(rows.twins[unseen], rows.confidence[unseen])]
    return [
        Rule(
            conditions,
            rows.figures(inside, ~kept),
            rows.figures(inside, unseen),
            p,
            p,
            np.flatnonzero(inside),
            None if len(once) == len(unseen) else rows.figures(inside, once),
        )
        for conditions, inside, p in zip(found, held, p_values, strict=True)
    ]


def figures(
    inside: BoolArray,
    eligible: BoolArray,
    events: BoolArray,
    confidence: FloatArray,
    design: Design | None = None,
) -> Figures:
    """Return what a region holds on a set of rows."""
    own = inside & eligible
    rows, n, hits = counted(design, inside, own, events & own)
    sure = None if design is None else design.take(eligible)
    weight = None if sure is None else sure.weight
    base = 0.0
    if eligible.any():
        base = float(np.average(events[eligible], weights=weight))
    usual = expected_events(events[eligible], strata(confidence[eligible], weight), weight)
    low, high = rate_interval(design, events, own)
    rate = hits / n if n else float("nan")
    expected = usual if weight is None else weight * usual
    return Figures(
        rows=rows,
        eligible=n,
        events=hits,
        rate=rate,
        low=low,
        high=high,
        lift=rate / base if base else float("nan"),
        expected=float(expected[inside[eligible]].sum()),
    )


def _p_values(
    held: Sequence[BoolArray], rows: _Rows, tested: BoolArray, against: Against
) -> list[float]:
    """Return the p-value of each rule on the tested rows that no rule before it holds.

    Otherwise a rule that touches a strong region would be confirmed by the errors in there.
    """
    left, p_values = tested.copy(), []
    for inside in held:
        p_values.append(
            cautious_p_value(
                rows.events[left],
                inside[left],
                rows.confidence[left],
                rows.twins[left],
                against,
                rows.drawn(left),
            )
        )
        left &= ~inside
    return p_values


def _covering(
    frame: pd.DataFrame,
    kinds: dict[str, Kind],
    confidence: FloatArray,
    events: BoolArray,
    max_rules: int,
    against: Against,
    weight: FloatArray | None = None,
) -> list[tuple[Condition, ...]]:
    """Return rules found one after another, each among the rows that none before it holds."""
    cells = columns(frame, kinds)
    left = np.arange(len(frame))
    counted = events if weight is None else events & (weight > 0)
    found: list[tuple[Condition, ...]] = []
    progress.expect(max_rules)
    for _ in range(max_rules):
        progress.step("regions in words")
        if not counted[left].any():
            break
        own = None if weight is None else weight[left]
        stratum = STRATIFIERS[against](confidence[left], own)
        hits, expected = events[left], expected_events(events[left], stratum)
        if own is not None:
            # What the rows stand for, brought to as many rows as there are: what a condition has
            # to earn depends on these.
            own = own * len(left) / own.sum()
            hits = own * events[left]
            expected = own * expected_events(events[left], stratum, own)
        part = [replace(column, codes=column.codes[left]) for column in cells]
        rule = Scan(part, hits, expected).best()
        if rule is None:
            break
        conditions = tuple(cells[k].condition(mask) for k, mask in sorted(rule.masks.items()))
        conditions = rounded(conditions, frame.iloc[left], hits, expected)
        inside = members(conditions, frame)
        new = inside[left].sum()
        if new >= MIN_NEW_SHARE * inside.sum():
            found.append(conditions)
        left = left[~inside[left]]
    return found
