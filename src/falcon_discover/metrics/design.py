"""How rows were drawn, as far as figures depend on it: groups and weights.

A weighted row counts as so many rows in every figure. How sure a figure is depends on the rows
there are, and where rows come in groups, on the groups: the variance of a share is that of the
sums over groups (a linearised ratio). The interval is the exact one of as many independent rows
as would have that variance (Korn and Graubard, 1998); its far end allows for one more event of the
size that events come in (as Fay and Feuer, 1997, do for weighted counts), since few events say
little about their own variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv
from scipy.stats import t as student

from falcon_discover.metrics.intervals import Interval, share_interval
from falcon_discover.metrics.ordering import whole
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.settings import PAPER


@dataclass(frozen=True, eq=False)
class Design:
    """How many rows each row stands for, and which rows depend on each other.

    Attributes
    ----------
    weight : of each row; 1 where all count alike
    unit : the number of what was drawn independently: the row's group, or the row itself
    weighted, grouped : whether rows differ in weight, and whether they come in groups
    """

    weight: FloatArray
    unit: IntArray
    weighted: bool
    grouped: bool

    @classmethod
    def of(cls, n: int, weight: FloatArray | None, group: IntArray | None) -> Design | None:
        """Return the design of rows; None where all are independent and count alike."""
        if weight is None and group is None:
            return None
        return cls(
            np.ones(n) if weight is None else weight,
            np.arange(n) if group is None else group,
            weight is not None,
            group is not None,
        )

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, rows: IntArray | BoolArray) -> Design:
        """Return the design of some of the rows."""
        return Design(self.weight[rows], self.unit[rows], self.weighted, self.grouped)

    @property
    def units(self) -> int:
        """How many groups, or else rows, there are."""
        return len(np.unique(self.unit))

    def total(self, values: BoolArray | FloatArray | None = None) -> float:
        """Return the weighted sum of values, or of the rows; a whole one as an int.

        Examples
        --------
        >>> design = Design.of(3, np.array([1.0, 2.0, 4.0]), None)
        >>> design.total(), design.total(np.array([True, False, True]))
        (7, 5)
        """
        return whole(float(self.weight.sum() if values is None else self.weight @ values))

    def by_unit(self, values: FloatArray) -> FloatArray:
        """Return the weighted sums of values over groups."""
        return summed(self.unit, self.weight * values)

    def mean(self, values: npt.ArrayLike) -> float:
        """Return the weighted mean; NaN where nothing counts."""
        total = float(self.weight.sum())
        return float(self.weight @ np.asarray(values)) / total if total else math.nan

    def share_interval(
        self, values: BoolArray | FloatArray, level: float = PAPER.interval_level
    ) -> Interval:
        """Return the interval of the weighted share of the rows that values, 0 to 1, count.

        Examples
        --------
        >>> ten = np.arange(1_000) // 10
        >>> low, high = Design.of(1_000, None, ten).share_interval(ten < 5)  # five of 100 groups
        >>> round(low, 3), round(high, 3)
        (0.016, 0.115)
        """
        known, total = np.asarray(values, dtype=np.float64), float(self.weight.sum())
        if not total:
            return math.nan, math.nan
        p = self.mean(known)
        if p > 0.5:
            low, high = self.share_interval(1.0 - known, level)
            return 1.0 - high, 1.0 - low
        tail = (1 + level) / 2
        units, rows = self.units, int((self.weight > 0).sum())
        variance = float((self.by_unit(known - p) ** 2).sum()) / total**2
        variance *= units / max(units - 1, 1)
        # The variance is itself estimated, from the groups.
        freedom = student.ppf(tail, max(rows - 1, 1)) / student.ppf(tail, max(units - 1, 1))
        more = self._one_more(known)
        next_p = (p * total + more) / (total + more)
        spread = variance + (more / (total + more)) ** 2
        n = next_p * (1 - next_p) / spread * freedom**2
        high = float(betaincinv(next_p * n, (1 - next_p) * n, tail))
        if p == 0.0:
            return 0.0, high
        # All groups alike speak for each row by itself; one group speaks for nothing.
        n = float(rows) if units > 1 else 1.0
        if variance > 0.0:
            n = min(n, p * (1 - p) / variance * freedom**2)
        return float(betaincinv(p * n, (1 - p) * n + 1, 1 - tail)), high

    def _one_more(self, values: FloatArray) -> float:
        """Return the weight of one more group of events; with few seen, rather a whole group."""
        counts, sizes = summed(self.unit, values), summed(self.unit, np.ones(len(self)))
        size = float((sizes**2).sum() / sizes.sum())
        events = float(((counts**2).sum() + size**2) / (counts.sum() + size))
        return events * float((self.weight**2).sum() / self.weight.sum())

    def design_effect(self, influence: FloatArray) -> float:
        """Return by how much the groups' sums vary more than independent rows; at least 1.

        Parameters
        ----------
        influence : what each row adds to a figure, weight aside, 0 on average
        """
        alone = float(((self.weight * influence) ** 2).sum())
        return max(1.0, float((self.by_unit(influence) ** 2).sum()) / alone) if alone else 1.0

    def words(self) -> str:
        """Return what figures rest on, in a sentence or two."""
        said = []
        if self.weighted:
            said.append(
                f"Rows count by weight: {len(self):,} rows stand for {self.total():,.6g}. "
                f"Intervals are based on the {len(self):,} rows."
            )
        if self.grouped:
            said.append(
                f"Rows come from {self.units:,} groups: intervals are cluster-robust and treat "
                "groups, not rows, as independent."
            )
        return " ".join(said)


def summed(unit: IntArray, values: FloatArray) -> FloatArray:
    """Return the sum of values over the rows of each unit."""
    _, place = np.unique(unit, return_inverse=True)
    return np.bincount(place, values).astype(np.float64)


def counted(design: Design | None, *marks: BoolArray) -> list[float]:
    """Return how many rows are marked, for each of some marks; of weighted rows, what they are."""
    if design is None:
        return [int(marked.sum()) for marked in marks]
    return [design.total(marked) for marked in marks]


def rate_interval(design: Design | None, hits: BoolArray, among: BoolArray) -> Interval:
    """Return the interval of the share of hits among marked rows; NaN where none is marked."""
    if design is None:
        return share_interval(int((hits & among).sum()), int(among.sum()))
    return design.take(among).share_interval(hits[among])


def kish(weight: FloatArray) -> float:
    """Return the weight of a row by which a sum of weights varies; 1 where there is no row.

    Examples
    --------
    >>> kish(np.array([1.0, 1.0, 4.0]))
    3.0
    """
    total = float(weight.sum())
    return float((weight**2).sum()) / total if total else 1.0
