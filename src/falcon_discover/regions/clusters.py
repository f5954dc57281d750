"""The paper's regions: k-means clusters of the discrepancy representation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import records
from falcon_discover.runtime.threads import limited
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import CONFLICT
from falcon_discover.signals.state import State

# What the artifact clusters, beside the learned score; instability signals need a model.
CLUSTERED = (*(signal.name for signal, _ in CONFLICT.values()), "confidence")


@dataclass(frozen=True, eq=False, repr=False)
class Clusters(Result):
    """Clusters of similar state, numbered from 1 by the confident errors they hold.

    The numbers are given on the rows that the clusters are found on. There the mass of the first
    is the largest of all, chosen by the very events it is made of, and too high for new rows.

    Printing it shows `frame()`: per region its rows, confident errors, their share of all
    confident errors (`fc_mass`), mean support, mean instability (drift) and correctness.
    """

    model: Pipeline
    columns: tuple[str, ...]
    order: IntArray
    summary: pd.DataFrame

    @classmethod
    def none(cls) -> Clusters:
        """Return no cluster."""
        columns = ("region", "rows", "events", "fc_mass", "support", "instability", "correctness")
        summary = pd.DataFrame({name: [] for name in columns})
        return cls(make_pipeline("passthrough"), (), np.empty(0, dtype=np.intp), summary)

    @classmethod
    def find(
        cls,
        state: State,
        learned: FloatArray,
        events: BoolArray,
        correct: BoolArray,
        *,
        n_regions: int = PAPER.n_regions,
        seed: int = 0,
    ) -> Clusters:
        """Cluster labelled rows and number the clusters by their confident errors.

        The clustering itself sees no label but through the learned score; labels only number
        and describe the clusters.
        """
        columns = tuple(name for name in CLUSTERED if name in state.signals.columns)
        rows = _representation(state, learned, columns)
        distinct = len(np.unique(rows.round(12), axis=0))
        model = make_pipeline(
            StandardScaler(),
            KMeans(
                n_clusters=max(1, min(n_regions, distinct)),
                n_init=PAPER.region_n_init,
                random_state=seed,
            ),
        )
        # One thread: partial sums in another order could move a border case.
        with limited(1, 1):
            found = model.fit_predict(rows)
        counts = state.weight
        hits = events if counts is None else counts * events
        held = np.bincount(found, hits, minlength=model[-1].n_clusters)
        size = np.bincount(found, counts, minlength=model[-1].n_clusters)
        order = np.empty(len(held), dtype=np.intp)
        order[np.lexsort((-size, -held))] = np.arange(1, len(held) + 1)
        summary = _summary(order[found], state, events, correct)
        return cls(model, columns, order, summary)

    def assign(self, state: State, learned: FloatArray) -> IntArray:
        """Return the region number of each row."""
        with limited(1, 1):
            found = self.model.predict(_representation(state, learned, self.columns))
        return self.order[found]

    def described(
        self, state: State, learned: FloatArray, events: BoolArray, correct: BoolArray
    ) -> Clusters:
        """Return the same clusters with a summary of other labelled rows."""
        region = self.assign(state, learned)
        return replace(self, summary=_summary(region, state, events, correct))

    def frame(self) -> pd.DataFrame:
        """Return one row per region."""
        return self.summary.copy()

    def __len__(self) -> int:
        return len(self.summary)

    NEXT = "finding.regions shows the regions in words, which are tested on other rows."

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers."""
        return {"clusters": records(self.summary)}

    def headline(self) -> str:
        """Return what the table shows."""
        return "Clusters of predictions with similar signals, most confident errors first."

    def text(self) -> str:
        """Return the table."""
        return str(self.summary.round(3).to_string(index=False))


def _representation(
    state: State, learned: FloatArray, columns: tuple[str, ...]
) -> npt.NDArray[np.float64]:
    return np.column_stack([learned, state.signals[list(columns)].to_numpy()])


def _summary(region: IntArray, state: State, events: BoolArray, correct: BoolArray) -> pd.DataFrame:
    rows = pd.DataFrame({"region": region, "events": events, "correctness": correct})
    for name in ("support", "mean_drift"):
        rows[name] = state.signals.get(name, np.nan)
    if state.weight is not None:
        return _weighted_summary(rows, state.weight)
    frame = rows.groupby("region").agg(
        rows=("events", "size"),
        events=("events", "sum"),
        support=("support", "mean"),
        instability=("mean_drift", "mean"),
        correctness=("correctness", "mean"),
    )
    total = max(int(frame["events"].sum()), 1)
    frame.insert(2, "fc_mass", frame["events"] / total)
    return frame.reset_index()


def _weighted_summary(rows: pd.DataFrame, weight: FloatArray) -> pd.DataFrame:
    means = ("support", "mean_drift", "correctness")
    sums = rows[list(means)].mul(weight, axis=0)
    sums = sums.assign(rows=weight, events=weight * rows["events"], region=rows["region"])
    frame = sums.groupby("region").sum(min_count=1)
    frame[list(means)] = frame[list(means)].div(frame["rows"], axis=0)
    frame = frame.rename(columns={"mean_drift": "instability"})
    total = frame["events"].sum() or 1.0
    frame["fc_mass"] = frame["events"] / total
    columns = ["rows", "events", "fc_mass", "support", "instability", "correctness"]
    return frame[columns].reset_index()
