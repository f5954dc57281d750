"""Intervals of AUROC for weighted rows and for rows in groups.

DeLong's variance from the placements, summed over groups (Obuchowski, 1997), with a t quantile,
joined with Newcombe's interval for as many events and other rows as would be independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from scipy.stats import rankdata
from scipy.stats import t as student

from falcon_discover.metrics.design import Design, summed
from falcon_discover.metrics.intervals import (
    Interval,
    auroc_difference,
    auroc_interval,
    joined_reach,
    newcombe,
    rank_correlation,
)
from falcon_discover.metrics.weighted import share_below
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER


@dataclass(frozen=True, eq=False)
class Area:
    """A weighted AUROC, and what each row adds to it.

    Attributes
    ----------
    influence : of each row, weight included, 0 in sum
    """

    value: float
    influence: FloatArray

    @classmethod
    def of(cls, event: BoolArray, score: FloatArray, weight: FloatArray) -> Area:
        """Return the AUROC of rows among which events and others are."""
        own, other = weight[event], weight[~event]
        above = share_below(score[~event], other, score[event])
        below = 1.0 - share_below(score[event], own, score[~event])
        value = float(own @ above / own.sum())
        influence = np.empty(len(score))
        influence[event] = own * (above - value) / own.sum()
        influence[~event] = other * (below - value) / other.sum()
        return cls(value, influence)


def area_interval(
    events: npt.ArrayLike,
    score: npt.ArrayLike,
    design: Design | None,
    level: float = PAPER.interval_level,
) -> Interval:
    """Return the interval of an AUROC.

    With a design, of a weighted one; NaN with fewer than two groups of either kind.
    """
    if design is None:
        return auroc_interval(events, score, level)
    event, scores = np.asarray(events, dtype=bool), np.asarray(score, dtype=np.float64)
    sizes = _Sizes.of(event, design)
    if sizes is None:
        return math.nan, math.nan
    area = Area.of(event, scores, design.weight)
    low, high = newcombe(area.value, *sizes.effective(area.influence), level)
    spread = math.sqrt(sizes.variance(area.influence))
    if area.value in (0.0, 1.0) or spread == 0.0:
        return low, high
    reach = sizes.quantile(level) * spread / (area.value * (1 - area.value))
    return (
        min(low, float(expit(logit(area.value) - reach))),
        max(high, float(expit(logit(area.value) + reach))),
    )


def difference_interval(
    events: npt.ArrayLike,
    score: npt.ArrayLike,
    other: npt.ArrayLike,
    design: Design | None,
    level: float = PAPER.interval_level,
) -> tuple[float, float, float]:
    """Return the difference of two AUROCs on the same rows with its paired interval."""
    if design is None:
        return auroc_difference(events, score, other, level)
    event = np.asarray(events, dtype=bool)
    pair = [np.asarray(values, dtype=np.float64) for values in (score, other)]
    sizes = _Sizes.of(event, design)
    if sizes is None:
        return math.nan, math.nan, math.nan
    if (rankdata(pair[0]) == rankdata(pair[1])).all():
        return 0.0, 0.0, 0.0
    first, second = (Area.of(event, values, design.weight) for values in pair)
    gain = first.value - second.value
    reach = sizes.quantile(level) * math.sqrt(sizes.variance(first.influence - second.influence))
    correlation = rank_correlation(pair[0][~event], pair[1][~event])
    correlation *= max(0.0, 1 - 6 / min(sizes.events, sizes.others) ** 2)
    intervals = [newcombe(a.value, *sizes.effective(a.influence), level) for a in (first, second)]
    down, up = joined_reach([first.value, second.value], intervals, correlation)
    return gain, max(-1.0, gain - max(reach, down)), min(1.0, gain + max(reach, up))


@dataclass(frozen=True, eq=False)
class _Sizes:
    """How many groups hold events, and how many other rows."""

    event: BoolArray
    design: Design
    events: int
    others: int

    @classmethod
    def of(cls, event: BoolArray, design: Design) -> _Sizes | None:
        counted = design.weight > 0
        events, others = (len(np.unique(design.unit[counted & k])) for k in (event, ~event))
        return cls(event, design, events, others) if min(events, others) >= 2 else None

    def quantile(self, level: float) -> float:
        return float(student.ppf((1 + level) / 2, min(self.events, self.others) - 1))

    def variance(self, influence: FloatArray) -> float:
        few = np.where(self.event, self.events / (self.events - 1), self.others / (self.others - 1))
        return float((summed(self.design.unit, influence * np.sqrt(few)) ** 2).sum())

    def effective(self, influence: FloatArray) -> tuple[float, float]:
        """Return how many independent events and other rows tell as much."""
        alone = float((influence**2).sum())
        effect = float((summed(self.design.unit, influence) ** 2).sum()) / alone if alone else 1.0
        # Few groups of events say little about how alike events of one group are.
        counts = summed(self.design.unit, self.event.astype(np.float64))
        size = float((counts**2).sum() / counts.sum())
        effect = max(1.0, (self.events * effect + size) / (self.events + 1))
        found = []
        for kind in (self.event, ~self.event):
            weight = self.design.weight[kind]
            found.append(max(1.0, float(weight.sum() ** 2 / (weight**2).sum()) / effect))
        return found[0], found[1]
