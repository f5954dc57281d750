"""Run the simulations: `python -m benchmarks.claims`, or `make statistics`.

Each area is a module with a function `measure(share)` that yields lines; `share` scales the
number of draws, and lines of less than all of them are printed, not kept. The lines of a release
are kept beside those of the release before, which were measured by the same simulations with that
release installed:

    python -m benchmarks.claims --as before
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
for _library in ("OMP", "OPENBLAS"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import pandas as pd  # noqa: E402

AREAS = (
    "ties",
    "batches",
    "groups",
    "weights",
    "intervals",
    "pooled",
    "conflict",
    "regions",
    "risk",
    "leak",
    "time",
    "monitor",
)
RESULTS = Path("results/statistics")
KEYS = ["area", "claim"]


def main() -> None:
    """Measure the areas asked for, keep the lines and print the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("areas", nargs="*", metavar="area", help=f"of {', '.join(AREAS)}; all")
    asked.add_argument("--as", dest="name", choices=("before", "after"), default="after")
    asked.add_argument("--share", type=float, default=1.0, help="of the draws")
    options = asked.parse_args()
    unknown = set(options.areas) - set(AREAS)
    if unknown:
        asked.error(f"there is no area {unknown.pop()!r}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for area in options.areas or AREAS:
        started = time.perf_counter()
        print(f"{area} ...", flush=True)
        module = import_module(f"benchmarks.claims.{area}")
        lines = pd.DataFrame([asdict(line) for line in module.measure(options.share)])
        if options.share >= 1:
            _keep(lines, area, RESULTS / f"{options.name}.csv")
        else:
            print(lines.to_string(index=False))
        print(f"{area}: {time.perf_counter() - started:.0f} s", flush=True)
    if options.share >= 1 and options.name == "after":
        print(table().to_string(index=False))


def _keep(lines: pd.DataFrame, area: str, path: Path) -> None:
    """Put an area's lines in place of those that were there."""
    if path.exists():
        known = pd.read_csv(path)
        lines = pd.concat([known[known["area"] != area], lines])
    order = {name: place for place, name in enumerate(AREAS)}
    lines = lines.sort_values("area", key=lambda names: names.map(order), kind="stable")
    lines.to_csv(path, index=False, float_format="%.4f")


def table() -> pd.DataFrame:
    """Return claim, nominal, before and after, as they are printed."""
    after = pd.read_csv(RESULTS / "after.csv")
    before = RESULTS / "before.csv"
    known = pd.read_csv(before) if before.exists() else after.iloc[:0]
    both = after.merge(known[[*KEYS, "value"]], on=KEYS, how="left", suffixes=("", "_before"))
    shown = both[["area", "claim", "nominal"]].copy()
    shown["before"] = [f"{v:.3f}" if pd.notna(v) else "" for v in both["value_before"]]
    shown["after"] = [
        f"{line.value:.3f} [{line.low:.3f}, {line.high:.3f}]" for line in both.itertuples()
    ]
    shown["draws"] = both["draws"]
    shown["holds"] = both["holds"].map({True: "yes", False: "NO"})
    return shown


if __name__ == "__main__":
    main()
