"""Peak memory of a fit with all candidates on a table of 130,000 x 50.

    python benchmarks/fit_memory.py [--rows 130000] [--backbone NAME]

`FalconDiscover()` on numeric synthetic data of the size of MiniBooNE: all seven candidates in five
folds, the selected one again for every pair of folds, the states of all rows, second opinions, the
ranker and the regions. With `--backbone` only that one. The process that measures does
nothing else: its peak is the largest resident set the system has seen, plus that of the largest
child, if there was one.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import pandas as pd

from falcon_discover import PAPER, FalconDiscover
from falcon_discover.runtime import progress
from synthetic import wide_table

COLUMNS = 50
OUT = Path(__file__).parents[1] / "results" / "performance" / "fit_memory.csv"


def peak_mb() -> float:
    users = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(who).ru_maxrss for who in users) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=130_000)
    parser.add_argument("--backbone", choices=PAPER.candidates, help="this candidate only")
    options = parser.parse_args()
    X, y = wide_table(options.rows, COLUMNS)
    before = peak_mb()
    started, used = time.perf_counter(), time.process_time()
    falcon = FalconDiscover(options.backbone, random_state=0, n_jobs=-1)
    with progress.logged():
        falcon.fit(X, y)
    measured = {
        "rows": options.rows,
        "columns": COLUMNS,
        "candidates": " ".join(falcon.candidates_),
        "selected": falcon.backbone_,
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - used,
        "peak_mb": peak_mb(),
        "table_and_imports_mb": before,
    }
    print(measured)
    OUT.parent.mkdir(exist_ok=True)
    pd.DataFrame([measured]).to_csv(OUT, index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
