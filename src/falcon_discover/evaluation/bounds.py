"""Upper bounds on the confident errors that a review leaves: of a rate, and of a batch.

A bound of a *rate* is about the population the rows come from, in the long run. A bound of a
*batch* is about a number of further rows of that population, whose own errors scatter around
the rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.stats import beta, binom, hypergeom

from falcon_discover.data.twins import Content
from falcon_discover.evaluation.betting import betting_bound
from falcon_discover.metrics import review_size
from falcon_discover.metrics.design import Design, summed
from falcon_discover.metrics.intervals import upper_bound
from falcon_discover.metrics.ordering import Found, Ranking, whole
from falcon_discover.metrics.ranking import review_weight
from falcon_discover.metrics.weighted import WeightedRanking
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.runtime.words import is_count
from falcon_discover.settings import PAPER

# Budgets of every curve: fine where reviews are planned, coarse beyond.
BUDGETS = tuple(
    round(step / 1000, 3) for step in (*range(5, 50, 5), *range(50, 300, 10), *range(300, 1001, 25))
)
# Where the simultaneous band is held; between these it follows, since a larger budget leaves no
# more. The whole needs no bound.
BAND = (0.0, *BUDGETS[:-1])
# Chances at which the fixed order of budgets is checked for a batch: fine where it matters.
CHANCES = np.concatenate([np.linspace(0.0, 0.2, 401), np.linspace(0.2, 1.0, 81)[1:]])


def fewest_rows(max_residual_rate: float, confidence_level: float) -> int:
    """Return how many rows without an event are needed for the bound to reach a rate.

    Examples
    --------
    >>> fewest_rows(0.01, 0.95)
    299
    """
    return math.ceil(math.log(1.0 - confidence_level) / math.log1p(-max_residual_rate))


@lru_cache(maxsize=4096)
def most_in_batch(
    count: int, n: int, batch: int, confidence_level: float = PAPER.interval_level
) -> int:
    """Return the upper prediction bound on the events among `batch` further rows.

    Given the events of both parts together, which of the rows hold them is drawn at random. The
    bound is the largest number that leaves as few as `count` in the first part, of `n` rows, with a
    chance above `1 - confidence_level`; whatever the rate, it is exceeded with at most that chance.

    Examples
    --------
    >>> most_in_batch(0, 300, 300), most_in_batch(10, 2_000, 1_000)
    (4, 11)
    """

    def plausible(further: int) -> bool:
        return bool(hypergeom.cdf(count, n + batch, count + further, n) > 1.0 - confidence_level)

    return _last(plausible, 0, batch)


@lru_cache(maxsize=64)
def safe_level(
    rows: tuple[tuple[int, int], ...],
    max_rate: float,
    confidence_level: float = PAPER.interval_level,
) -> float:
    """Return the confidence of each bound with which a fixed order of budgets holds for a batch.

    `rows` holds, for each budget in order, the labelled rows and those of the batch that it leaves.

    Whether a batch exceeds the rate is chance, so the usual argument for a fixed order does not
    apply: no budget is wrong for certain. But the batch is drawn independently of the rows that
    choose the budget. Let `g(j)` be the chance that the batch exceeds the rate at budget j, and
    `P(j, g)` the chance that budget j passes its own test if its chance is `g`, which falls with
    `g`. Budget j is reached only where it passes, so the chance that the batch exceeds the rate at
    the budget that is chosen is at most the sum of `P(j, g(j))` times the growth of the running
    maximum of `g`, and that is at most the integral over g of the largest `P(j, g)` of all budgets.
    For one budget this integral is a beta-binomial probability and equals the hypergeometric one in
    `most_in_batch`; over all budgets it is hardly larger. The level is raised until it is at most
    `1 - confidence_level`. The sum below is an upper one, so nothing is lost to the grid.

    Examples
    --------
    >>> level = safe_level(((2_000, 200), (2_500, 250)), 0.02)
    >>> 0.95 <= level < 0.96
    True
    """
    wanted = 1.0 - confidence_level
    error = wanted
    for _ in range(20):
        largest = np.zeros(len(CHANCES))
        for n, batch in rows:
            passed = _most_passing(n, batch, max_rate, 1.0 - error)
            if passed < 0:
                continue
            over = _allowed(batch, max_rate) + 1
            rates = beta.ppf(CHANCES, over, batch - over + 1)
            largest = np.maximum(largest, binom.cdf(passed, n, rates))
        chance = float((largest[:-1] * np.diff(CHANCES)).sum())
        if chance <= wanted:
            break
        error *= 0.99 * wanted / chance
    return 1.0 - error


def _allowed(batch: int, max_rate: float) -> int:
    """Return how many events a batch may hold at a rate."""
    return math.floor(round(batch * max_rate, 9))


def _most_passing(n: int, batch: int, max_rate: float, confidence_level: float) -> int:
    """Return the largest count whose prediction bound keeps to the rate; -1 where none does."""
    over = _allowed(batch, max_rate) + 1
    if not batch or over > batch:
        return -1

    def passes(count: int) -> bool:
        return bool(hypergeom.cdf(count, n + batch, count + over, n) <= 1.0 - confidence_level)

    return _last(passes, -1, n)


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the last number up to which something holds; it is taken to hold at `low`."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def as_share(budget: float, rows: int, design: Design | None) -> float:
    """Return a budget as a share of these rows or of the next ones, which is what bounds use."""
    if not is_count(budget):
        return budget
    if design is None:
        return review_size(rows, budget) / max(rows, 1)
    return review_weight(design.weight, budget) / design.total()


def unread(n: int, budget: float) -> int:
    """Return how many of n rows a budget leaves; a budget of 0 leaves all."""
    return n - review_size(n, budget) if budget else n


@dataclass(frozen=True)
class Left:
    """What a budget leaves unread: labelled rows and confident errors, and the bound on them.

    `upper` is of the rate among rows that are not reviewed, in the long run or in the batch, whose
    unread rows and bound on the errors among them are `batch_unreviewed` and `batch_missed`.
    """

    unreviewed: float
    missed: float
    upper: float
    batch_unreviewed: int | None = None
    batch_missed: int | None = None


@dataclass(frozen=True, eq=False)
class _Sample:
    """Labelled rows in review order."""

    events: BoolArray
    found: Found

    @classmethod
    def of(cls, events: BoolArray, ranking: Ranking) -> _Sample:
        return cls(events, ranking.found(events))

    def missed(self, budget: float) -> tuple[int, int]:
        """Return unread rows and confident errors among them.

        Rows that nothing tells apart count by the expected number, rounded up.
        """
        n = len(self.events)
        left = unread(n, budget)
        return left, math.ceil(int(self.events.sum()) - self.found.top(n - left))

    def bound(self, budget: float, at: float, confidence_level: float, batch: int | None) -> Left:
        """Return what a budget leaves, bounded by what the smaller budget `at` leaves."""
        left, missed = self.missed(budget)
        n, count = (left, missed) if at == budget else self.missed(at)
        if batch is None:
            upper = upper_bound(count, n, confidence_level)
            if at != budget:
                upper = min(1.0, upper * n / left) if left else 0.0
            return Left(left, missed, upper)
        later = unread(batch, budget)
        most = most_in_batch(count, n, unread(batch, at), confidence_level) if later else 0
        most = min(most, later)
        return Left(left, missed, most / later if later else 0.0, later, most)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Labelled rows in review order that have weights or come in groups.

    Attributes
    ----------
    events, design : of the rows, in review order
    largest : the most confident predictions that a group holds
    """

    events: BoolArray
    ranking: WeightedRanking
    design: Design
    largest: float

    @classmethod
    def of(
        cls, events: BoolArray, ranking: WeightedRanking, design: Design, eligible: BoolArray
    ) -> _Drawn:
        sizes = design.by_unit(eligible.astype(np.float64))
        order = ranking.order
        return cls(events[order], ranking, design.take(order), float(sizes.max(initial=0.0)))

    def parts(self, budget: float) -> FloatArray:
        """Return the weight of each row that is not reviewed."""
        if not budget:
            return self.ranking.weight
        size = review_weight(self.ranking.weight, budget)
        return self.ranking.weight * (1.0 - self.ranking.inside(size))

    def missed(self, budget: float) -> tuple[float, float]:
        """Return the weight of unread rows, and of the confident errors among them."""
        parts = self.parts(budget)
        return whole(float(parts.sum())), whole(float(parts @ self.events))

    def bound(self, budget: float, at: float, confidence_level: float, batch: int | None) -> Left:
        """Return what a budget leaves, bounded by what the smaller budget `at` leaves."""
        left, missed = self.missed(budget)
        parts = self.parts(at)
        upper = self._upper(parts, parts * self.events, confidence_level)
        if at != budget:
            upper = min(1.0, upper * float(parts.sum()) / left) if left else 0.0
        return Left(left, missed, upper)

    def best(self, budget: float, confidence_level: float) -> float:
        """Return the bound if no confident error were left."""
        parts = self.parts(budget)
        return self._upper(parts, np.zeros(len(parts)), confidence_level)

    def _upper(self, unread: FloatArray, missed: FloatArray, confidence_level: float) -> float:
        lost, left = (summed(self.design.unit, values) for values in (missed, unread))
        return betting_bound(lost, left, self.largest, confidence_level)


@dataclass(frozen=True, eq=False)
class Unread:
    """What review budgets leave of labelled rows: of all, and of one of each set of twins.

    The larger of the two bounds counts; see `falcon_discover.data.twins`.
    """

    samples: tuple[_Sample | _Drawn, ...]
    # Rows of different values, by which it is known without labels what can be shown at all.
    distinct: int
    twins: int

    @classmethod
    def of(
        cls,
        events: npt.ArrayLike,
        score: FloatArray,
        content: Content | None = None,
        design: Design | None = None,
        eligible: BoolArray | None = None,
    ) -> Unread:
        """Sort labelled rows for review; without their content all are taken to differ.

        Parameters
        ----------
        design : how the rows were drawn; None for independent rows that count alike
        eligible : which rows can be events; of use with a design
        """
        known = np.asarray(events, dtype=np.bool_)
        if design is not None:
            sure = np.ones(len(known), dtype=bool) if eligible is None else eligible
            return cls._drawn(known, score, content, design, sure)
        if content is None:
            return cls((_Sample.of(known, Ranking.of(score)),), len(known), 0)
        samples = [_Sample.of(known, Ranking.of(score, content.ties))]
        if content.twins:
            kept = content.one_of_each(score)
            ranking = Ranking.of(score[kept], content.ties[kept])
            samples.append(_Sample.of(known[kept], ranking))
        return cls(tuple(samples), content.distinct, content.twins)

    @classmethod
    def _drawn(
        cls,
        events: BoolArray,
        score: FloatArray,
        content: Content | None,
        design: Design,
        eligible: BoolArray,
    ) -> Unread:
        ties = None if content is None else content.ties
        ranking = WeightedRanking.of(score, design.weight, ties)
        samples = [_Drawn.of(events, ranking, design, eligible)]
        if content is None:
            return cls(tuple(samples), len(events), 0)
        if content.twins:
            kept = content.one_of_each(score)
            part = design.take(kept)
            ranking = WeightedRanking.of(score[kept], part.weight, content.ties[kept])
            samples.append(_Drawn.of(events[kept], ranking, part, eligible[kept]))
        return cls(tuple(samples), content.distinct, content.twins)

    def __len__(self) -> int:
        return len(self.samples[0].events)

    @property
    def largest(self) -> float:
        """The most confident predictions of a group, by which its bound goes."""
        return max(s.largest for s in self.samples if isinstance(s, _Drawn))

    def left(
        self,
        budget: float,
        confidence_level: float,
        *,
        batch: int | None = None,
        simultaneous: bool = False,
    ) -> Left:
        """Return what a budget leaves, with its bound: in the long run, or in a batch to come.

        `simultaneous` bounds of all budgets hold together.
        """
        at = budget
        if simultaneous:
            at = max(held for held in BAND if held <= budget)
            confidence_level = 1.0 - (1.0 - confidence_level) / len(BAND)
        bounds = [sample.bound(budget, at, confidence_level, batch) for sample in self.samples]
        worst = max(bounds, key=lambda left: left.upper)
        first = bounds[0]
        return Left(
            first.unreviewed, first.missed, worst.upper, first.batch_unreviewed, worst.batch_missed
        )

    def level(
        self, budgets: Sequence[float], max_rate: float, confidence_level: float, batch: int
    ) -> float:
        """Return the confidence of each bound with which the order of budgets holds."""
        return max(
            safe_level(
                tuple((unread(len(sample.events), b), unread(batch, b)) for b in budgets),
                max_rate,
                confidence_level,
            )
            for sample in self.samples
        )

    def best(self, budget: float, confidence_level: float, batch: int | None) -> float:
        """Return the bound if no confident error were left: what can be shown at all."""
        drawn = [s.best(budget, confidence_level) for s in self.samples if isinstance(s, _Drawn)]
        if drawn:
            return max(drawn)
        n = unread(self.distinct, budget)
        if batch is None:
            return upper_bound(0, n, confidence_level)
        later = unread(batch, budget)
        return most_in_batch(0, n, later, confidence_level) / later if later else 0.0
