"""The ratios of the last measurements side by side, with the bars they are held to.

python benchmarks/ratios.py     # reads results/, measures nothing
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from scale import exponent

RESULTS = Path(__file__).parents[1] / "results"
Line = tuple[str, float, str, bool | None]


def state() -> Iterator[Line]:
    for r in pd.read_csv(RESULTS / "performance" / "state_floor.csv").itertuples():
        case = f"{r.table}, {r.backbone}"
        yield f"state / its floor: {case}", r.over_floor, "<= 1.15", r.over_floor <= 1.15
        for name, looped in (
            ("loop with all rows at once", r.plain_loop_over_state),
            ("loop over rows", r.row_loop_over_state),
        ):
            yield f"{name} / state: {case}", looped, ">= 3", looped >= 3


def peers() -> Iterator[Line]:
    known = pd.read_csv(RESULTS / "performance" / "peers.csv")
    for case, sides in known.groupby("case", sort=False):
        ours = sides.set_index("tool").loc["ours"]
        for r in sides[sides["tool"] != "ours"].itertuples():
            bar = 5 if case == "trustscore" else 1
            ratio = r.seconds / ours["seconds"]
            stopped = " (stopped at its time limit)" if r.stopped else ""
            yield f"{r.tool} / ours: {case}{stopped}", ratio, f">= {bar}", ratio >= bar
            if not r.stopped:
                yield f"{r.tool} / ours, peak memory: {case}", r.peak_mb / ours["peak_mb"], "", None
            if case == "trustscore":
                same = r.spearman > 1 - 1e-6
                yield "alibi and ours, rank correlation", r.spearman, "1", same


def scoring() -> Iterator[Line]:
    runs = pd.read_csv(RESULTS / "scale.csv").sort_values("rows")
    growth, last = exponent(runs, "cpu_seconds"), runs.iloc[-1]
    reach = f"{int(runs['rows'].iloc[1]):,} to {int(last['rows']):,} rows"
    yield f"exponent of growth, {reach}", growth, "1.00 +- 0.05", abs(growth - 1) <= 0.05
    peak = last["peak_mb"] / 1000
    yield f"peak memory of score, GB, {int(last['rows']):,} rows", peak, "< 1.5", peak < 1.5


def fitting() -> Iterator[Line]:
    for r in pd.read_csv(RESULTS / "performance" / "fit_memory.csv").itertuples():
        peak = r.peak_mb / 1000
        case = f"{len(r.candidates.split())} candidates, {r.rows:,} x {r.columns}"
        yield f"peak memory of a fit, GB: {case}", peak, "< 6", peak < 6
    for r in pd.read_csv(RESULTS / "auto_cost.csv").itertuples():
        bar = r.fit_share <= 0.5
        yield f"fitting auto / cross-fitting: adult, {r.backbone}", r.fit_share, "<= 0.50", bar


def main() -> None:
    for part in (state, peers, scoring, fitting):
        try:
            lines = list(part())
        except FileNotFoundError as missing:
            print(f"not measured yet: {Path(str(missing.filename)).name}")
            continue
        for name, value, bar, holds in lines:
            said = {True: "yes", False: "NO", None: ""}[None if holds is None else bool(holds)]
            print(f"{name:<66} {value:>9,.3g}   {bar:<13} {said}")


if __name__ == "__main__":
    main()
