"""No row judges itself: figures on the rows of the fit are not better than on new rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.frozen import FrozenEstimator

from benchmarks.claims import worlds
from benchmarks.claims.common import Measured, mean, simulated
from falcon_discover import FalconDiscover, discover
from falcon_discover.metrics import fc_auroc, gated_confidence

AREA = "leak"
MARGIN = 0.002
POPULATION = 20_000


class Linear:
    """A fitted linear model, as somebody else might hand it in."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        """Do nothing: it is fitted."""
        return self

    def predict_proba(self, X):
        """Return both probabilities."""
        p = worlds.linear_scores(pd.DataFrame(X))
        return np.column_stack([1 - p, p])


def noise(seed: int, n: int) -> float:
    """Return the AUROC of `auto` on its own rows where nothing tells errors apart, less .5."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    p = expit(rng.normal(0, 3, n))
    y = rng.integers(0, 2, n)
    # From one half on every row is eligible, so that all of them tell of a leak.
    found = discover(X, y, p, tau=0.5, random_state=seed)
    return fc_auroc((p >= 0.5) != y, found.suspicion()) - 0.5


def gain(seed: int, n: int) -> tuple[float, float]:
    """Return AUROC, and gain over the gate, on the rows of the fit less those on new rows."""
    X, y, _ = worlds.draw(seed, n)
    falcon = FalconDiscover(FrozenEstimator(Linear()), random_state=seed).fit(X, y)
    new, labels, _ = worlds.draw(seed + 1_000_000, POPULATION)
    figures = []
    for rows, codes, score in (
        (X, y, falcon.score_samples()),
        (new, labels, falcon.score_samples(new)),
    ):
        p = worlds.linear_scores(rows)
        sure = np.maximum(p, 1 - p)
        eligible = sure >= 0.9
        wrong = ((p >= 0.5) != codes)[eligible]
        areas = [fc_auroc(wrong, s[eligible]) for s in (score, gated_confidence(sure))]
        figures.append((areas[0], areas[0] - areas[1]))
    return figures[0][0] - figures[1][0], figures[0][1] - figures[1][1]


def measure(share: float) -> Iterator[Measured]:
    """Yield the lines of this area."""
    for n, draws in ((400, 300), (1_000, 100)):
        over = simulated(lambda seed, n=n: noise(seed, n), max(20, round(share * draws)))
        yield mean(
            AREA,
            f"eligible AUROC of auto on its own {n} rows of noise, above .5",
            over,
            nominal=f"within {MARGIN:g} of 0",
            within=MARGIN,
            of=0.0,
        )
    over = np.array(simulated(lambda seed: gain(seed, 1_500), max(20, round(share * 80))))
    for column, what in enumerate(("eligible AUROC of auto", "gain of auto over gated confidence")):
        yield mean(
            AREA,
            f"{what} on the rows of the fit, above that on new rows",
            over[:, column],
            nominal=f"within {MARGIN:g} of 0",
            within=MARGIN,
            of=0.0,
        )
