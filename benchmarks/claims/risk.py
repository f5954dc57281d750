"""The risk: as many confident errors as it adds up to, and rates inside its intervals."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from benchmarks.claims import worlds
from benchmarks.claims.common import Measured, mean, simulated
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from falcon_discover import FalconDiscover

AREA = "risk"
NEW_ROWS = 4_000
# Model, rows, and draws.
DRAWS = (("frozen", 400, 1_000), ("frozen", 2_000, 150), ("refitted", 2_000, 150))


class Linear(ClassifierMixin, BaseEstimator):
    """A linear model that was fitted elsewhere."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        """Do nothing: it is fitted."""
        return self

    def predict_proba(self, X):
        """Return both probabilities."""
        p = worlds.linear_scores(pd.DataFrame(X))
        return np.column_stack([1 - p, p])


def boosted():
    """Return a model that gains from every further row."""
    encode = make_column_transformer((OrdinalEncoder(), ["kind"]), remainder="passthrough")
    return make_pipeline(encode, HistGradientBoostingClassifier(max_iter=60, random_state=0))


def audit(seed: int, n: int, model: str) -> dict[str, float]:
    """Return the figures of the risk of new rows, by their true probabilities."""
    X, y, _ = worlds.draw(seed, n)
    estimator = FrozenEstimator(Linear()) if model == "frozen" else boosted()
    falcon = FalconDiscover(estimator, random_state=seed, n_jobs=1).fit(X, y)
    new, _, truth = worlds.draw(seed + 1_000_000, NEW_ROWS)
    found = falcon.examine(new)
    risk, p = found.risk(), found.state.p
    chance = worlds.confident_error_rate(truth, p)
    eligible = np.maximum(p, 1 - p) >= 0.9
    risk, chance = risk[eligible], chance[eligible]
    top = np.argsort(-risk)[: len(risk) // 10]
    figures = {
        "events": int(falcon.ranker_.events_),
        "ratio": risk.sum() / chance.sum(),
        "top": risk[top].sum() / chance[top].sum(),
        "slope": slope(risk, chance),
    }
    if hasattr(falcon.ranker_, "risk_interval"):
        low, high = (ends[eligible] for ends in falcon.ranker_.risk_interval(found.state))
        tenths = np.array_split(np.argsort(risk), 10)
        figures["inside"] = np.mean(
            [low[t].mean() <= chance[t].mean() <= high[t].mean() for t in tenths]
        )
    return figures


def slope(risk: np.ndarray, chance: np.ndarray) -> float:
    """Return the slope of the true log-odds on the risk's; below 1 the risk says too much."""
    x = np.tile(logit(np.clip(risk, 1e-6, 1 - 1e-6)), 2)[:, None]
    y = np.repeat([1, 0], len(risk))
    fit = LogisticRegression(C=1e6).fit(x, y, sample_weight=np.concatenate([chance, 1 - chance]))
    return float(fit.coef_[0, 0])


def measure(share: float) -> Iterator[Measured]:
    """Yield the lines of this area."""
    for model, n, draws in DRAWS:
        drawn = simulated(partial(audit, n=n, model=model), max(2, round(share * draws)))
        frame = pd.DataFrame(drawn)
        what = f"{model} model, {n:,} rows"
        yield mean(
            AREA, f"{what}: confident errors predicted per true one", frame["ratio"],
            nominal="within 0.05 of 1", within=0.05, of=1.0,
        )  # fmt: skip
        yield mean(
            AREA, f"{what}: the same in the riskiest tenth", frame["top"],
            nominal="within 0.1 of 1", within=0.1, of=1.0,
        )  # fmt: skip
        yield mean(
            AREA, f"{what}: slope of the true log-odds on the risk's", frame["slope"],
            nominal="within 0.2 of 1", within=0.2, of=1.0,
        )  # fmt: skip
        if "inside" in frame:
            yield mean(
                AREA, f"{what}: tenths of the rows whose true rate is in their interval",
                frame["inside"], nominal="within 0.05 of 0.95", within=0.05, of=0.95,
            )  # fmt: skip
