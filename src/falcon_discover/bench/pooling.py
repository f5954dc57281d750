"""Gains pooled over seeds whose test splits share rows.

The test splits of one data set overlap, so their gains are not independent. What a row of the
data set adds to the pooled gain is summed over all splits that hold it, and a resample draws each
row once for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import t

from falcon_discover.metrics import review_size
from falcon_discover.metrics.intervals import placements
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.settings import PAPER

# Resamples that are held at once.
CHUNK = 50


@dataclass(frozen=True, eq=False)
class Split:
    """Test rows of one seed: which of the data set's rows they are, and two rankers' scores."""

    rows: npt.NDArray[np.int64]
    events: BoolArray
    score: FloatArray
    other: FloatArray

    def take(self, kept: BoolArray) -> Split:
        """Return some of the rows."""
        return Split(self.rows[kept], self.events[kept], self.score[kept], self.other[kept])


def auroc_gain(splits: Sequence[Split]) -> tuple[float, float, float]:
    """Return the gain in AUROC, averaged with the events as weights, and its 95% interval.

    The variance is DeLong's, with what a row adds summed over the splits that hold it; the
    quantile is Student's, for as many rows as `event_rows` counts. NaN where no split has
    events and other rows, or where there is hardly more than one event in all.
    """
    splits = [s for s in splits if s.events.any() and not s.events.all()]
    if not splits:
        return math.nan, math.nan, math.nan
    _, places = _places(splits)
    lifted = [_lifted(split) for split in splits]
    total = sum(len(above) for above, _ in lifted)
    gain = sum(float(above.sum()) for above, _ in lifted) / total
    added = np.zeros(1 + max(int(place.max()) for place in places))
    for split, place, (above, below) in zip(splits, places, lifted, strict=True):
        added[place[split.events]] += above - gain
        added[place[~split.events]] += (below - gain) * len(above) / len(below)
    spread = math.sqrt(float((added**2).sum())) / total
    return _interval(gain, spread, event_rows(splits))


def _lifted(split: Split) -> tuple[FloatArray, FloatArray]:
    """Return how much better events and other rows are placed than by the other ranker."""
    above, below = placements(split.events, split.score)
    other_above, other_below = placements(split.events, split.other)
    return above - other_above, below - other_below


def capture_gains(
    splits: Sequence[Split],
    *,
    resamples: int = PAPER.bootstrap_resamples,
    budget: float = PAPER.main_budget,
    seed: int = 0,
) -> FloatArray:
    """Return the gain in Capture@budget, averaged over the splits, on resampled rows.

    A resample draws rows of the data set with replacement; each split takes those it holds, as
    often as they were drawn. Splits without an event in a resample are left out of its mean, and
    resamples without any are left out.
    """
    if not splits:
        return np.empty(0)
    size, places = _places(splits)
    rng = np.random.default_rng(seed)
    gains = []
    for start in range(0, resamples, CHUNK):
        drawn = np.array(
            [
                np.bincount(rng.integers(0, size, size), minlength=size)
                for _ in range(min(CHUNK, resamples - start))
            ]
        )
        of_splits = [
            _captures(drawn[:, place], split.events, split.score, budget)
            - _captures(drawn[:, place], split.events, split.other, budget)
            for split, place in zip(splits, places, strict=True)
        ]
        known = np.isfinite(of_splits)
        some = known.any(axis=0)
        gains.append(np.where(known, of_splits, 0.0).sum(axis=0)[some] / known.sum(axis=0)[some])
    return np.concatenate(gains)


def capture_interval(
    gain: float, resampled: FloatArray, splits: Sequence[Split]
) -> tuple[float, float]:
    """Return the 95% interval of a pooled gain in capture, from its resamples.

    Quantiles of the resamples are too short with few events; Student's quantile of as many rows
    as `event_rows` counts, times the resamples' spread, is not.
    """
    spread = float(resampled.std()) if len(resampled) else math.nan
    _, low, high = _interval(gain, spread, event_rows(splits))
    return low, high


def event_rows(splits: Sequence[Split]) -> float:
    """Return how many rows that are an event in one split each would weigh as much as these.

    Examples
    --------
    >>> split = Split(np.arange(3), np.array([True, True, False]), np.arange(3.0), np.arange(3.0))
    >>> event_rows([split]), event_rows([split, split])
    (2.0, 2.0)
    """
    rows = np.concatenate([np.empty(0), *(s.rows[s.events] for s in splits)])
    held = np.unique(rows, return_counts=True)[1]
    return float(held.sum() ** 2 / (held**2).sum()) if len(held) else 0.0


def _interval(gain: float, spread: float, events: float) -> tuple[float, float, float]:
    if events < 2:
        return gain, math.nan, math.nan
    quantile = float(t.ppf((1 + PAPER.interval_level) / 2, events - 1))
    reach = quantile * math.sqrt(events / (events - 1)) * spread
    return gain, max(-1.0, gain - reach), min(1.0, gain + reach)


def _places(splits: Sequence[Split]) -> tuple[int, list[IntArray]]:
    """Return how many rows the splits hold together, and the place of each split's rows there."""
    together, places = np.unique(np.concatenate([s.rows for s in splits]), return_inverse=True)
    ends = np.cumsum([len(s.rows) for s in splits])[:-1]
    return len(together), np.split(places.ravel(), ends)


def _captures(
    drawn: npt.NDArray[np.int64], events: BoolArray, score: FloatArray, budget: float
) -> FloatArray:
    """Return the capture of each resample, expected over a random order of equal scores.

    `drawn` says how often each row was drawn: resamples x rows.
    """
    order = np.argsort(-score, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(score[order]) != 0))
    counts = np.add.reduceat(drawn[:, order], starts, axis=1)
    hits = np.add.reduceat((drawn * events)[:, order], starts, axis=1)
    rows = np.cumsum(counts, axis=1)
    size = np.array([review_size(int(n), budget) for n in rows[:, -1]])
    reviewed = np.clip(size[:, None] - (rows - counts), 0, counts)
    found = (hits * reviewed / np.maximum(counts, 1)).sum(axis=1)
    total = hits.sum(axis=1)
    return np.where(total > 0, found / np.maximum(total, 1), np.nan)
