"""What scoring costs by number of reference rows, columns and model.

    python benchmarks/sizing.py [--rows 20000] [--model NAME]     # results/performance/sizing.csv

Each case is an audit on synthetic numbers (as in `scale.py`), saved and used by
`falcon-discover score` in a process of its own. Processor seconds beyond the start of the program,
which is measured with one row, are divided by the rows: the cost of a row, from which core-hours
follow. The faster of two runs counts.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from falcon_discover import FalconDiscover
from scale import table, use, write

REPEATS = 2
CASES = (
    ("xgboost", 10_000, 20),
    ("xgboost", 40_000, 20),
    ("xgboost", 10_000, 50),
    ("logistic_regression", 10_000, 20),
    ("hist_gradient_boosting", 10_000, 20),
    ("random_forest", 10_000, 20),
)
OUT = Path(__file__).parents[1] / "results" / "performance" / "sizing.csv"


def measure(backbone: str, reference: int, columns: int, rows: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        audit = folder / "audit.falcon"
        falcon = FalconDiscover(backbone, random_state=0, n_jobs=-1)
        falcon.fit(*table(reference, seed=0, columns=columns)).save(audit)
        best = {}
        for count in (1, rows):
            data = folder / f"{count}.parquet"
            write(data, count, columns)
            runs = [use("score", audit, data, folder / f"{count}-{i}") for i in range(REPEATS)]
            best[count] = min(runs, key=lambda run: run["cpu_seconds"])
        return {
            "model": backbone,
            "reference_rows": reference,
            "columns": columns,
            "rows": rows,
            "start_cpu_seconds": best[1]["cpu_seconds"],
            "cpu_seconds": best[rows]["cpu_seconds"],
            "microseconds_per_row": 1e6
            * (best[rows]["cpu_seconds"] - best[1]["cpu_seconds"])
            / rows,
            "peak_mb": best[rows]["peak_mb"],
            "audit_mb": audit.stat().st_size / 1e6,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--model", help="this one only; the others' figures are kept")
    options = parser.parse_args()
    keys = ["model", "reference_rows", "columns"]
    for case in CASES:
        if options.model in (None, case[0]):
            found = pd.DataFrame([measure(*case, options.rows)])
            print(found.to_string(index=False), flush=True)
            if OUT.exists():
                found = pd.concat([pd.read_csv(OUT), found]).drop_duplicates(keys, keep="last")
            OUT.parent.mkdir(exist_ok=True)
            found.sort_values(keys).to_csv(OUT, index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
