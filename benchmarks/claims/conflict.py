"""The best slice of the conflict grid, in worlds where no slice differs from its confidence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from benchmarks.claims.common import Measured, rate, simulated
from scipy.special import expit

from falcon_discover.regions.conflict import Slice, best_slice, conflict_grid

AREA = "conflict"
DRAWS = 1_000
# A thousand draws left it open whether fewer rows keep the level.
FEW_ROWS = 2_000
TAU = 0.9


def measure(share: float) -> Iterator[Measured]:
    """Yield how often a best slice is told to be worse than it is, and that a true one is found."""
    draws = round(share * DRAWS)
    for n in (FEW_ROWS, 5_000, 10_000):
        yield rate(
            AREA,
            f"errors spread evenly over {n:,} rows: the best slice is shown as worse",
            simulated(lambda seed, n=n: evenly(seed, n), draws * (3 if n == FEW_ROWS else 1)),
            at_most=0.05,
        )
    yield rate(
        AREA,
        "errors of a model permuted among its confident rows: the best slice is shown as worse",
        simulated(permuted, draws),
        at_most=0.05,
    )
    yield rate(
        AREA,
        "a model that is wrong as often as it says: the best slice is shown as worse",
        simulated(calibrated, draws),
        at_most=0.05,
    )
    yield rate(
        AREA,
        "a planted conflict, three times the rate at the same confidence: it is shown",
        simulated(planted, draws),
        at_least=0.8,
    )


def shown(signals: dict[str, np.ndarray], events: np.ndarray, confidence: np.ndarray) -> bool:
    """Return whether the best slice is said to hold more events than chance brings."""
    best = best_slice(list(conflict_grid(signals, events, confidence, TAU)))
    return best is not None and bound(best) > 0


def bound(best: Slice) -> float:
    """Return the lower bound that decides, also of the first release."""
    return getattr(best, "excess_low", best.low)


def evenly(seed: int, n: int) -> bool:
    """Signals and confidence that have nothing to do with each other or with the errors."""
    rng = np.random.default_rng(seed)
    signals = {
        "support": rng.random(n),
        "label_agreement": rng.integers(13, 26, n) / 25,
        "mean_drift": rng.random(n),
        "label_consistency": rng.integers(12, 19, n) / 18,
    }
    confidence = rng.uniform(0.8, 1.0, n)
    return shown(signals, (rng.random(n) < 0.03) & (confidence >= TAU), confidence)


def model(rng: np.random.Generator, n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Draw signals as models have them: evidence weak and scores unstable where doubt is."""
    doubt = rng.normal(size=n)
    confidence = expit(3.5 - 1.2 * doubt + 0.2 * rng.normal(size=n))
    drift = (1 - confidence) * np.exp(0.8 * rng.normal(size=n))
    flips = np.where(drift > np.quantile(drift, 0.95), rng.integers(1, 7, n), 0)
    agreement = np.clip(np.round(25 * expit(2.5 - doubt + 0.5 * rng.normal(size=n))), 13, 25)
    return {
        "support": expit(1 - 0.5 * doubt + rng.normal(size=n)),
        "label_agreement": agreement / 25,
        "mean_drift": drift,
        "label_consistency": 1 - flips / 18,
    }, confidence


def calibrated(seed: int) -> bool:
    """Draw each row's error from the model's own confidence."""
    rng = np.random.default_rng(seed)
    signals, confidence = model(rng, 5_000)
    wrong = rng.random(5_000) < 1 - confidence
    return shown(signals, wrong & (confidence >= TAU), confidence)


def permuted(seed: int) -> bool:
    """Deal the errors out again among the confident rows."""
    rng = np.random.default_rng(seed)
    signals, confidence = model(rng, 5_000)
    sure = np.flatnonzero(confidence >= TAU)
    events = np.zeros(5_000, dtype=bool)
    events[sure] = rng.permutation(rng.random(len(sure)) < 1 - confidence[sure])
    return shown(signals, events, confidence)


def planted(seed: int) -> bool:
    """Triple the rate where support is weak and drift is strong, whatever the confidence."""
    rng = np.random.default_rng(seed)
    signals, confidence = model(rng, 5_000)
    sure = confidence >= TAU
    weak = signals["support"] <= np.quantile(signals["support"][sure], 0.3)
    shaky = signals["mean_drift"] >= np.quantile(signals["mean_drift"][sure], 0.6)
    wrong = rng.random(5_000) < (1 - confidence) * np.where(weak & shaky, 3, 1)
    return shown(signals, wrong & sure, confidence)
