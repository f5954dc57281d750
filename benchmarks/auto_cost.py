"""What ranker "auto" adds to the time of a fit and of scoring, as ratios within one run.

    python benchmarks/auto_cost.py [BACKBONE ...]     # results/auto_cost.csv

Fitting: second opinions and the ranker itself, over the base model's own cross-fitting. Scoring:
the state with second opinions and the risk, over the state alone. Adult, first seed; the
smallest of the repeats is taken, since other work on the machine only adds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover import PAPER, FalconDiscover, datasets
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.datasets.splits import paper_split
from falcon_discover.models.crossfit import select_backbone
from falcon_discover.models.folds import make_folds

REPEATS = 2
BACKBONES = ("xgboost", "catboost")
OUT = Path(__file__).parents[1] / "results" / "auto_cost.csv"


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(backbone: str) -> dict[str, Any]:
    X, y = datasets.load("adult")
    seed = PAPER.seeds[0]
    train, _, test = paper_split(y, seed)
    X_train, y_train, X_test = X.iloc[train], y.iloc[train], X.iloc[test]
    table, labels = Table.from_input(X_train), Labels.from_input(y_train)

    def cross_fit() -> None:
        folds = make_folds(PAPER.n_folds, labels, seed)
        select_backbone([backbone], table, labels, folds, seed=seed, n_jobs=2)

    def falcon(ranker: str) -> FalconDiscover:
        return FalconDiscover(backbone, ranker=ranker, random_state=seed, n_jobs=2)

    plain, auto = falcon("gated_confidence"), falcon("auto")
    fits = np.min(
        [
            (
                seconds(cross_fit),
                seconds(lambda: plain.fit(X_train, y_train)),
                seconds(lambda: auto.fit(X_train, y_train)),
            )
            for _ in range(REPEATS)
        ],
        axis=0,
    )
    scores = np.min(
        [
            (
                seconds(lambda: plain.score_samples(X_test)),
                seconds(lambda: auto.score_samples(X_test)),
            )
            for _ in range(REPEATS)
        ],
        axis=0,
    )
    return {
        "backbone": backbone,
        "cross_fitting": fits[0],
        "fit_adds": fits[2] - fits[1],
        "fit_share": (fits[2] - fits[1]) / fits[0],
        "state": scores[0],
        "score_adds": scores[1] - scores[0],
        "score_share": (scores[1] - scores[0]) / scores[0],
    }


if __name__ == "__main__":
    measured = pd.DataFrame([measure(name) for name in sys.argv[1:] or BACKBONES])
    measured.to_csv(OUT, index=False, float_format="%.3f")
    print(measured.round(2).to_string(index=False))
