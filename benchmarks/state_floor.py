"""Time of the state for Adult's test rows as a multiple of its floor.

    python benchmarks/state_floor.py

The floor is what cannot be avoided: the base model's own prediction of as many mixed rows, in
stacks of the same size, and one exact nearest-neighbour search. Both are timed in turn within
one run, and the smallest of the repeats is taken, since other work on the machine only adds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from falcon_discover import PAPER, FalconDiscover, datasets
from falcon_discover.audit import paper_split
from falcon_discover.signals.state import STACK_ROWS
from falcon_discover.tables import Table

REPEATS = 5


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    X, y = datasets.load("adult")
    seed = PAPER.seeds[0]
    train, _, test = paper_split(y, seed)
    falcon = FalconDiscover("xgboost", random_state=seed, n_jobs=-1)
    falcon.fit(X.iloc[train], y.iloc[train])
    view, model = falcon.model_[0], falcon.model_[-1]
    reference = view.transform(Table.from_input(X.iloc[train]))
    rows = view.transform(Table.from_input(X.iloc[test]))
    per_row = PAPER.n_mix_neighbors * len(PAPER.mix)
    stacked = np.repeat(rows, per_row, axis=0)
    search = NearestNeighbors(n_neighbors=PAPER.n_neighbors, algorithm="brute").fit(reference)

    def predict() -> None:
        for start in range(0, len(stacked), STACK_ROWS):
            model.predict_proba(stacked[start : start + STACK_ROWS])

    times = [
        (
            seconds(lambda: falcon.transform(X.iloc[test])),
            seconds(predict),
            seconds(lambda: search.kneighbors(rows)),
        )
        for _ in range(REPEATS)
    ]
    state, predicting, searching = np.min(times, axis=0)
    print(
        f"state of {len(test):,} rows: {state / (predicting + searching):.2f} x its floor "
        f"({state:.2f} s against {predicting:.2f} s predicting {len(stacked):,} mixed rows "
        f"+ {searching:.2f} s searching {len(reference):,} reference rows)"
    )


if __name__ == "__main__":
    main()
