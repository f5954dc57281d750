"""What may be said of slices of which the worst is picked out.

Slices are compared with rows of the same confidence, and held against the worst slice of tables in
which the events of each confidence are dealt out at random.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm

from falcon_discover.metrics.design import Design, summed
from falcon_discover.metrics.intervals import wilson
from falcon_discover.regions.confirm import expected_events as by_stratum
from falcon_discover.regions.confirm import influence
from falcon_discover.regions.signs import signed_maxima
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.settings import PAPER

# Tables with events dealt out at random; one in a thousand is the least p-value there is.
DEALT = 999
# Rows are compared within strata of confidence: at most so many, of so many rows on average.
STRATA = 100
LEAST_STRATA = 10
ROWS_A_STRATUM = 50


def doubt_strata(confidence: FloatArray) -> IntArray:
    """Return the stratum of each row by confidence; each holds about the same sum of doubt.

    Strata of as many rows each would be wide where most events are, and evidence grows weaker
    with doubt within them.

    Examples
    --------
    >>> doubt_strata(np.array([0.9, 0.9, 0.95, 0.99, 0.999])).tolist()
    [0, 0, 7, 9, 9]
    """
    if not len(confidence):
        return np.empty(0, dtype=np.intp)
    count = min(STRATA, max(LEAST_STRATA, len(confidence) // ROWS_A_STRATUM))
    ordered = np.sort(confidence)
    doubt = np.append(0.0, np.cumsum(1.0 - ordered))
    before = doubt[np.searchsorted(ordered, confidence, side="left")]
    return np.minimum(before * count / max(doubt[-1], 1e-12), count - 1).astype(np.intp)


def _beyond_drawn(
    inside: BoolArray, events: BoolArray, stratum: IntArray, design: Design
) -> tuple[FloatArray, FloatArray]:
    """Return the same where rows have weights or come in groups."""
    parts = np.array(
        [
            summed(design.unit, design.weight * influence(events, held, stratum, design.weight))
            for held in inside
        ]
    )
    # The least spread is that of one event, of the largest weight that a group's events have.
    one = float(summed(design.unit, design.weight * events).max(initial=1.0))
    spread = np.sqrt(np.maximum((parts**2).sum(axis=1), one**2))
    excess = parts.sum(axis=1)
    worst = signed_maxima(parts / spread[:, None])
    p_value = (1 + (worst[:, None] >= excess / spread - 1e-9).sum(axis=0)) / (1 + len(worst))
    critical = float(np.quantile(worst, PAPER.interval_level, method="higher"))
    critical = max(critical, float(norm.ppf(PAPER.interval_level)))
    size = np.maximum(inside @ design.weight, 1e-12)
    return (excess - critical * spread) / size, p_value


def expected_events(
    inside: BoolArray, events: BoolArray, confidence: FloatArray, weight: FloatArray | None = None
) -> FloatArray:
    """Return the events that slices would hold by the rates of their rows' strata."""
    stratum = doubt_strata(confidence)
    if weight is not None:
        return inside @ (weight * by_stratum(events, stratum, weight))
    return np.asarray(_shares(inside, stratum) @ np.bincount(stratum, events, minlength=STRATA))


def beyond_confidence(
    inside: BoolArray, events: BoolArray, confidence: FloatArray, design: Design | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return by how much slices exceed rows of the same confidence at least, and p-values.

    Both hold for all slices together: the null is the largest standardised excess of any slice
    where events are dealt out at random among the rows of each stratum. Where rows have weights or
    come in groups, it is that of excesses with signs drawn at random for whole groups. `inside` is
    slices x rows.
    """
    stratum = doubt_strata(confidence)
    if design is not None:
        return _beyond_drawn(inside, events, stratum, design)
    rows = np.bincount(stratum, minlength=STRATA)
    hits = np.bincount(stratum, events, minlength=STRATA)
    share = _shares(inside, stratum)
    expected = share @ hits
    variance = (share * (1 - share)) @ (hits * (rows - hits) / np.maximum(rows - 1, 1))
    # A slice that expects next to nothing would exceed it a hundredfold with one event.
    spread = np.sqrt(np.maximum(variance, 1.0))
    found, size = (inside & events).sum(axis=1), np.maximum(inside.sum(axis=1), 1)
    excess = (found - expected) / spread
    worst = ((_dealt(inside, events, stratum) - expected) / spread).max(axis=1)
    p_value = (1 + (worst[:, None] >= excess - 1e-9).sum(axis=0)) / (1 + DEALT)
    critical = float(np.sort(worst)[math.ceil(PAPER.interval_level * (1 + DEALT)) - 1])
    # With a handful of events the worst takes few values, and its quantile says too little.
    critical = max(critical, float(norm.ppf(PAPER.interval_level)))
    rate = expected / size
    # As many rows as would give a binomial share the slice's spread: then the bound is above 0
    # where the excess is above its critical value, and only there.
    as_if = np.maximum(size * expected * (1 - rate) / spread**2, 1e-12)
    low = [wilson(share, n, critical)[0] for share, n in zip(found / size, as_if, strict=True)]
    return low - rate, p_value


def _shares(inside: BoolArray, stratum: IntArray) -> FloatArray:
    """Return the share of each stratum's rows that each slice holds."""
    rows = np.maximum(np.bincount(stratum, minlength=STRATA), 1)
    return np.array([np.bincount(stratum, held, minlength=STRATA) for held in inside]) / rows


def _dealt(inside: BoolArray, events: BoolArray, stratum: IntArray) -> FloatArray:
    """Return the events in each slice where they are dealt out at random within strata."""
    rng = np.random.default_rng(0)
    # Rows that are in the same slices are alike, so only their numbers are drawn. A sum of one
    # random number per slice tells them apart, faster than the slices themselves.
    marks = np.zeros(inside.shape[1], dtype=np.int64)
    for held, mark in zip(inside, rng.integers(2**56, size=len(inside)), strict=True):
        marks[held] += mark
    _, first, kind = np.unique(marks, return_index=True, return_inverse=True)
    patterns = inside[:, first].T.astype(np.float64)
    counts = np.zeros((DEALT, len(inside)))
    for h, hits in zip(*np.unique(stratum[events], return_counts=True), strict=True):
        rows = np.bincount(kind[stratum == h])
        drawn = rng.multivariate_hypergeometric(rows, int(hits), size=DEALT, method="count")
        counts += drawn.astype(np.float64) @ patterns[: len(rows)]
    return counts
