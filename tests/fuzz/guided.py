"""Coverage-guided fuzzing of what reads files, with Atheris: `make fuzz-guided`.

Without a target all are run, each in a process of its own, and one table is printed and kept in
results/reliability/guided.csv. Bytes that reach new lines of the package are kept in the corpus
that is begun in build/fuzz; those that crash it are written there too, and belong into tests/corpus
once they are mended.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus"
WORK = ROOT / "build" / "fuzz"
RESULT = ROOT / "results" / "reliability" / "guided.csv"
WHAT = {
    "audit": "saved audits, loaded",
    "contents": "the table of contents of a saved audit",
    "csv": "CSV files, plain and packed",
    "inspect": "saved audits, inspected",
    "marks": "files of marks",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.guided")
    parser.add_argument("target", nargs="?", choices=sorted(WHAT), help="all without one")
    parser.add_argument("--runs", type=int, default=20_000)
    given = parser.parse_args()
    if given.target is None:
        raise SystemExit(everything(given.runs))
    work = WORK / given.target
    work.mkdir(parents=True, exist_ok=True)
    for seed in (CORPUS / given.target).iterdir():
        shutil.copy(seed, work / seed.name)
    warnings.simplefilter("ignore")
    with atheris.instrument_imports(include=["falcon_discover.data", "falcon_discover.storage",
                                             "falcon_discover.monitoring.marks",
                                             "falcon_discover.report.feedback"]):  # fmt: skip
        from fuzz.targets import tried

    def one(content: bytes) -> None:
        tried(given.target, content)

    options = [f"-runs={given.runs}", "-timeout=60", "-rss_limit_mb=4000", "-max_len=20000",
               f"-artifact_prefix={work}/", "-print_final_stats=1", "-seed=1"]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(work)], one)
    atheris.Fuzz()


def everything(runs: int) -> int:
    """Run all targets, print and keep their table, and return how many of them crashed."""
    lines, crashes = [], 0
    for target in sorted(WHAT):
        asked = [sys.executable, "-m", "fuzz.guided", target, "--runs", str(runs)]
        end = subprocess.run(asked, capture_output=True, text=True, errors="replace")
        said = end.stdout + end.stderr
        (WORK / f"{target}.log").write_text(said)
        found = {
            "read": WHAT[target],
            "inputs": last(r"number_of_executed_units:\s+(\d+)", said),
            "branches reached": last(r"\bcov: (\d+)", said),
            "files kept": last(r"\bcorp: (\d+)/", said),
            "crashes": int(end.returncode != 0),
        }
        crashes += end.returncode != 0
        lines.append(found)
        print("  ".join(f"{name}: {value}" for name, value in found.items()), flush=True)
        if end.returncode:
            print("\n".join(said.splitlines()[-30:]))
    with RESULT.open("w", newline="") as file:
        table = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(lines)
    return crashes


def last(pattern: str, said: str) -> int:
    """Return the last number that was printed in such a place; 0 if there is none."""
    numbers = re.findall(pattern, said)
    return int(numbers[-1]) if numbers else 0


if __name__ == "__main__":
    main()
