"""Time of the state as a multiple of its floor, and against plain loops.

    OMP_WAIT_POLICY=passive python benchmarks/state_floor.py [--table adult ...] [--repeats 11]

The floor is what cannot be avoided: the base model's own prediction of the mixed rows, in stacks
of the same size, and one exact search for the 25 nearest rows by the fastest of scikit-learn,
faiss and the extension for scikit-learn (where installed). There are two plain loops, both with
`NearestNeighbors` and the same float32 rows: one over neighbours and lambdas, with one
`predict_proba` of all rows for each, and one over rows as well, timed on a few rows and scaled.
State and floor are timed in turn, and the median of their ratios is taken, so that other work on
the machine weighs on both alike. The same ratio is also given in processor seconds of all threads.
Nomao must be there (`FALCON_DISCOVER_DATA`). Results: `results/performance/state_floor.csv`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from falcon_discover import PAPER, datasets
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from falcon_discover.datasets.splits import paper_split
from falcon_discover.models import library
from falcon_discover.models.adapter import Probe
from falcon_discover.models.fitting import fit_backbone
from falcon_discover.runtime.threads import search_libraries
from falcon_discover.signals.builder import STACK_ROWS, StateBuilder
from falcon_discover.signals.mixing import neighbour_rows, stacked_mixes
from falcon_discover.signals.neighbours.backends import FaissFlat, Intelex, ScikitLearn
from falcon_discover.signals.reference import Reference
from synthetic import wide_table

TABLES = ("adult", "nomao", "synthetic")
BACKBONES = ("xgboost", "hist_gradient_boosting")
K, M = PAPER.n_neighbors, PAPER.n_mix_neighbors
LOOP_ROUNDS = 3
LOOPED_ROWS = 30
OUT = Path(__file__).parents[1] / "results" / "performance" / "state_floor.csv"


def seconds(work: Callable[[], Any]) -> tuple[float, float]:
    """Return seconds and processor seconds."""
    start, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - used


class Case:
    """A table and a fitted model: the state of its test rows, its floor and the plain loops."""

    def __init__(self, name: str, backbone: str) -> None:
        X, y = wide_table(130_000, 50) if name == "synthetic" else datasets.load(name)
        labels = Labels.from_input(y)
        train, _, test = paper_split(labels.codes, PAPER.seeds[0])
        table, codes = Table.from_input(X), labels.codes[train]
        self.test = table.take(test)
        view = TransformedView(library.candidate(backbone).dtype).fit(table.take(train))
        rows = view.transform(table.take(train))
        self.model = fit_backbone(backbone, rows, codes, seed=0, n_jobs=-1)
        p = self.model.predict_proba(rows)[:, 1]
        probe = Probe(self.model, 1, view)
        self.reference = Reference.build(table.take(train), codes, p, probe, n_jobs=-1)
        self.known = self.reference.coordinates
        self.rows = view.transform(table.take(test))
        self.near = self.reference.index.query(self.rows, K).rows
        self.searches: dict[str, Any] = {"scikit-learn": ScikitLearn(self.known, -1)}
        faiss, intelex = search_libraries()
        if faiss is not None:
            self.searches["faiss"] = FaissFlat(self.known)
        if intelex is not None:
            self.searches["intelex"] = Intelex(self.known, -1)
        step = STACK_ROWS // (M * len(PAPER.mix))
        self.stacks = [
            self.mixed(slice(start, start + step)) for start in range(0, len(test), step)
        ]

    def mixed(self, part: slice) -> Any:
        """Return the mixes of some rows."""
        rows, near = self.rows[part], self.near[part, :M]
        none = np.zeros(len(rows), np.uint64), np.zeros(near.size, np.uint64)
        return stacked_mixes(rows, neighbour_rows(self.known, near), PAPER.mix, *none, 0)

    def state(self, extended: bool) -> None:
        """Measure the paper's ten signals, or all."""
        StateBuilder().build(self.test, self.reference, extended=extended)

    def predictions(self) -> None:
        """Predict the mixes."""
        for stack in self.stacks:
            self.model.predict_proba(stack)

    def search_seconds(self, which: str) -> float:
        """Return how long one of the exact searches takes."""
        search = self.searches[which]
        return min(seconds(lambda: search.nearest(self.rows, K))[0] for _ in range(3))

    def floor(self, which: str) -> None:
        """Do what cannot be avoided."""
        self.searches[which].nearest(self.rows, K)
        self.predictions()

    def plain_loop(self) -> None:
        """Loop over neighbours and lambdas."""
        search = NearestNeighbors(n_neighbors=K).fit(self.known)
        near = search.kneighbors(self.rows, return_distance=False)
        for j in range(M):
            step = self.known[near[:, j]] - self.rows
            for weight in PAPER.mix:
                self.model.predict_proba(self.rows + np.float32(weight) * step)

    def loop_over_rows(self) -> None:
        """Loop over rows, neighbours and lambdas."""
        search = NearestNeighbors(n_neighbors=K).fit(self.known)
        rows = self.rows[:LOOPED_ROWS]
        near = search.kneighbors(rows, return_distance=False)
        for row, others in zip(rows, near, strict=True):
            for j in others[:M]:
                for weight in PAPER.mix:
                    mixed = row + np.float32(weight) * (self.known[j] - row)
                    self.model.predict_proba(mixed[None, :])


def measure(name: str, backbone: str, repeats: int) -> dict[str, Any]:
    case = Case(name, backbone)
    searching = {which: case.search_seconds(which) for which in case.searches}
    fastest = min(searching, key=searching.__getitem__)
    jobs: dict[str, Callable[[], None]] = {
        "state": lambda: case.state(extended=False),
        "floor": lambda: case.floor(fastest),
        "extended": lambda: case.state(extended=True),
    }
    rounds = [{name: seconds(job) for name, job in jobs.items()} for _ in range(repeats)]
    times = pd.DataFrame([{name: took[0] for name, took in one.items()} for one in rounds])
    used = pd.DataFrame([{name: took[1] for name, took in one.items()} for one in rounds])
    loops = pd.DataFrame(
        [(seconds(case.plain_loop)[0], seconds(jobs["state"])[0]) for _ in range(LOOP_ROUNDS)]
    )
    looped = seconds(case.loop_over_rows)[0] / LOOPED_ROWS * len(case.rows)
    return {
        "table": name,
        "backbone": backbone,
        "reference_rows": len(case.known),
        "rows": len(case.rows),
        "coordinates": case.known.shape[1],
        "search": fastest,
        "searching": searching[fastest],
        "floor": times["floor"].median(),
        "state": times["state"].median(),
        "over_floor": (times["state"] / times["floor"]).median(),
        "over_floor_cpu": (used["state"] / used["floor"]).median(),
        "extended_over_floor": (times["extended"] / times["floor"]).median(),
        "plain_loop_over_state": (loops[0] / loops[1]).median(),
        "row_loop_over_state": looped / times["state"].median(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="append", choices=TABLES)
    parser.add_argument("--backbone", action="append", choices=BACKBONES)
    parser.add_argument("--repeats", type=int, default=11)
    options = parser.parse_args()
    measured = []
    for name in options.table or TABLES:
        for backbone in options.backbone or BACKBONES:
            measured.append(measure(name, backbone, options.repeats))
            print(measured[-1], flush=True)
    found = pd.DataFrame(measured)
    OUT.parent.mkdir(exist_ok=True)
    if OUT.exists():
        keys = ["table", "backbone"]
        found = pd.concat([found, pd.read_csv(OUT)]).drop_duplicates(keys).sort_values(keys)
    found.to_csv(OUT, index=False, float_format="%.4g")
    print(found.to_string(index=False, float_format=lambda value: f"{value:.3g}"))


if __name__ == "__main__":
    main()
