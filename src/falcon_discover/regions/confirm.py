"""Whether a region holds more confident errors than rows of the same confidence do elsewhere.

Which rows find regions and which confirm them depends on the rows' values, not on their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from falcon_discover.data.twins import one_of_each, twin_sets
from falcon_discover.metrics import ordering
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray, UInt64Array

Against = Literal["confidence", "all"]

# Rows are compared within shares of equal size by confidence.
STRATA = 10


def strata(confidence: FloatArray) -> IntArray:
    """Return the tenth by confidence that each row is in; rows of equal confidence share one.

    Examples
    --------
    >>> strata(np.array([0.91, 0.99, 0.99, 0.95])).tolist()
    [0, 5, 5, 2]
    """
    below = np.searchsorted(np.sort(confidence), confidence, side="left")
    return np.asarray(below * STRATA // max(len(confidence), 1), dtype=np.intp)


STRATIFIERS: dict[Against, Callable[[FloatArray], IntArray]] = {
    "confidence": strata,
    "all": lambda confidence: np.zeros(len(confidence), dtype=np.intp),
}


def expected_events(events: BoolArray, stratum: IntArray) -> FloatArray:
    """Return the share of events in each row's stratum."""
    rows = np.bincount(stratum, minlength=STRATA)
    rate = np.bincount(stratum, events, minlength=STRATA) / np.maximum(rows, 1)
    return np.asarray(rate[stratum])


def excess_p_value(events: BoolArray, inside: BoolArray, stratum: IntArray) -> float:
    """Return the exact probability of so many events inside, if only confidence mattered.

    Within each stratum the events are then a random draw of its rows, so the number inside is
    hypergeometric; over the strata it is the convolution of these.

    Examples
    --------
    >>> events = np.array([True, True, False, False])
    >>> round(excess_p_value(events, events, np.zeros(4, dtype=int)), 4)
    0.1667
    """
    chances = np.ones(1)
    for s in np.unique(stratum):
        own = stratum == s
        hits, chosen = int(events[own].sum()), int(inside[own].sum())
        if hits and chosen:
            counts = np.arange(min(hits, chosen) + 1)
            chances = np.convolve(chances, hypergeom.pmf(counts, int(own.sum()), hits, chosen))
    observed = int((events & inside).sum())
    return float(min(1.0, chances[observed:].sum()))


def cautious_p_value(
    events: BoolArray,
    inside: BoolArray,
    confidence: FloatArray,
    twins: IntArray,
    against: Against = "confidence",
) -> float:
    """Return the larger p-value of an excess: on all rows, or on one of each set of twins."""
    stratify = STRATIFIERS[against]
    p = excess_p_value(events, inside, stratify(confidence))
    once = one_of_each(twins, confidence)
    if len(once) == len(twins):
        return p
    return max(p, excess_p_value(events[once], inside[once], stratify(confidence[once])))


def holm(p_values: FloatArray) -> FloatArray:
    """Return p-values adjusted for how many were tested (Holm, 1979).

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    stepped = np.asarray(p_values)[order] * (len(order) - np.arange(len(order)))
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return adjusted


def twins_of(frame: pd.DataFrame, events: BoolArray, eligible: BoolArray) -> IntArray:
    """Return the number of each row's set of twins.

    Of confident rows with the same values those with the same label are all errors, or none is.
    """
    return twin_sets(_hashes(frame), _kind(events, eligible))


def halves(frame: pd.DataFrame, events: BoolArray, eligible: BoolArray, seed: int) -> BoolArray:
    """Return two rows of marks, each of one random half; what is found on one the other confirms.

    Each half has half of the events and of the eligible rows. Rows of the same values and kind
    are in one half, and the order of rows and columns does not matter.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [1.0, 2.0, 1.0, 3.0, 4.0]})
    >>> events = np.zeros(5, dtype=bool)
    >>> first, second = halves(frame, events, ~events, seed=0)
    >>> bool(first[0] == first[2]), frame[first].nunique().item(), bool((first ^ second).all())
    (True, 2, True)
    """
    keys = ordering.scramble(_hashes(frame) + np.uint64(seed * ordering.STEP % 2**64))
    kind = _kind(events, eligible)
    first = np.zeros(len(frame), dtype=bool)
    for value in np.unique(kind):
        own = kind == value
        different = np.unique(keys[own])
        first[own] = keys[own] < different[len(different) // 2]
    return np.array([first, ~first])


def _kind(events: BoolArray, eligible: BoolArray) -> IntArray:
    return np.asarray(events & eligible, dtype=np.intp) + eligible


def _hashes(frame: pd.DataFrame) -> UInt64Array:
    by_name = sorted(range(frame.shape[1]), key=lambda i: str(frame.columns[i]))
    hashes = pd.util.hash_pandas_object(frame.iloc[:, by_name], index=False)
    return np.asarray(hashes, dtype=np.uint64)
