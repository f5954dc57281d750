"""Memory and open files of a process that goes on and on, and folders of very many files.

    python benchmarks/life.py [--only batches] [--batches 1000] [--files 10000]

A process that monitors and examines one batch after the other must not grow. Its memory (resident
set) is read after every batch; after a warm-up of a fifth of them, the slope is that of a straight
line through the means of blocks of batches, with the 95% interval of Student's t: neighbouring
batches are not independent, blocks nearly are. It holds if the interval begins at or below zero,
or ends below one kilobyte per batch.

Folders of many files are scored and monitored with the commands' own functions. The seconds for
each file of a folder are compared with those of one a quarter of its size: they hold if they are
less than 1.5 times as many, so that time grows no faster than the number of files.

Results: `results/reliability/life.csv`.
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from falcon_discover import FalconDiscover, datasets
from falcon_discover.exceptions import DataWarning
from falcon_discover.scoring.run import score_files
from falcon_discover.scoring.watch import watch_files

OUT = Path(__file__).parents[1] / "results" / "reliability" / "life.csv"
NUMBERS = ["signal_a", "signal_b", "load", "height"]
BATCH, IN_A_FILE, WEEKS = 50, 4, 8
BLOCKS = 16
KILOBYTES = 1.0
FASTER = 1.5
PAGE = os.sysconf("SC_PAGE_SIZE")


def memory() -> float:
    """Return the resident set of this process in kilobytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1024


def handles() -> int:
    """Return how many files, sockets and pipes this process has open."""
    # The folder that is looked at is one of them.
    return len(list(Path("/proc/self/fd").iterdir())) - 1


def fitted() -> FalconDiscover:
    """Return a small audit."""
    rows = datasets.make_planted(160, random_state=0)
    falcon = FalconDiscover("logistic_regression", tau=0.8, cv=2, random_state=0, n_jobs=1)
    return falcon.fit(rows.X[NUMBERS].fillna(0), rows.y)


def batches(count: int) -> dict[str, object]:
    """Monitor and examine one batch after the other in this process."""
    falcon = fitted()
    rows = datasets.make_planted(20_000, random_state=1).X[NUMBERS].fillna(0)
    used, began = np.empty(count), time.perf_counter()
    before = 0
    for i in range(count):
        batch = rows.sample(BATCH, random_state=i)
        falcon.monitor(batch)
        falcon.examine(batch).review(budget=0.2)
        gc.collect()
        used[i] = memory()
        if i == count // 5:
            before = handles()
    slope, low, high = slope_of(used[count // 5 :])
    after = handles()
    return {
        "what": f"{count:,} batches through monitor and examine, one process",
        "seconds": round(time.perf_counter() - began),
        "figure": f"{slope:+.2f} kB of memory per batch ({low:+.2f} to {high:+.2f}); "
        f"{before} open files after the warm-up, {after} at the end",
        "held": "yes" if (low <= 0 or high < KILOBYTES) and after <= before else "no",
    }


def slope_of(used: np.ndarray) -> tuple[float, float, float]:
    """Return the growth per batch in kilobytes, and its 95% interval."""
    blocks = [block.mean() for block in np.array_split(used, BLOCKS)]
    line = stats.linregress(np.arange(BLOCKS), blocks)
    margin = stats.t.ppf(0.975, BLOCKS - 2) * line.stderr
    size = len(used) / BLOCKS
    return tuple(value / size for value in (line.slope, line.slope - margin, line.slope + margin))


def tiny_files(folder: Path, count: int) -> None:
    """Write many parquet files of a few rows."""
    rows = datasets.make_planted(IN_A_FILE * 500, random_state=2).X[NUMBERS].fillna(0)
    for i in range(count):
        start = IN_A_FILE * (i % 500)
        part = rows.iloc[start : start + IN_A_FILE].assign(week=i % WEEKS)
        part.to_parquet(folder / f"rows-{i:05d}.parquet", index=False)


def many_files(
    name: str, run: Callable[[Path, Path, Path], object], count: int
) -> dict[str, object]:
    """Do something with a folder of many files, and with one of a quarter as many."""
    spent, before, after = {}, 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        audit = Path(scratch, "audit.falcon")
        fitted().save(audit)
        for size in (count // 4, count):
            data = Path(scratch, f"data-{size}")
            data.mkdir()
            tiny_files(data, size)
            before = handles()
            began = time.process_time()
            run(audit, data, Path(scratch, f"out-{size}"))
            spent[size] = time.process_time() - began
            after = handles()
    one, other = (1000 * spent[size] / size for size in (count // 4, count))
    return {
        "what": f"{name}: a folder of {count:,} files of {IN_A_FILE} rows",
        "seconds": round(spent[count]),
        "figure": f"{other:.1f} ms per file ({one:.1f} ms with {count // 4:,} files); "
        f"{before} open files before, {after} after",
        "held": "yes" if other < FASTER * one and after <= before else "no",
    }


def score(audit: Path, data: Path, out: Path) -> None:
    done = score_files(audit, [data], out)
    assert done.parts == done.scored_now == len(list(data.iterdir()))


def monitor(audit: Path, data: Path, out: Path) -> None:
    found = watch_files(audit, [data], out, by="week")
    assert len(found.reports) == WEEKS


def lines(given: argparse.Namespace) -> Iterator[dict[str, object]]:
    if given.only in (None, "batches"):
        yield batches(given.batches)
    if given.only in (None, "score"):
        yield many_files("score", score, given.files)
    if given.only in (None, "monitor"):
        yield many_files("monitor", monitor, given.files // 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("batches", "score", "monitor"))
    parser.add_argument("--batches", type=int, default=1_000)
    parser.add_argument("--files", type=int, default=10_000)
    given = parser.parse_args()
    # What is odd about tiny batches is not the matter here.
    warnings.simplefilter("ignore", DataWarning)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    for line in lines(given):
        print(line, flush=True)
        found = pd.DataFrame([line])
        if OUT.exists():
            found = pd.concat([pd.read_csv(OUT), found]).drop_duplicates("what", keep="last")
        found.to_csv(OUT, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
