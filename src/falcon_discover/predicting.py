"""A model's probabilities by its fastest way that gives the same numbers.

Two kinds of scikit-learn models go through all rows once per tree, and are several times faster in
blocks of rows that stay in the processor's cache, each on a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

from falcon_discover.tables import take_rows
from falcon_discover.threads import one_openmp_thread, openmp_threads

FORESTS = (RandomForestClassifier, ExtraTreesClassifier)
# Rows of a block: fewer cost more calls, more fall out of the cache.
BLOCK_ROWS = 4096

Proba = Callable[[Any], npt.NDArray[np.float64]]


def proba(model: Any, rows: Any) -> npt.NDArray[np.float64]:
    """Return the model's probabilities of each row.

    Examples
    --------
    >>> X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    >>> model = RandomForestClassifier(5, n_jobs=2, random_state=0).fit(X, y)
    >>> bool((proba(model, X) == model.predict_proba(X)).all())
    True
    """
    if isinstance(model, FORESTS):
        # A forest's own threads add up the trees' votes in the order they finish, which changes
        # the last digits from call to call.
        alone = copy(model)
        alone.n_jobs = 1
        return _in_blocks(alone.predict_proba, rows, effective_n_jobs(model.n_jobs))
    if isinstance(model, HistGradientBoostingClassifier):
        return _in_blocks(_on_one_thread(model.predict_proba), rows, openmp_threads())
    return np.asarray(model.predict_proba(rows), dtype=np.float64)


def _in_blocks(predict: Proba, rows: Any, threads: int) -> npt.NDArray[np.float64]:
    n_rows = rows.shape[0]
    # At least one block per thread, and all of about the same size.
    n_blocks = max(min(threads, -(-n_rows // (BLOCK_ROWS // 4))), -(-n_rows // BLOCK_ROWS))
    if n_blocks <= 1:
        return predict(rows)
    bounds = np.linspace(0, n_rows, n_blocks + 1).astype(int)
    blocks = [take_rows(rows, slice(*pair)) for pair in pairwise(bounds)]
    if threads == 1:
        return np.concatenate([predict(block) for block in blocks])
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(predict, blocks)))


def _on_one_thread(predict: Proba) -> Proba:
    def alone(rows: Any) -> npt.NDArray[np.float64]:
        with one_openmp_thread():
            return predict(rows)

    return alone
