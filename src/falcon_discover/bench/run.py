"""Run the study: fit every candidate on every split and store what the tables need.

One run is a data set, a seed and a backbone. It fits the backbone in five folds and once more on
all training rows, measures the state of the validation and test rows, and scores them by every
ranker and baseline. Everything the tables need afterwards, thresholds, ablations and sweeps
included, comes from the stored fields; no model is fitted again.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.metrics import roc_auc_score

from falcon_discover import datasets
from falcon_discover.bench import plan
from falcon_discover.bench.memory import peak_memory_mb
from falcon_discover.bench.scores import score_columns
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from falcon_discover.datasets.splits import paper_split
from falcon_discover.metrics import decided
from falcon_discover.models import library
from falcon_discover.models.adapter import Probe
from falcon_discover.models.fitting import fit_backbone
from falcon_discover.models.folds import make_folds
from falcon_discover.rankers.trust import TrustScore
from falcon_discover.runtime import progress
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.runtime.versions import version_of
from falcon_discover.settings import PAPER
from falcon_discover.signals.agreement import agreement_signals
from falcon_discover.signals.builder import STACK_ROWS, mixed_scores
from falcon_discover.signals.catalogue import SIGNALS
from falcon_discover.signals.certainty import certainty_signals
from falcon_discover.signals.neighbours.index import NeighbourIndex, rows_within_budget
from falcon_discover.signals.stability import stability_signals
from falcon_discover.signals.support import Support

PACKAGES = ("falcon-discover", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow")
# What a backbone needs beside them.
BEHIND = {
    "xgboost": ("xgboost-cpu",),
    "catboost": ("catboost",),
    "lightgbm": ("lightgbm",),
    "realmlp": ("torch", "pytabkit", "pytorch-lightning"),
    "realmlp_smoothed": ("torch", "pytabkit", "pytorch-lightning"),
    "ft_transformer": ("torch", "rtdl-revisiting-models"),
    "saint": ("torch",),
    "saint_rows": ("torch",),
}


@dataclass
class Stopwatch:
    """Seconds per stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - started
            self.seconds[name] = round(self.seconds.get(name, 0.0) + spent, 3)


class Split:
    """One split of one data set, with everything that does not depend on the backbone."""

    def __init__(self, dataset: str, seed: int, n_jobs: int) -> None:
        X, y = datasets.load(dataset)
        self.seed, self.n_jobs = seed, n_jobs
        labels = Labels.from_input(y)
        table = Table.from_input(X)
        self.train, self.validation, self.test = paper_split(labels.codes, seed)
        self.held_out = np.concatenate([self.validation, self.test])
        self.codes = labels.codes
        self.train_table, self.new_table = table.take(self.train), table.take(self.held_out)
        train_labels = Labels(labels.classes, labels.codes[self.train])
        self.folds = make_folds(PAPER.n_folds, train_labels, seed)

    @cached_property
    def fold_rows(self) -> list[npt.NDArray[np.float32]]:
        """All training rows in the view of each fold's training part."""
        return [
            TransformedView().fit(self.train_table.take(others)).transform(self.train_table)
            for others, _ in self.folds
        ]

    @cached_property
    def _view(self) -> TransformedView:
        return TransformedView().fit(self.train_table)

    @cached_property
    def reference(self) -> npt.NDArray[np.float32]:
        """Training rows in transformed space."""
        return self._view.transform(self.train_table)

    @cached_property
    def rows(self) -> npt.NDArray[np.float32]:
        """Validation and test rows in transformed space."""
        return self._view.transform(self.new_table)

    @cached_property
    def neighbours(self) -> IntArray:
        """The nearest training rows of each of them."""
        index = NeighbourIndex(self.reference, self.n_jobs)
        return index.query(self.rows, max(PAPER.n_neighbors, *plan.NEIGHBOURHOODS)).rows

    @cached_property
    def class_distances(self) -> FloatArray:
        """Their distances to the nearest training row of each class."""
        trust = TrustScore(self.reference, self.codes[self.train], self.n_jobs)
        return trust.class_distances(self.rows)

    @cached_property
    def support(self) -> FloatArray:
        """Their support."""
        return Support.of(self.reference).score(self.rows)


def execute(split: Split, backbone: str) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Return the tables and the report of one run."""
    watch = Stopwatch()
    dtype = library.candidate(backbone).dtype
    train_codes = split.codes[split.train]

    def fitted(rows: npt.NDArray[Any], targets: npt.NDArray[Any]) -> Probe:
        model = fit_backbone(backbone, rows, targets, seed=split.seed, n_jobs=split.n_jobs)
        return Probe(model, column=1)

    oof = np.empty(len(split.train))
    fold = np.empty(len(split.train), dtype=np.int8)
    for number, (others, held_out) in enumerate(split.folds):
        rows = split.fold_rows[number]
        with watch.stage("cross-fitting"):
            model = fitted(rows[others], train_codes[others])
            oof[held_out] = model.predict(rows[held_out].astype(dtype, copy=False))
        fold[held_out] = number
    with watch.stage("refit"):
        model = fitted(split.reference, train_codes)
    with watch.stage("neighbours"):
        near = split.neighbours
    with watch.stage("state"):
        rows_table = _measure(split, model, oof, near, dtype)
    with watch.stage("scores"):
        scores = score_columns(rows_table, split.class_distances, split.seed)
    oof_table = pd.DataFrame({"row": split.train, "label": train_codes, "fold": fold, "p": oof})
    report = {
        "oof_auroc": float(roc_auc_score(train_codes, oof)),
        "seconds": watch.seconds,
        "peak_memory_mb": peak_memory_mb(),
        "versions": versions(backbone),
        "python": platform.python_version(),
    }
    return {"oof": oof_table, "rows": rows_table, "scores": scores}, report


def _measure(
    split: Split, model: Probe, oof: FloatArray, near: IntArray, dtype: str
) -> pd.DataFrame:
    """Return the stored fields of the validation and test rows."""
    rows = split.rows.astype(dtype, copy=False)
    p = model.predict(rows)
    labels = split.codes[split.train]
    decision, known = decided(p), decided(oof)
    m, n_lambdas = PAPER.n_mix_neighbors, len(plan.LAMBDAS)
    per_row = m * n_lambdas
    mixed = mixed_scores(
        model,
        rows,
        split.reference.astype(dtype, copy=False),
        near[:, :m],
        plan.LAMBDAS,
        decision,
        stack_rows=rows_within_budget(24 * rows.shape[1] * per_row, at_most=STACK_ROWS // per_row),
    )
    shape = (len(p), m, n_lambdas)
    scores, same = mixed.scores.reshape(shape), mixed.same.reshape(shape)
    columns: dict[str, Any] = {
        "row": split.held_out,
        "split": np.repeat(["validation", "test"], [len(split.validation), len(split.test)]),
        "label": split.codes[split.held_out],
        "p": p,
    }
    columns |= certainty_signals(p)
    columns["support"] = split.support
    columns |= agreement_signals(decision, near[:, : PAPER.n_neighbors], labels, known)
    used = [plan.LAMBDAS.index(weight) for weight in PAPER.mix]
    flat = (len(p), m * len(used))
    columns |= stability_signals(
        p, scores[:, :, used].reshape(flat), same[:, :, used].reshape(flat)
    )
    for mark, k in plan.K_MARKS.items():
        for name, values in agreement_signals(decision, near[:, :k], labels, known).items():
            columns[f"{name}_{mark}"] = values
    for i, mark in enumerate(plan.LAMBDA_MARKS):
        for name, values in stability_signals(p, scores[:, :, i], same[:, :, i]).items():
            columns[f"{name}_{mark}"] = values
    ordered = ["row", "split", "label", "p", *SIGNALS]
    return pd.DataFrame(columns)[ordered + [name for name in columns if name not in ordered]]


def versions(backbone: str) -> dict[str, str]:
    """Return the versions of the packages that decide a run's numbers."""
    packages = [*PACKAGES, *BEHIND.get(backbone, ())]
    return {package: version_of(package) for package in packages}


def planned(names: Iterable[str], seeds: Iterable[int], chosen: Iterable[str]) -> list[RunKey]:
    """Return the runs of a plan, data set by data set."""
    chosen, seeds = list(chosen), list(seeds)
    return [RunKey(name, seed, backbone) for name in names for seed in seeds for backbone in chosen]


Executor = Callable[[RunKey], tuple[dict[str, pd.DataFrame], dict[str, Any]]]
Finished = tuple[RunKey, dict[str, pd.DataFrame], dict[str, Any]]
# Does runs somewhere else and yields each when it is finished.
Spread = Callable[[Executor, Sequence[RunKey]], Iterator[Finished]]


def paper_runs(n_jobs: int) -> Executor:
    """Return what does one run of the paper's study; a split is loaded once for all library."""
    last: dict[tuple[str, int], Split] = {}

    def one(key: RunKey) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
        where = (key.dataset, key.seed)
        if where not in last:
            last.clear()
            last[where] = Split(key.dataset, key.seed, n_jobs)
        return execute(last[where], key.backbone)

    return one


def run_all(store: Store, keys: list[RunKey], one: Executor, spread: Spread | None = None) -> int:
    """Do the runs that are not done and return how many were done here.

    A run that another process works on is left to it.

    Parameters
    ----------
    spread : who does the runs, such as a cluster; None for this process
    """
    todo = [key for key in keys if not store.done(key)]
    progress.expect(len(todo))
    finished = 0
    if spread is not None:
        with ExitStack() as claims:
            claimed = [key for key in todo if claims.enter_context(store.claim(key))]
            for key, tables, report in spread(one, claimed):
                progress.step(str(key))
                store.write(key, tables, report)
                finished += 1
        return finished
    for key in todo:
        progress.step(str(key))
        with store.claim(key) as mine:
            if mine:
                with progress.silent():
                    tables, report = one(key)
                store.write(key, tables, report)
                finished += 1
    return finished
