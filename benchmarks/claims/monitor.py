"""The monitor: intervals of the number of confident errors, and false alarms."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from benchmarks.claims import worlds
from benchmarks.claims.common import Measured, mean, simulated
from benchmarks.claims.risk import Linear
from sklearn.frozen import FrozenEstimator

from falcon_discover import FalconDiscover

AREA = "monitor"
AUDITED, BATCH, RANDOM, SHIFTED = 1_500, 500, 18, 6


def later(seed: int, column: int | None) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a batch: as audited, or the upper half by one column."""
    X, y, _ = worlds.draw(seed, BATCH if column is None else 2 * BATCH)
    if column is None:
        return X, y
    chosen = np.argsort(X[f"x{column}"].to_numpy(), kind="stable")[-BATCH:]
    return X.iloc[chosen].reset_index(drop=True), y[chosen]


def audit(seed: int) -> dict[str, float]:
    """Return how often the interval misses, and the alarm is false, after one audit."""
    X, y, _ = worlds.draw(seed, AUDITED)
    falcon = FalconDiscover(FrozenEstimator(Linear()), random_state=seed, n_jobs=1).fit(X, y)
    outside: dict[str, list[bool]] = {"random": [], "shifted": []}
    alarms, estimated, counted = [], 0.0, 0
    for number in range(RANDOM + SHIFTED):
        column = None if number < RANDOM else number - RANDOM
        new, labels = later(10_000 + 1_000 * seed + number, column)
        report = falcon.monitor(new)
        score = worlds.linear_scores(new)
        wrong = (np.maximum(score, 1 - score) >= 0.9) & ((score >= 0.5) != labels)
        found = int(wrong.sum())
        kind = "random" if column is None else "shifted"
        outside[kind].append(not report.errors_low <= found <= report.errors_high)
        if column is None:
            alarms.append(report.alarm)
            estimated, counted = estimated + report.errors, counted + found
    return {
        **{kind: float(np.mean(missed)) for kind, missed in outside.items()},
        "ratio": estimated / counted,
        "more": float(np.mean([alarm == "more_errors_expected" for alarm in alarms])),
        "unlike": float(np.mean([alarm == "unlike_audited" for alarm in alarms])),
    }


def measure(share: float) -> Iterator[Measured]:
    """Yield the lines of this area; batches of one audit are one draw."""
    frame = pd.DataFrame(simulated(audit, max(2, round(share * 60))))
    at_most = partial(mean, AREA, nominal="at most 5%", at_most=0.05)
    for kind, number in (("random", RANDOM), ("shifted", SHIFTED)):
        yield at_most(
            f"{number} {kind} batches an audit: errors outside the 95% interval", frame[kind]
        )
    yield mean(
        AREA, "random batches: confident errors estimated per one found", frame["ratio"],
        nominal="within 0.05 of 1", within=0.05, of=1.0,
    )  # fmt: skip
    yield at_most("random batches: more_errors_expected", frame["more"])
    yield at_most("random batches: unlike_audited", frame["unlike"])
