"""`make faults`: strike everywhere, print one table, keep it in results/reliability/faults.csv."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from faults.campaign import Held, campaign
from faults.injection import MODES
from faults.operations import OPERATIONS, prepared, with_older_results
from faults.scenarios import NEED_ROOT, SCENARIOS

RESULTS = Path(__file__).parents[2] / "results" / "reliability" / "faults.csv"
COUNTS = ["points", "held"]
COLUMNS = ["operation", "fault", *COUNTS]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m faults")
    parser.add_argument("--only", action="append", help="an operation or a fault; repeatable")
    parser.add_argument("--every", type=int, default=1, help="strike at every so many points only")
    parser.add_argument("--before", type=Path, help="a folder to begin with that is there already")
    given = parser.parse_args()
    whole = given.every == 1 and given.before is None
    counted = [0, 0]
    print("  ".join(COLUMNS), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch).resolve()
        before = given.before or work / "before"
        if given.before is None:
            # Prepared in a process of its own: this one must fork, and may have no threads.
            in_child(lambda: prepared(before))
            with_older_results(before)
        for name, points in chosen(given.only, before, given.every):
            place = work / name
            place.mkdir()
            lines = table(points(place))
            print(lines.to_string(index=False, header=False), flush=True)
            counted = [n + int(lines[name].sum()) for n, name in zip(counted, COUNTS, strict=True)]
            if whole:
                keep(lines)
    tried, held = counted
    print(f"{tried:,} points, {held:,} held")
    raise SystemExit(0 if held == tried else 1)


def chosen(
    only: list[str] | None, before: Path, every: int
) -> Iterator[tuple[str, Callable[[Path], Iterator[Held]]]]:
    """Yield what is to be tried: a name, and what tries it in a folder."""
    for operation in OPERATIONS:
        if only is None or operation.name in only:
            yield operation.name, partial(campaign, operation, before, every=every)
    for scenario in SCENARIOS:
        if only is not None and scenario.fault not in only:
            continue
        if scenario.run in NEED_ROOT and os.geteuid() != 0:
            print(f"{scenario.fault}: left out, only root may mount a disk")
            continue
        yield scenario.fault, partial(scenario.points, before)


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
    """Put lines into the table, in place of older ones of the same operation and fault."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    if RESULTS.exists():
        known = pd.read_csv(RESULTS)
        lines = pd.concat([known, lines]).drop_duplicates(COLUMNS[:2], keep="last")
    faults = [*MODES, *(scenario.fault for scenario in SCENARIOS)]
    names = [*(operation.name for operation in OPERATIONS), "audit"]
    place = lines["operation"].map(names.index) + len(names) * lines["fault"].map(faults.index)
    lines = lines.iloc[place.argsort(kind="stable")]
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
