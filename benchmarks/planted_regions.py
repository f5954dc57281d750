"""Planted regions found again: regions in words beside SliceLine, on the same draws.

    python benchmarks/planted_regions.py [--draws 50] [--out results/regions]

Each draw of `make_planted` is searched by `find_rules` and by the SliceLine package (Sagadeeva and
Boehm, 2021; `pip install sliceline`). SliceLine combines whole cells of columns, so numbers are cut
into quantile cells first, and its weight alpha is 0.9, by which it finds most (0.6 is its default).
It has no test of its own: it reports a slice wherever one has a positive score. Beside it stands
the same slice found on one half of the rows and confirmed on the other by our test; ours takes
turns with the halves, at half the level each. The harder settings, and four times as many draws
without a region, are searched by ours alone.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover import datasets
from falcon_discover.data.table import Table
from falcon_discover.metrics import confidence
from falcon_discover.regions.confirm import excess_p_value, halves, strata
from falcon_discover.regions.rules import find_rules

TAU = 0.90
N_ROWS = 5_000
SHAPES = ("box", "categorical", "missing", "none")
# Share of rows in the region, and of wrong predictions in it: plain to see, and hard.
SETTINGS = ((0.08, 0.5), (0.08, 0.25), (0.04, 0.5))
SLICELINE = ((4, 0.9), (6, 0.9), (10, 0.9), (6, 0.6))
TESTED = (6, 0.9)
RECOVERED = 0.6


def jaccard(one: Any, other: Any) -> float:
    return float((one & other).sum() / max((one | other).sum(), 1))


def ours(X: pd.DataFrame, sure: Any, events: Any, seed: int) -> dict[str, Any]:
    start = time.perf_counter()
    table = Table.from_input(X)
    rules = find_rules(table.frame, table.kinds, sure, events, tau=TAU, seed=seed)
    took = time.perf_counter() - start
    inside = np.zeros(len(X), dtype=bool)
    if rules:
        inside[rules[0].rows] = True
    reported = any(rule.confirmed for rule in rules)
    return {"method": "regions in words", "inside": inside, "reported": reported, "seconds": took}


def cells(X: pd.DataFrame, n_cells: int) -> Any:
    columns = []
    for name in X.columns:
        values = X[name]
        if isinstance(values.dtype, pd.CategoricalDtype):
            codes = values.cat.codes.to_numpy() + 1
        else:
            codes = pd.qcut(values, n_cells, labels=False, duplicates="drop").to_numpy()
            codes = np.where(np.isnan(codes), n_cells, codes) + 1
        columns.append(codes.astype(int))
    return np.column_stack(columns)


def slice_of(coded: Any, rows: Any, events: Any, alpha: float) -> Any:
    from sliceline.slicefinder import Slicefinder

    finder = Slicefinder(alpha=alpha, k=1, max_l=3, min_sup=20, verbose=False)
    finder.fit(coded[rows], events[rows].astype(float))
    inside = np.zeros(len(coded), dtype=bool)
    if len(finder.top_slices_):
        inside[:] = True
        for column, value in enumerate(finder.top_slices_[0]):
            if value is not None:
                inside &= coded[:, column] == value
    return inside


def draws(n_draws: int) -> Iterator[dict[str, Any]]:
    for shape in SHAPES:
        for mass, density in SETTINGS if shape != "none" else SETTINGS[:1]:
            beside = (mass, density) == SETTINGS[0]
            for seed in range(n_draws if shape != "none" else 4 * n_draws):
                planted = datasets.make_planted(
                    N_ROWS, shape=shape, mass=mass, error_density=density, random_state=seed
                )
                sure = confidence(planted.proba)
                events = ((planted.proba >= 0.5) != planted.y) & (sure >= TAU)
                known = {"shape": shape, "mass": mass, "error_density": density, "seed": seed}
                found = [ours(planted.X, sure, events, seed)]
                if beside and seed < n_draws:
                    found += sliceline(planted.X, sure, events, seed)
                for row in found:
                    yield {**known, **row, "jaccard": jaccard(row.pop("inside"), planted.region)}
            print(f"{shape}, mass {mass:g}, error density {density:g}: done", flush=True)


def sliceline(X: pd.DataFrame, sure: Any, events: Any, seed: int) -> Iterator[dict[str, Any]]:
    eligible = sure >= TAU
    kept = halves(Table.from_input(X).frame, events, eligible, seed)[0]
    tested = np.flatnonzero(eligible & kept)
    for n_cells, alpha in SLICELINE:
        name = f"SliceLine, {n_cells} cells, alpha {alpha:g}"
        coded = cells(X, n_cells)
        start = time.perf_counter()
        inside = slice_of(coded, np.flatnonzero(eligible), events, alpha)
        took = time.perf_counter() - start
        yield {"method": name, "inside": inside, "reported": inside.any(), "seconds": took}
        if (n_cells, alpha) == TESTED:
            inside = slice_of(coded, np.flatnonzero(eligible & ~kept), events, alpha)
            p = excess_p_value(events[tested], inside[tested], strata(sure[tested]))
            reported = inside.any() and p <= 0.05
            yield {"method": f"{name}, our test", "inside": inside, "reported": reported}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--out", type=Path, default=Path("results/regions"))
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    rows = pd.DataFrame(draws(options.draws))
    rows["recovered"] = rows["jaccard"] >= RECOVERED
    by = ["shape", "mass", "error_density", "method"]
    table = rows.groupby(by, sort=False).agg(
        draws=("seed", "size"),
        recovered=("recovered", "mean"),
        jaccard=("jaccard", "mean"),
        reported=("reported", "mean"),
        seconds=("seconds", "median"),
    )
    options.out.mkdir(parents=True, exist_ok=True)
    table.round(4).to_csv(options.out / "planted.csv")
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
