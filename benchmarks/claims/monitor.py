"""The monitor: intervals of the number of confident errors, and false alarms."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from benchmarks.claims import worlds
from benchmarks.claims.common import Measured, mean, rate, simulated
from benchmarks.claims.risk import Linear
from sklearn.frozen import FrozenEstimator

from falcon_discover import FalconDiscover

AREA = "monitor"
# Batches of one audit share its luck, so each audit meets one of each kind.
DRAWS, AUDITED, BATCH, COLUMNS = 1_000, 1_500, 500, 6


def later(seed: int, column: int | None) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return a batch, its labels and their chances; all rows, or the upper half by a column."""
    X, y, truth = worlds.draw(seed, BATCH if column is None else 2 * BATCH)
    if column is None:
        return X, y, truth
    chosen = np.argsort(X[f"x{column}"].to_numpy(), kind="stable")[-BATCH:]
    return X.iloc[chosen].reset_index(drop=True), y[chosen], truth[chosen]


def audit(seed: int) -> dict[str, dict[str, float]]:
    """Return whether the intervals miss and an alarm is false, after one audit."""
    X, y, _ = worlds.draw(seed, AUDITED)
    falcon = FalconDiscover(FrozenEstimator(Linear()), random_state=seed, n_jobs=1).fit(X, y)
    lines = {}
    # Which column shifts goes round from audit to audit.
    for kind, column in (("random", None), ("shifted", seed % COLUMNS)):
        new, labels, truth = later(10_000 + 2 * seed + (column is None), column)
        report = falcon.monitor(new)
        score = worlds.linear_scores(new)
        found = int(((np.maximum(score, 1 - score) >= 0.9) & ((score >= 0.5) != labels)).sum())
        due = float(worlds.confident_error_rate(truth, score).sum())
        lines[kind] = {
            "outside": not report.errors_low <= found <= report.errors_high,
            "ratio": report.errors / due,
            "more": report.alarm == "more_errors_expected",
            "unlike": report.alarm == "unlike_audited",
        }
    return lines


def measure(share: float) -> Iterator[Measured]:
    """Yield the lines of this area."""
    drawn = simulated(audit, max(2, round(share * DRAWS)))
    random, shifted = (
        pd.DataFrame([lines[kind] for lines in drawn]) for kind in ("random", "shifted")
    )
    at_most = partial(rate, AREA, at_most=0.05)
    yield at_most("random batches: errors outside the 95% interval", random["outside"])
    yield at_most(
        "batches shifted by a column: errors outside the 95% interval", shifted["outside"]
    )
    yield mean(
        AREA, "random batches: confident errors estimated per one due by the true chances",
        random["ratio"], nominal="within 0.05 of 1", within=0.05, of=1.0,
    )  # fmt: skip
    yield at_most("random batches: more_errors_expected", random["more"])
    yield at_most("random batches: unlike_audited", random["unlike"])
