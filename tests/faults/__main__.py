"""`make faults`: strike everywhere, print one table, keep it in results/reliability/faults.csv."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from faults.campaign import Held, campaign
from faults.operations import OPERATIONS, prepared, with_older_results

RESULTS = Path(__file__).parents[2] / "results" / "reliability" / "faults.csv"
COLUMNS = ["operation", "fault", "points", "held"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m faults")
    parser.add_argument("--only", help="one operation, by name")
    parser.add_argument("--every", type=int, default=1, help="strike at every so many calls only")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch).resolve()
        before = work / "before"
        # Prepared in a process of its own: this one must fork, and may have no threads.
        in_child(lambda: prepared(before))
        with_older_results(before)
        for operation in OPERATIONS:
            if given.only not in (None, operation.name):
                continue
            (work / operation.name).mkdir()
            lines = table(campaign(operation, before, work / operation.name, every=given.every))
            print(lines.to_string(index=False, header=False), flush=True)
            if given.every == 1:
                keep(lines)


def table(points: Iterable[Held]) -> pd.DataFrame:
    """Return how many points held, by operation and fault; say what was wrong with the others."""
    found = []
    for point in points:
        if point.wrong:
            where = f"{point.operation}, call {point.point} ({point.call}), {point.mode}"
            print(f"  {where}: {point.wrong}", file=sys.stderr, flush=True)
        found.append((point.operation, point.mode, 1, int(not point.wrong)))
    lines = pd.DataFrame(found, columns=COLUMNS)
    return lines.groupby(COLUMNS[:2], sort=False, as_index=False).sum()


def keep(lines: pd.DataFrame) -> None:
    """Put the lines of an operation into the table, in place of older ones."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    if RESULTS.exists():
        known = pd.read_csv(RESULTS)
        known = known[~known["operation"].isin(lines["operation"])]
        lines = pd.concat([known, lines])
    order = [operation.name for operation in OPERATIONS]
    places = [order.index(name) if name in order else len(order) for name in lines["operation"]]
    lines = lines.iloc[np.argsort(places, kind="stable")]
    lines.to_csv(RESULTS, index=False, lineterminator="\n")


def in_child(work: Callable[[], object]) -> None:
    """Do something in a process of its own, or end this one too."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise SystemExit("the folder to begin with could not be made")


if __name__ == "__main__":
    main()
