"""What the simulations share: a claim with its measured rate, and how draws are spread."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import binomtest, t

WORKERS = 2


@dataclass(frozen=True)
class Measured:
    """One line of the table.

    Attributes
    ----------
    area : the module
    claim : what is measured, in words
    nominal : what it must be, in words ("at most 5%", "at least 94%", "within 0.002 of 0")
    value, low, high : what was measured, and its 95% interval
    draws : simulated data sets
    holds : whether the interval is compatible with what is claimed
    """

    area: str
    claim: str
    nominal: str
    value: float
    low: float
    high: float
    draws: int
    holds: bool


def rate(
    area: str,
    claim: str,
    outcomes: Iterable[bool],
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Measured:
    """Return a claim on how often something happens, such as a bound failing."""
    seen = np.asarray(list(outcomes), dtype=bool)
    interval = binomtest(int(seen.sum()), len(seen)).proportion_ci(method="exact")
    low, high = float(interval.low), float(interval.high)
    if at_most is not None:
        nominal, holds = f"at most {100 * at_most:g}%", low <= at_most
    else:
        assert at_least is not None
        nominal, holds = f"at least {100 * at_least:g}%", high >= at_least
    return Measured(area, claim, nominal, float(seen.mean()), low, high, len(seen), holds)


def mean(
    area: str,
    claim: str,
    values: Sequence[float],
    *,
    nominal: str,
    within: float = 0.0,
    of: float = 0.0,
    at_most: float | None = None,
) -> Measured:
    """Return a claim on a mean: its interval must reach within a margin of a value, or below one.

    Parameters
    ----------
    at_most : what it must not exceed, where a smaller mean does no harm
    """
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    error = known.std(ddof=1) / np.sqrt(len(known)) * t.ppf(0.975, len(known) - 1)
    middle = float(known.mean())
    holds = middle - error <= of + within and middle + error >= of - within
    if at_most is not None:
        holds = middle - error <= at_most
    return Measured(
        area,
        claim,
        nominal,
        middle,
        middle - float(error),
        middle + float(error),
        len(known),
        holds,
    )


def times(copies: int) -> str:
    """Return how often a row is there, in words."""
    return "twice" if copies == 2 else f"{copies} times"


def simulated(one: Callable[[int], Any], draws: int) -> list[Any]:
    """Return what `one(seed)` gives for each seed, over the cores."""

    def quiet(seed: int) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return one(seed)

    return Parallel(n_jobs=WORKERS)(delayed(quiet)(seed) for seed in range(draws))
