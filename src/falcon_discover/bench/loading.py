"""Stored runs as the tables need them: who was selected, what was scored, what it caught.

Nothing here or above it imports scikit-learn: tables come from stored fields alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover import metrics
from falcon_discover.bench import plan
from falcon_discover.bench.store import SETTINGS, RunKey, Store
from falcon_discover.exceptions import InputError
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER

ROWS = ["row", "split", "label", "p", "confidence"]
SCORES = [
    "row",
    *(name for name in (*plan.FAMILY, *plan.PRIORS, "failure") if name != "learned"),
    *(f"learned_{plan.at(tau)}" for tau in PAPER.taus),
]


class Run:
    """One stored run: labels, scores and choices on its validation and test rows."""

    def __init__(self, key: RunKey, rows: pd.DataFrame, scores: pd.DataFrame) -> None:
        self.key = key
        frame = pd.concat([rows, scores.drop(columns="row")], axis=1).loc[
            :, lambda f: ~f.columns.duplicated()
        ]
        test = (rows["split"] == "test").to_numpy()
        self._parts = {
            "validation": frame[~test].reset_index(drop=True),
            "test": frame[test].reset_index(drop=True),
        }
        self._memo: dict[tuple[Any, ...], Any] = {}

    def _remembered(self, key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        if key not in self._memo:
            self._memo[key] = compute()
        return self._memo[key]

    def part(self, split: str) -> pd.DataFrame:
        """Return the stored fields of one split."""
        return self._parts[split]

    @cached_property
    def wrong(self) -> BoolArray:
        """Which test predictions are wrong."""
        test = self.part("test")
        return ((test["p"] >= PAPER.decision_threshold) != test["label"]).to_numpy()

    def events(self, tau: float = PAPER.tau, split: str = "test") -> BoolArray:
        """Return which rows of a split are false-confidence events."""
        part = self.part(split)
        return self._remembered(
            ("events", tau, split),
            lambda: metrics.false_confidence(part["label"].to_numpy(), part["p"].to_numpy(), tau),
        )

    def score(
        self, name: str, tau: float = PAPER.tau, split: str = "test", variant: str = ""
    ) -> FloatArray:
        """Return a ranker's scores; `variant` names a sweep or ablation at the main threshold."""
        part = self.part(split)
        if name == "gated_confidence":
            return metrics.gated_confidence(part["confidence"].to_numpy(), tau)
        if variant and name in plan.FAMILY:
            return part[f"{name}_{variant}"].to_numpy()
        column = f"{name}_{plan.at(tau)}" if name in ("learned", "auto") else name
        return part[column].to_numpy()

    def capture(
        self, name: str, tau: float = PAPER.tau, split: str = "test", variant: str = "",
        budget: float = PAPER.main_budget,
    ) -> float:  # fmt: skip
        """Return the share of events a ranker finds."""
        return self._remembered(
            ("capture", name, tau, split, variant, budget),
            lambda: metrics.capture_at(
                self.events(tau, split), self.score(name, tau, split, variant), budget
            ),
        )

    def auroc(
        self, name: str, tau: float = PAPER.tau, split: str = "test", variant: str = ""
    ) -> float:
        """Return the FalseConf-AUROC of a ranker."""
        return self._remembered(
            ("auroc", name, tau, split, variant),
            lambda: metrics.fc_auroc(
                self.events(tau, split), self.score(name, tau, split, variant)
            ),
        )

    def choice(self, names: tuple[str, ...], tau: float = PAPER.tau, variant: str = "") -> str:
        """Return the ranker with the best validation Capture@20, ties by FC-AUROC.

        Without validation events nothing can be chosen, and the first name is taken.
        """

        def merit(name: str) -> tuple[float, float]:
            values = (
                self.capture(name, tau, "validation", variant),
                self.auroc(name, tau, "validation", variant),
            )
            return values if np.isfinite(values).all() else (-np.inf, -np.inf)

        return max(names, key=merit)

    def prior(self, tau: float = PAPER.tau) -> str:
        """Return the validation-selected prior baseline."""
        return self.choice(plan.PRIORS, tau)

    def family(self, tau: float = PAPER.tau, variant: str = "") -> str:
        """Return the validation-selected member of the discrepancy family."""
        return self.choice(plan.FAMILY, tau, variant)


class FrozenRuns:
    """Models that were fitted once and frozen, as far as a store has them.

    Parameters
    ----------
    folder : that of the whole benchmark
    """

    def __init__(self, folder: Path) -> None:
        there = (folder / plan.FROZEN / SETTINGS).is_file()
        self.store = Store(folder / plan.FROZEN) if there else None

    def keys(self, dataset: str, model: str) -> list[RunKey]:
        """Return the runs of all seeds; none if one is missing."""
        keys = [RunKey(dataset, seed, model) for seed in PAPER.seeds]
        whole = self.store is not None and all(map(self.store.done, keys))
        return keys if whole else []

    def runs(self, dataset: str, model: str) -> list[Run]:
        """Return the runs of all seeds with labels and scores; none if one is missing."""
        return [self._run(key) for key in self.keys(dataset, model)]

    def reports(self, dataset: str, model: str) -> list[dict[str, Any]]:
        """Return what is told of each run."""
        assert self.store is not None
        return [self.store.report(key) for key in self.keys(dataset, model)]

    def _run(self, key: RunKey) -> Run:
        assert self.store is not None
        self.store.report(key)
        rows = self.store.read(key, "rows", [name for name in ROWS if name != "confidence"])
        sure = metrics.confidence(rows["p"].to_numpy())
        return Run(key, rows.assign(confidence=sure), self.store.read(key, "scores"))


class Study:
    """All runs of a store that belong to the paper's study."""

    def __init__(self, store: Store, names: Sequence[str] | None = None) -> None:
        self.store = store
        there = {key.dataset for key in store.runs()}
        self.datasets = [name for name in (names or plan.DATASETS) if names or name in there]
        self.seeds = PAPER.seeds
        self.frozen = FrozenRuns(store.folder)
        self._runs: dict[RunKey, Run] = {}
        self._tables: dict[str, Any] = {}
        self._reports: dict[RunKey, dict[str, Any]] = {}

    def once(self, label: str, make: Callable[[Study], Any]) -> Any:
        """Return a table, made when it is first asked for."""
        if label not in self._tables:
            self._tables[label] = make(self)
        return self._tables[label]

    def wanted(self) -> list[RunKey]:
        """Return the runs that the tables need."""
        return [
            RunKey(name, seed, backbone)
            for name in self.datasets
            for seed in self.seeds
            for backbone in plan.BACKBONES
        ]

    def missing(self) -> list[RunKey]:
        """Return the needed runs that the store lacks."""
        done = set(self.store.runs())
        return [key for key in self.wanted() if key not in done]

    def selected(self, dataset: str, seed: int) -> str:
        """Return the candidate with the best out-of-fold AUROC."""
        merits = {name: self._merit(dataset, seed, name) for name in PAPER.candidates}
        return max(merits, key=lambda name: merits[name])

    def run(self, dataset: str, seed: int, backbone: str | None = None) -> Run:
        """Return a run, by default of the selected backbone."""
        selected = self.selected(dataset, seed)
        key = RunKey(dataset, seed, backbone or selected)
        if key not in self._runs:
            self._report(dataset, seed, key.backbone)
            # Ablations, sweeps, regions and calibration are shown for the selected backbone only.
            rows, scores = (None, None) if key.backbone == selected else (ROWS, SCORES)
            self._runs[key] = Run(
                key, self.store.read(key, "rows", rows), self.store.read(key, "scores", scores)
            )
        return self._runs[key]

    def runs(self, dataset: str, backbone: str | None = None) -> list[Run]:
        """Return the runs of all seeds."""
        return [self.run(dataset, seed, backbone) for seed in self.seeds]

    def oof_events(self, run: Run, tau: float = PAPER.tau) -> int:
        """Return how many out-of-fold training rows are events."""
        oof = self.store.read(run.key, "oof", ["label", "p"])
        return int(
            metrics.false_confidence(oof["label"].to_numpy(), oof["p"].to_numpy(), tau).sum()
        )

    def _merit(self, dataset: str, seed: int, backbone: str) -> float:
        merit = self._report(dataset, seed, backbone).get("oof_auroc")
        if not isinstance(merit, int | float):
            key = RunKey(dataset, seed, backbone)
            raise InputError(f"the report of run {key} has no out-of-fold AUROC: delete that run.")
        return float(merit)

    def _report(self, dataset: str, seed: int, backbone: str) -> dict[str, Any]:
        key = RunKey(dataset, seed, backbone)
        if key not in self._reports:
            if not self.store.done(key):
                raise InputError(f"run {key} is missing: make it with 'bench run'.")
            self._reports[key] = self.store.report(key)
        return self._reports[key]
