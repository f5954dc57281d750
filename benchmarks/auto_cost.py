"""What ranker "auto" adds to the time of a fit and of scoring, as ratios within one run.

    python benchmarks/auto_cost.py [BACKBONE ...]

Fitting: second opinions and the ranker itself, over the base model's own cross-fitting. Scoring:
the state with second opinions and the risk, over the state alone. Adult, first seed; the
smallest of the repeats is taken, since other work on the machine only adds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from falcon_discover import PAPER, FalconDiscover, datasets
from falcon_discover.audit import paper_split
from falcon_discover.crossfit import make_folds, select_backbone
from falcon_discover.tables import Labels, Table

REPEATS = 2


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(backbone: str) -> str:
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
    return (
        f"{backbone}: fitting adds {(fits[2] - fits[1]) / fits[0]:.2f} of the base model's "
        f"cross-fitting ({fits[2] - fits[1]:.1f} s to {fits[0]:.1f} s); scoring adds "
        f"{(scores[1] - scores[0]) / scores[0]:.2f} of the state's time "
        f"({scores[1] - scores[0]:.2f} s to {scores[0]:.2f} s, {len(test):,} rows)"
    )


if __name__ == "__main__":
    for name in sys.argv[1:] or ["xgboost", "catboost", "hist_gradient_boosting"]:
        print(measure(name), flush=True)
