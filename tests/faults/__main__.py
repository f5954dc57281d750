"""`make faults`: strike everywhere, print one table, keep it in results/reliability/faults.csv."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from pathlib import Path

from faults.campaign import campaign
from faults.operations import OPERATIONS, prepared

RESULTS = Path(__file__).parents[2] / "results" / "reliability"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m faults")
    parser.add_argument("--only", help="one operation, by name")
    parser.add_argument("--every", type=int, default=1, help="strike at every so many calls only")
    given = parser.parse_args()
    import pandas as pd

    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        # Prepared in a process of its own: this one must fork, and may have no threads.
        child = os.fork()
        if child == 0:
            prepared(work / "before")
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            raise SystemExit("the folder to begin with could not be made")
        for operation in OPERATIONS:
            if given.only not in (None, operation.name):
                continue
            tried: Counter[str] = Counter()
            failed: Counter[str] = Counter()
            (work / operation.name).mkdir()
            for held in campaign(
                operation, work / "before", work / operation.name, every=given.every
            ):
                tried[held.mode] += 1
                if held.wrong:
                    failed[held.mode] += 1
                    print(
                        f"  {held.operation}, call {held.point} ({held.call}), {held.mode}: "
                        f"{held.wrong}",
                        flush=True,
                    )
            for mode, count in tried.items():
                lines.append(
                    {
                        "operation": operation.name,
                        "fault": mode,
                        "points": count,
                        "held": count - failed[mode],
                    }
                )
                print(
                    f"{operation.name:<20} {mode:<14} {count:>4} points, "
                    f"{count - failed[mode]:>4} held",
                    flush=True,
                )
    frame = pd.DataFrame(lines)
    print(f"all: {frame['points'].sum()} points, {frame['held'].sum()} held")
    if given.only is None and given.every == 1:
        RESULTS.mkdir(parents=True, exist_ok=True)
        frame.to_csv(RESULTS / "faults.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
