"""Scoring or monitoring from parquet: time, processor time and peak memory by number of rows.

    python benchmarks/scale.py [ROWS ...]     # results/scale.csv; 10000 100000 1000000 by default
    python benchmarks/scale.py --command monitor 1e6 1e7                # results/scale_monitor.csv

An XGBoost model of the library on 20 numeric columns, audited on 10,000 rows, saved, and used by
`falcon-discover` in a process of its own. The start of the program is measured with one row
and subtracted before the exponent of growth is fitted. Small sizes are run three times and the
fastest counts. Other sizes in the results are kept, so that a long run can be added later.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from falcon_discover import FalconDiscover

COLUMNS = 20
REFERENCE_ROWS = 10_000
SIZES = (10_000, 100_000, 1_000_000)
CHUNK = 100_000
REPEATS = 3
REPEATED_UP_TO = 100_000
PEAK_OF = Path(__file__).with_name("peak_of.py")
RESULTS = Path(__file__).parents[1] / "results"
FILES = {"score": "scale.csv", "monitor": "scale_monitor.csv"}


def table(rows: int, seed: int, columns: int = COLUMNS) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    odds = 2.0 * X[:, 0] - 1.5 * X[:, 1] + X[:, 2] * X[:, 3] + np.abs(X[:, 4]) + X[:, 5] ** 2 - 2
    y = rng.uniform(size=rows) < 1 / (1 + np.exp(-2 * odds))
    return pd.DataFrame(X, columns=[f"c{i:02d}" for i in range(columns)]), y.astype(int)


def write(path: Path, rows: int, columns: int = COLUMNS) -> None:
    writer = None
    for number, start in enumerate(range(0, rows, CHUNK)):
        X, _ = table(min(CHUNK, rows - start), seed=1000 + number, columns=columns)
        chunk = pa.Table.from_pandas(X, preserve_index=False)
        writer = writer or pq.ParquetWriter(path, chunk.schema)
        writer.write_table(chunk)
    assert writer is not None
    writer.close()


def use(command: str, audit: Path, data: Path, out: Path) -> dict[str, float]:
    peak = out.with_suffix(".peak")
    words = [sys.executable, PEAK_OF, peak, command, audit, data, "--out", out]
    started = time.perf_counter()
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed on {data}")
    return {
        "seconds": time.perf_counter() - started,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_mb": float(peak.read_text()),
    }


def eligible_share(command: str, out: Path) -> float:
    if command == "monitor":
        batches = pd.read_csv(out / "batches.csv")
        return float(batches["eligible"].sum() / batches["rows"].sum())
    scores = pq.read_table(out, columns=["confidence"])["confidence"].to_numpy()
    return float((scores >= 0.9).mean())


def measure(command: str, sizes: list[int]) -> pd.DataFrame:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        falcon = FalconDiscover("xgboost", random_state=0, n_jobs=2)
        falcon.fit(*table(REFERENCE_ROWS, seed=0)).save(folder / "audit.falcon")
        measured = []
        for rows in (1, *sizes):
            data, out = folder / f"{rows}.parquet", folder / f"out-{rows}-0"
            write(data, rows)
            repeats = range(REPEATS if rows <= REPEATED_UP_TO else 1)
            runs = [
                use(command, folder / "audit.falcon", data, folder / f"out-{rows}-{i}")
                for i in repeats
            ]
            found = min(runs, key=lambda run: run["cpu_seconds"])
            measured.append({"rows": rows, **found, "eligible_share": eligible_share(command, out)})
            print(measured[-1], flush=True)
            data.unlink()
    return pd.DataFrame(measured)


def exponent(runs: pd.DataFrame, name: str) -> float:
    """Return the exponent of growth with the rows, beyond the start of the program."""
    start, grown = runs.iloc[0], runs.iloc[1:]
    return float(np.polyfit(np.log(grown["rows"]), np.log(grown[name] - start[name]), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", type=float, default=list(SIZES))
    parser.add_argument("--command", choices=list(FILES), default="score")
    given = parser.parse_args()
    measured = measure(given.command, [int(rows) for rows in given.rows])
    path = RESULTS / FILES[given.command]
    if path.exists():
        before = pd.read_csv(path)
        measured = pd.concat([before[~before["rows"].isin(measured["rows"])], measured])
    measured = measured.sort_values("rows")
    measured.to_csv(path, index=False, float_format="%.4g")
    print(measured.to_string(index=False, float_format=lambda v: f"{v:,.2f}"))
    for name in ("seconds", "cpu_seconds"):
        print(f"exponent of growth, {name}: {exponent(measured, name):.3f}")


if __name__ == "__main__":
    main()
