"""`make fuzz`: generated inputs, damaged files, answers that must agree; one table of each."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from fuzz import agreement, audits, damage, doors, files, marks
from fuzz.campaign import Tally, chunk, chunks
from fuzz.mended import MENDED
from fuzz.parts import Part

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "reliability"
# What is done already, so that a run that was stopped goes on.
DONE = ROOT / "build" / "fuzz"
PARTS: tuple[Part, ...] = (*doors.PARTS, *files.PARTS, *marks.PARTS, *audits.PARTS)
ALL = 200_000
DAMAGED_FILES = 150


def inputs(cases: int, only: str, again: bool) -> Iterator[dict[str, Any]]:
    """Yield one line for each part: cases, and what came of them."""
    for part in PARTS:
        if only not in part.what:
            continue
        share = max(1, round(part.cases * cases / ALL))
        whole = Tally()
        for number, size in chunks(part, share):
            for name, value in _chunk(part, size, number, again).items():
                getattr(whole, name).update(value)
        for fault, count in whole.faults.most_common():
            print(f"  {count} x {fault}\n      {whole.examples[fault]}", flush=True)
        yield {
            "input": part.what,
            "cases": whole.came["cases"],
            "answered": whole.came["answered"],
            "refused": whole.came["refused"],
            "faults": sum(whole.faults.values()),
            "fixed": len(MENDED.get(part.what, ())),
        }


def _chunk(part: Part, size: int, number: int, again: bool) -> dict[str, Any]:
    path = DONE / f"{''.join(c if c.isalnum() else '-' for c in part.what)}-{number}-{size}.json"
    if path.exists() and not again:
        return dict(json.loads(path.read_text()))
    tally = chunk(part, size, number)
    found = {"came": tally.came, "faults": tally.faults, "examples": tally.examples}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found))
    return found


def shown(name: str, lines: Iterator[dict[str, Any]], *, keep: bool) -> int:
    """Print a table line by line, keep it if it is whole, and return its faults."""
    rows = []
    for line in lines:
        rows.append(line)
        print("  ".join(f"{key}: {value}" for key, value in line.items()), flush=True)
    if not rows:
        return 0
    table = pd.DataFrame(rows)
    if keep:
        RESULTS.mkdir(parents=True, exist_ok=True)
        table.to_csv(RESULTS / f"{name}.csv", index=False, lineterminator="\n")
        if name == "inputs":
            _keep_mended()
    first = table.columns[1]
    print(f"{name}: {table[first].sum():,} {first}, {table['faults'].sum():,} faults\n", flush=True)
    return int(table["faults"].sum())


def _keep_mended() -> None:
    found = [{"input": part, "found and fixed": line} for part in MENDED for line in MENDED[part]]
    table = pd.DataFrame(found)
    table.to_csv(RESULTS / "mended.csv", index=False, lineterminator="\n")


def main() -> None:
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("--cases", type=int, default=ALL, help="generated inputs in all")
    parser.add_argument("--files", type=int, default=DAMAGED_FILES, help="files of each damage")
    parser.add_argument("--pairs", type=int, default=agreement.CASES, help="cases of each relation")
    parser.add_argument("--only", choices=("inputs", "damaged", "agreement"))
    parser.add_argument("--part", default="", help="parts with this text in their name only")
    parser.add_argument("--again", action="store_true", help="forget what is done already")
    given = parser.parse_args()
    faults = 0
    whole = not given.part
    if given.only in (None, "inputs"):
        lines = inputs(given.cases, given.part, given.again)
        faults += shown("inputs", lines, keep=whole and given.cases >= ALL)
    if given.only in (None, "damaged") and whole:
        faults += shown("damaged", damage.lines(given.files), keep=given.files >= DAMAGED_FILES)
    if given.only in (None, "agreement"):
        lines = agreement.lines(given.pairs, given.part)
        faults += shown("agreement", lines, keep=whole and given.pairs >= agreement.CASES)
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    main()
