"""Fitting a library model: the same on any number of cores, and Ctrl-C safe."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning

from falcon_discover.data.drawing import coarse
from falcon_discover.models import library
from falcon_discover.models.weighing import weight_arguments
from falcon_discover.runtime import notices
from falcon_discover.runtime.interrupts import interrupt_after
from falcon_discover.runtime.threads import one_blas_thread
from falcon_discover.runtime.types import FloatArray

# Below this many cells threads cost more than they bring, and much more on a busy machine.
ONE_THREAD_CELLS = 1_000_000


def fit_backbone(
    name: str,
    rows: Any,
    targets: Any,
    *,
    seed: int,
    n_jobs: int,
    weight: FloatArray | None = None,
) -> Any:
    """Fit a library model: the same on any number of cores, Ctrl-C safe, without chatter."""
    candidate = library.candidate(name)
    return fit_candidate(candidate, rows, targets, seed=seed, n_jobs=n_jobs, weight=weight)


def fit_candidate(
    candidate: library.Candidate,
    rows: Any,
    targets: Any,
    *,
    seed: int,
    n_jobs: int,
    weight: FloatArray | None = None,
) -> Any:
    """Fit a model that the library knows how to make.

    Of targets that lack some of the classes, those that are there are numbered anew from 0 on: not
    every library takes numbers with gaps.
    """
    targets = np.unique(targets, return_inverse=True)[1]
    alone = rows.size < ONE_THREAD_CELLS
    threads = 1 if alone and candidate.spins else candidate.threads or n_jobs
    model = candidate.make(seed, threads)
    with (
        one_blas_thread(openmp=1 if alone else None),
        interrupt_after(model),
        notices.ignoring(ConvergenceWarning),
        notices.ignoring.in_threads(),
    ):
        if weight is not None and isinstance(model, HistGradientBoostingClassifier):
            rows = coarse(rows, weight)
        model.fit(
            rows.astype(candidate.dtype, copy=False), targets, **weight_arguments(model, weight)
        )
    return model
