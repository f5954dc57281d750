"""The rule whose rows hold more confident errors than rows of the same confidence do elsewhere.

A rule is scored by the log-likelihood ratio of Kulldorff's spatial scan statistic: c events
inside where e were expected, of C in all. Each condition has to earn its cost, so that a rule is
no longer than it needs to be. All single columns and all pairs of columns are scanned over coarse
cells; the best are refined in turn, one condition at a time, over fine cells, which is also where
conditions are added or dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import gammaln

from falcon_discover.regions.bins import MAX_NAMED, CellMask, Column
from falcon_discover.regions.conditions import Condition, members, rounder
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray

# What a condition has to earn, in log-likelihood: for its column, and for each bound.
COLUMN_COST = 1.0
BOUND_COST = 3.0
MAX_CONDITIONS = 3
MIN_EVENTS = 5
# A region of more than this share of the expected events is not compact.
MAX_SHARE = 0.3
# Pairs of columns refined, and columns that are paired where there are very many.
STARTS = 8
MAX_PAIRED = 80
MAX_ROUNDS = 12
# Log-likelihood that rounder numbers in a rule may cost.
ROUNDING_COST = 0.5


@dataclass(frozen=True, eq=False)
class Found:
    """A rule as chosen cells per column (by position), and what it earned."""

    score: float
    masks: dict[int, CellMask]


@dataclass(frozen=True, eq=False)
class Counts:
    """What rules hold: events, events expected, and as many as equally many rows usually hold."""

    events: FloatArray
    expected: FloatArray
    usual: FloatArray

    def map(self, change: Callable[[FloatArray], FloatArray]) -> Counts:
        """Return the counts after a linear change, such as adding up cells."""
        return Counts(change(self.events), change(self.expected), change(self.usual))


def likelihood_ratio(counts: Counts, total: float) -> FloatArray:
    """Return Kulldorff's statistic; 0 where there are no more events than expected and usual.

    Examples
    --------
    >>> counts = Counts(np.array([2.0, 8.0]), np.array([4.0, 4.0]), np.array([5.0, 5.0]))
    >>> likelihood_ratio(counts, 20.0).round(2)
    array([0.  , 2.09])
    """
    events, expected = counts.events, counts.expected
    ratio = np.zeros(np.shape(events))
    more = (events >= MIN_EVENTS) & (expected <= MAX_SHARE * total)
    more &= events > np.maximum(expected, counts.usual)
    c, e = events[more], np.maximum(expected[more], 1e-9)
    rest, rest_expected = total - c, np.maximum(total - e, 1e-9)
    ratio[more] = c * np.log(c / e) + rest * np.log(np.maximum(rest, 1e-300) / rest_expected)
    return ratio


def sums(codes: IntArray, values: FloatArray, cells: int) -> FloatArray:
    """Return the sum of the values in each cell."""
    return np.bincount(codes, values, minlength=cells).astype(np.float64, copy=False)


class Scan:
    """A search among fixed rows; `expected` says how many events each row is expected to be.

    `events` are confident errors, or what these stand for.
    """

    def __init__(
        self, columns: list[Column], events: BoolArray | FloatArray, expected: FloatArray
    ) -> None:
        self.columns = columns
        self.events = events.astype(np.float64)
        self.expected = expected
        self.total = float(self.events.sum())
        self.usual = np.full(len(events), self.total / len(events))
        self._extensions: dict[tuple[tuple[int, bytes], ...], Found] = {}

    def best(self) -> Found | None:
        """Return the best rule, or None if none earns its cost."""
        starts = sorted(self._starts(), key=lambda found: -found.score)[:STARTS]
        refined = [self._refined(start) for start in starts]
        best = max(refined, key=lambda found: found.score, default=None)
        return best if best is not None and best.score > 0 else None

    def _starts(self) -> Iterator[Found]:
        """Yield the best rule on each column and on each pair, over coarse cells."""
        singles = [self._best_choice(k, np.ones(len(self.events), bool)) for k in self._all()]
        for k, (score, mask) in zip(self._all(), singles, strict=True):
            if mask is not None:
                yield Found(score, {k: mask})
        promising = np.argsort([-score for score, _ in singles], kind="stable")[:MAX_PAIRED]
        families = {k: self._family(self.columns[k]) for k in map(int, promising)}
        hit = np.flatnonzero(self.events)
        for i, j in combinations(sorted(families), 2):
            found = self._best_pair(i, j, families, hit)
            if found is not None:
                yield found

    def _all(self) -> range:
        return range(len(self.columns))

    def _family(self, column: Column) -> Family:
        codes = column.coarse[column.codes]
        cells = int(column.coarse.max()) + 1
        if column.edges is None:
            masks = _category_choices(column, self._counts(codes, cells))
        else:
            masks = _intervals(cells - (column.gap is not None), cells)
        return Family(codes, masks, _costs(column, masks))

    def _best_pair(
        self, i: int, j: int, families: dict[int, Family], hit: IntArray
    ) -> Found | None:
        one, two = families[i], families[j]
        shape = one.masks.shape[1], two.masks.shape[1]
        cell, size = one.codes * shape[1] + two.codes, shape[0] * shape[1]
        counts = Counts(
            np.bincount(cell[hit], minlength=size).astype(np.float64),
            sums(cell, self.expected, size),
            sums(cell, self.usual, size),
        )
        left, right = one.masks.astype(np.float64), two.masks.T.astype(np.float64)
        held = counts.map(lambda cells: left @ cells.reshape(shape) @ right)
        score = likelihood_ratio(held, self.total)
        score -= one.costs[:, None] + two.costs[None, :]
        a, b = np.unravel_index(int(score.argmax()), score.shape)
        if score[a, b] <= 0:
            return None
        masks = {i: one.masks[a][self.columns[i].coarse], j: two.masks[b][self.columns[j].coarse]}
        return Found(float(score[a, b]), masks)

    def _best_choice(self, k: int, inside: BoolArray) -> tuple[float, CellMask | None]:
        """Return the best condition on one column among the rows inside all other conditions."""
        column = self.columns[k]
        counts = self._counts(column.codes, column.n_cells, inside)
        if column.edges is None:
            masks = _category_choices(column, counts)
            within = masks.astype(np.float64)
            score = likelihood_ratio(counts.map(lambda cells: within @ cells), self.total)
            score -= _costs(column, masks)
            best = int(score.argmax())
            return float(score[best]), masks[best]
        return self._best_interval(column, counts)

    def _counts(self, codes: IntArray, cells: int, inside: BoolArray | None = None) -> Counts:
        rows = slice(None) if inside is None else inside
        codes = codes[rows]
        return Counts(
            sums(codes, self.events[rows], cells),
            sums(codes, self.expected[rows], cells),
            sums(codes, self.usual[rows], cells),
        )

    def _best_interval(self, column: Column, counts: Counts) -> tuple[float, CellMask | None]:
        m = column.ordered
        first, last, costs = _ranges(m)

        def between(cells: FloatArray) -> FloatArray:
            upto = np.concatenate([[0.0], np.cumsum(cells[:m])])
            return np.asarray(upto[last + 1] - upto[first])

        score = likelihood_ratio(counts.map(between), self.total)
        score -= costs
        if column.gap is None:
            score[(first == 0) & (last == m - 1)] = -np.inf
        best = int(score.argmax())
        mask = np.zeros(column.n_cells, dtype=bool)
        mask[first[best] : last[best] + 1] = True
        if column.gap is None:
            return float(score[best]), mask
        gap = likelihood_ratio(counts.map(lambda cells: cells[-1:]), self.total)[0] - COLUMN_COST
        if gap <= score[best]:
            return float(score[best]), mask
        mask[:] = False
        mask[column.gap] = True
        return float(gap), mask

    def _refined(self, start: Found) -> Found:
        """Return the rule after the best changes of one condition at a time."""
        masks, score = dict(start.masks), self._score(start.masks)
        for _ in range(MAX_ROUNDS):
            before = score
            for k in list(masks):
                others = {other: mask for other, mask in masks.items() if other != k}
                cost = sum(self._cost(other, mask) for other, mask in others.items())
                without = self._score(others) if others else -np.inf
                changed, mask = self._best_choice(k, self._inside(others))
                if without >= max(score, changed - cost):
                    masks, score = others, without
                elif mask is not None and changed - cost > score:
                    masks, score = {**masks, k: mask}, changed - cost
            if len(masks) < MAX_CONDITIONS:
                masks, score = self._extended(masks, score)
            if score <= before + 1e-9:
                break
        return Found(score, masks)

    def _extended(
        self, masks: dict[int, CellMask], score: float
    ) -> tuple[dict[int, CellMask], float]:
        # Starts often meet at the same rule; with many columns, to extend it is most of the work.
        key = tuple((k, mask.tobytes()) for k, mask in masks.items())
        if key not in self._extensions:
            self._extensions[key] = self._best_extension(masks)
        longer = self._extensions[key]
        return (longer.masks, longer.score) if longer.score > score else (masks, score)

    def _best_extension(self, masks: dict[int, CellMask]) -> Found:
        cost = sum(self._cost(k, mask) for k, mask in masks.items())
        inside, best = self._inside(masks), Found(-np.inf, masks)
        for k in self._all():
            if k in masks:
                continue
            earned, mask = self._best_choice(k, inside)
            if mask is not None and earned - cost > best.score:
                best = Found(earned - cost, {**masks, k: mask})
        return best

    def _inside(self, masks: dict[int, CellMask]) -> BoolArray:
        inside = np.ones(len(self.events), dtype=bool)
        for k, mask in masks.items():
            inside &= mask[self.columns[k].codes]
        return inside

    def _score(self, masks: dict[int, CellMask]) -> float:
        ratio = _held(self._inside(masks), self.events, self.expected)
        return ratio - sum(self._cost(k, mask) for k, mask in masks.items())

    def _cost(self, k: int, mask: CellMask) -> float:
        return float(_costs(self.columns[k], mask[None, :])[0])


@dataclass(frozen=True, eq=False)
class Family:
    """The conditions tried on a column over coarse cells."""

    codes: IntArray
    masks: BoolArray
    costs: FloatArray


def rounded(
    conditions: tuple[Condition, ...],
    frame: pd.DataFrame,
    events: BoolArray | FloatArray,
    expected: FloatArray,
) -> tuple[Condition, ...]:
    """Return a rule with rounder bounds, as round as its score hardly changes."""

    def score(rule: Sequence[Condition]) -> float:
        return _held(members(rule, frame), events.astype(np.float64), expected)

    least = score(conditions) - ROUNDING_COST
    rule = list(conditions)
    for k in range(len(rule)):
        for _ in ("low", "high"):
            for rounder_one in rounder(rule[k]):
                if score([*rule[:k], rounder_one, *rule[k + 1 :]]) >= least:
                    rule[k] = rounder_one
                    break
    return tuple(rule)


def _held(inside: BoolArray, events: FloatArray, expected: FloatArray) -> float:
    """Return the statistic of one set of rows."""
    usual = np.array([inside.mean() * events.sum()])
    counts = Counts(np.array([events[inside].sum()]), np.array([expected[inside].sum()]), usual)
    return float(likelihood_ratio(counts, float(events.sum()))[0])


@cache
def _ranges(cells: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the first and last cell of every range of ordered cells, and what it costs."""
    first, last = np.triu_indices(cells)
    bounds = (first > 0).astype(float) + (last < cells - 1)
    return first, last, COLUMN_COST + BOUND_COST * bounds


def _intervals(ordered: int, cells: int) -> BoolArray:
    first, last = np.triu_indices(ordered)
    at = np.arange(cells)
    masks = (at >= first[:, None]) & (at <= last[:, None])
    if cells > ordered:
        return np.vstack([masks, at == cells - 1])
    return masks[~masks.all(axis=1)] if ordered > 1 else masks


def _category_choices(column: Column, counts: Counts) -> BoolArray:
    """Return each category alone, and the worst 1, 2, 3 ... of them: the best set is among these.

    Sets that would need more than a few names are left out.
    """
    cells = column.n_cells
    worst = np.argsort(-(counts.events + 1e-3) / (counts.expected + 1e-2), kind="stable")
    place = np.empty(cells, dtype=np.intp)
    place[worst] = np.arange(cells)
    sets = place < np.arange(1, cells)[:, None]
    masks = np.vstack([np.eye(cells, dtype=bool), sets])
    # The cell of rare categories has no name: a set with it is told by what it leaves out.
    nameless = cells > len(column.levels)
    named = masks.sum(axis=1)
    if nameless:
        named = np.where(masks[:, -1], cells - named, named)
    else:
        named = np.minimum(named, cells - named)
    return masks[(named >= 1) & (named <= MAX_NAMED)]


def _costs(column: Column, masks: BoolArray) -> FloatArray:
    if column.edges is None:
        n, k = masks.shape[1], masks.sum(axis=1)
        ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        return np.asarray(COLUMN_COST + np.minimum(ways, BOUND_COST * np.minimum(k, n - k)))
    ordered = masks.shape[1] - (column.gap is not None)
    bounds = 2.0 - masks[:, 0] - masks[:, ordered - 1]
    alone = masks[:, -1] & (column.gap is not None)
    return np.asarray(COLUMN_COST + BOUND_COST * np.where(alone, 0.0, bounds))
