"""Gains pooled over four overlapping test splits, with fixed rankers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module

import numpy as np
from benchmarks.claims.common import Measured, rate, simulated

from falcon_discover import metrics

AREA = "pooled"
DRAWS = 1_000
ROWS = 4000
SPLITS = 4
CASES = {5: "5 events a split", 20: "20 events a split", 100: "100 events a split"}


def measure(share: float) -> Iterator[Measured]:
    """Yield the coverage of the pooled gains in AUROC and in Capture@20."""
    draws = round(share * DRAWS)
    for events, words in CASES.items():
        outcomes = simulated(lambda seed, e=events: covered(seed, e), draws)
        # With five events a split captures go in steps of a fifth: no claim is made.
        for place, figure in enumerate(("AUROC", "Capture@20")[: 2 if events > 5 else 1]):
            yield rate(
                AREA,
                f"gain in {figure} over four splits, {words}: interval contains it",
                [outcome[place] for outcome in outcomes],
                at_least=0.94 if events > 5 else 0.92,
            )


def covered(seed: int, events: int) -> tuple[bool, bool]:
    """Draw a data set and four test splits of a fifth, and look for the true gains inside."""
    rng = np.random.default_rng(seed)
    event, score, other = world(rng, ROWS, events)
    drawn = [np.sort(rng.choice(ROWS, ROWS // 5, replace=False)) for _ in range(SPLITS)]
    splits = [(rows, event[rows], score[rows], other[rows]) for rows in drawn if event[rows].any()]
    return tuple(
        bool(low <= true <= high)
        for (low, high), true in zip(intervals(splits), truth(events), strict=True)
    )


def world(rng: np.random.Generator, n: int, events: int) -> tuple[np.ndarray, ...]:
    """Draw rows with two rankers, one of which knows a little more."""
    event = rng.random(n) < 5 * events / ROWS
    other = rng.normal(size=n) + 1.2 * event
    return event, other + 0.5 * rng.normal(size=n) + 0.4 * event, other


@lru_cache
def truth(events: int) -> tuple[float, float]:
    """Return the gains in a population of two million rows."""
    event, *scores = world(np.random.default_rng(0), 2_000_000, events)
    area = [metrics.fc_auroc(event, score) for score in scores]
    capture = [metrics.capture_at(event, score, 0.2) for score in scores]
    return area[0] - area[1], capture[0] - capture[1]


def intervals(splits: list[tuple[np.ndarray, ...]]) -> list[tuple[float, float]]:
    """Return the intervals of both gains, also as the first release made them."""
    try:
        from falcon_discover.bench.pooling import (
            Split,
            auroc_gain,
            capture_gains,
            capture_interval,
        )
    except ImportError:
        return _seed_by_seed(splits)
    known = [Split(*split) for split in splits]
    gains = [
        metrics.capture_at(s.events, s.score, 0.2) - metrics.capture_at(s.events, s.other, 0.2)
        for s in known
    ]
    _, low, high = auroc_gain(known)
    return [
        (low, high),
        capture_interval(float(np.mean(gains)), capture_gains(known), known),
    ]


def _seed_by_seed(splits: list[tuple[np.ndarray, ...]]) -> list[tuple[float, float]]:
    # The release before has these names; this one has not.
    study = import_module("falcon_discover.bench.ranker_study")
    chance = import_module("falcon_discover.bench.tables.chance")

    found = []
    counts = np.array([event.sum() for _, event, *_ in splits], dtype=float)
    for resample, weights in (
        (chance.auroc_resamples, counts),
        (chance.capture_resamples, np.ones_like(counts)),
    ):
        drawn = [
            resample(event, scores, resamples=300, seed=i)
            for i, (_, event, *scores) in enumerate(splits)
        ]
        found.append(study._interval(np.array([d[:, 0] - d[:, 1] for d in drawn]), weights))
    return found
