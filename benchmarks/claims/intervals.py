"""AUROC with few events: how often the interval of one, and of a difference, holds the truth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from benchmarks.claims.common import Measured, rate, simulated
from scipy.stats import norm

from falcon_discover.metrics.intervals import auroc_difference, auroc_interval

AREA = "intervals"
DRAWS = 2000
EVENTS = (3, 5, 10, 20, 50, 200)
OTHERS = (50, 500, 5000)
PAIRS = ((0.75, 0.75), (0.85, 0.75), (0.95, 0.95), (0.95, 0.85), (0.99, 0.95))
WHOLE = np.arange(-14, 18)


def measure(share: float) -> Iterator[Measured]:
    """Yield the coverage of single and of paired intervals."""
    draws = round(share * DRAWS)
    for events in EVENTS:
        for area in (0.6, 0.75, 0.85, 0.95, 0.99):
            yield rate(
                AREA,
                f"AUROC {area}, {events} events: interval contains it",
                simulated(lambda seed, e=events, a=area: single(seed, e, a), draws),
                at_least=0.94,
            )
    for events in EVENTS:
        yield rate(
            AREA,
            f"AUROC 0.85, scores of about seven values, {events} events: interval contains it",
            simulated(lambda seed, e=events: single(seed, e, 0.85, tied=True), draws),
            at_least=0.94,
        )
    for events in EVENTS:
        for rho in (0.0, 0.5, 0.9, 0.99):
            yield rate(
                AREA,
                f"difference of AUROCs, correlation {rho}, {events} events: interval contains it",
                simulated(lambda seed, e=events, r=rho: paired(seed, e, r), draws),
                at_least=0.94,
            )


def single(seed: int, events: int, area: float, *, tied: bool = False) -> bool:
    """Draw normal scores, 50, 500 and 5,000 other rows in turn, and look for the truth inside."""
    rng = np.random.default_rng(seed)
    event = np.arange(events + OTHERS[seed % 3]) < events
    shift = np.sqrt(2) * norm.ppf(area)
    score = rng.normal(size=len(event)) + shift * event
    low, high = auroc_interval(event, np.round(score) if tied else score)
    return bool(low <= (rounded_area(shift) if tied else area) <= high)


def paired(seed: int, events: int, rho: float) -> bool:
    """Draw two correlated scores, in turn of equal and of unequal areas."""
    rng = np.random.default_rng(seed)
    event = np.arange(events + OTHERS[seed % 3]) < events
    areas = PAIRS[seed // 3 % len(PAIRS)]
    drawn = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=len(event))
    score = drawn + np.sqrt(2) * norm.ppf(areas) * event[:, None]
    _, low, high = auroc_difference(event, score[:, 0], score[:, 1])
    return bool(low <= areas[0] - areas[1] <= high)


def rounded_area(shift: float) -> float:
    """Return the true area of normal scores that are rounded to whole numbers."""
    event, other = (norm.cdf(WHOLE + 0.5 - s) - norm.cdf(WHOLE - 0.5 - s) for s in (shift, 0.0))
    return float((event * (np.cumsum(other) - other / 2)).sum())
