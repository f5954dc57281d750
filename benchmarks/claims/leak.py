"""No row judges itself: figures on the rows of the fit are those of rows it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from benchmarks.claims import worlds
from benchmarks.claims.common import Measured, mean, simulated
from scipy.special import expit

from falcon_discover import discover
from falcon_discover.metrics import fc_auroc, gated_confidence

AREA = "leak"
MARGIN = 0.002
NOMINAL = f"at most {MARGIN:g}"


def noise(seed: int, n: int) -> float:
    """Return the AUROC of `auto` on its own rows where nothing tells errors apart, less 0.5."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    p = expit(rng.normal(0, 3, n))
    y = rng.integers(0, 2, n)
    # From one half on every row is eligible, so that all of them tell of a leak.
    found = discover(X, y, p, tau=0.5, random_state=seed)
    return fc_auroc((p >= 0.5) != y, found.suspicion()) - 0.5


def gain(seed: int, n: int) -> tuple[float, float]:
    """Return the AUROC of `auto` on its own rows, and its gain over the gate, above the truth.

    The truth is what the same scores would get on average if the labels were drawn again.
    """
    X, y, truth = worlds.draw(seed, n)
    p = worlds.linear_scores(X)
    found = discover(X, y, p, random_state=seed)
    sure = np.maximum(p, 1 - p)
    eligible = sure >= 0.9
    wrong = ((p >= 0.5) != y)[eligible]
    chance = worlds.confident_error_rate(truth, p)[eligible]
    over = [
        fc_auroc(wrong, score[eligible]) - expected_auroc(chance, score[eligible])
        for score in (found.suspicion(), gated_confidence(sure))
    ]
    return over[0], over[0] - over[1]


def expected_auroc(chance: np.ndarray, score: np.ndarray) -> float:
    """Return the AUROC of scores where each row is an event with its own chance."""
    _, group = np.unique(score, return_inverse=True)
    events, others = np.bincount(group, chance), np.bincount(group, 1 - chance)
    below = np.cumsum(others) - others
    itself = (chance * (1 - chance)).sum()
    pairs = chance.sum() * (1 - chance).sum() - itself
    return float(((events * (below + 0.5 * others)).sum() - 0.5 * itself) / pairs)


def measure(share: float) -> Iterator[Measured]:
    """Yield the lines of this area."""
    line = partial(mean, AREA, nominal=NOMINAL, at_most=MARGIN)
    above = simulated(partial(noise, n=400), max(2, round(share * 400)))
    yield line("eligible AUROC of auto on its own 400 rows of noise, above 0.5", above)
    over = np.array(simulated(partial(gain, n=1_500), max(2, round(share * 100))))
    for column, what in enumerate(("eligible AUROC of auto", "gain of auto over gated confidence")):
        yield line(f"{what} on the rows of the fit, above its expectation", over[:, column])
