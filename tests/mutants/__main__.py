"""`make mutants`: change one place at a time, run the tests that reach it, list what survives.

    python -m mutants [--each 30] [--seed 0] [--work build/mutants]

The tests of the rooms run once, and which lines each of them reaches is kept. Then places are
drawn from each group of modules; a process of its own imports the changed module and runs the
tests that reach the line, the quickest first, until one fails. What is done is kept in the work
folder: the same command goes on. The results are `results/reliability/mutants.csv` and
`mutants_left.csv`, the changes that no test notices; `EXPLAINED` says which of them are harmless,
and why.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "falcon_discover"
RESULTS = ROOT / "results" / "reliability"
GROUPS = {
    "metrics": ["metrics/*.py"],
    "budget": ["evaluation/bounds.py", "evaluation/budget.py", "evaluation/betting.py"],
    "rankers": ["rankers/*.py"],
    "storage": ["storage/*.py"],
    "monitoring": [
        "monitoring/alarm.py", "monitoring/baseline.py", "monitoring/calibration_watch.py",
        "monitoring/cells.py", "monitoring/drift.py", "monitoring/estimate.py",
        "monitoring/statistics.py", "monitoring/sums.py",
    ],
}  # fmt: skip
ROOMS = ("metrics", "evaluation", "rankers", "storage", "monitoring")
# Tests, and the examples of docstrings.
TESTS = [f"{place}/{room}" for room in ROOMS for place in ("tests", "src/falcon_discover")]
# Seconds: of the tests that one mutant gets; of the processor until it counts as hanging; and until
# it does so without the processor.
ENOUGH, PATIENCE, STANDSTILL = 40.0, 240, 1_200.0
# What a change that no test fails on is called in the table.
UNNOTICED = {"survives": "not noticed", "not reached": "not reached"}
QUIET = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"]


Reached = dict[str, dict[str, list[str]]]


def reached(work: Path) -> tuple[Reached, dict[str, float]]:
    """Return for each file and line the tests that reach it, the quickest first, and their time."""
    # Lines move: what was reached is known of one version of the code and its tests only.
    files = sorted([*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
    version = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    kept = work / f"reached-{version}.json"
    if not kept.exists():
        data, report = work / "coverage", work / "tests.xml"
        words = [
            sys.executable, "-m", "pytest", *QUIET, "-m", "not slow", f"--cov={SOURCE}",
            "--cov-context=test", "--cov-report=", f"--junit-xml={report}", "-o",
            "junit_family=xunit1", f"--basetemp={work / 'scratch'}", *TESTS,
        ]  # fmt: skip
        subprocess.run(words, cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(data)}, check=True)
        kept.write_text(json.dumps(_by_line(data, report)))
    found = json.loads(kept.read_text())
    return found["lines"], found["took"]


def _by_line(data: Path, report: Path) -> dict[str, object]:
    from xml.etree import ElementTree

    from coverage import CoverageData

    took = {
        f"{case.get('file')}::{case.get('name')}": float(case.get("time", 0))
        for case in ElementTree.parse(report).iter("testcase")
    }
    known = CoverageData(str(data))
    known.read()
    found = {}
    for path in known.measured_files():
        lines = {}
        for number, contexts in known.contexts_by_lineno(path).items():
            tests = {context.rpartition("|")[0] for context in contexts if "|" in context}
            lines[str(number)] = sorted(tests, key=lambda name: took.get(name, 1.0))
        found[str(Path(path).relative_to(ROOT))] = lines
    return {"lines": found, "took": took}


def fate(path: Path, source: str, tests: list[str], work: Path) -> str:
    """Return "killed", "hangs" or "survives" for a changed module and the tests that reach it."""
    child = os.fork()
    if child == 0:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
        os._exit(_tested(path, source, tests, work))
    until = time.monotonic() + STANDSTILL
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            ended = {0: "survives", -signal.SIGKILL: "hangs", -signal.SIGXCPU: "hangs"}
            return ended.get(code, "killed")
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hangs"


def _tested(path: Path, source: str, tests: list[str], work: Path) -> int:
    import importlib.abc
    import importlib.util

    import pytest

    name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)

    class Changed(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
        def find_spec(self, wanted: str, where: object, target: object = None) -> object:
            if wanted != name.removesuffix(".__init__"):
                return None
            inside = [str(path.parent)] if path.stem == "__init__" else None
            return importlib.util.spec_from_file_location(
                wanted, path, loader=self, submodule_search_locations=inside
            )

        def get_filename(self, wanted: str) -> str:
            return str(path)

        def get_data(self, asked: str) -> bytes:
            return source.encode()

        def path_stats(self, asked: str) -> dict[str, int]:
            # No bytecode of the changed program may be kept.
            raise OSError

    sys.dont_write_bytecode = True
    sys.meta_path.insert(0, Changed())  # type: ignore[arg-type]
    os.chdir(ROOT)
    scratch = work / f"scratch-{os.getpid()}"
    # Plain asserts: pytest reads modules that it is given by name, as examples are, by itself.
    code = pytest.main([*QUIET, "-x", "--assert=plain", f"--basetemp={scratch}", *tests])
    subprocess.run(["rm", "-rf", scratch], check=False)
    return int(code)


def main() -> None:
    from mutants.explained import why
    from mutants.mutate import mutants

    parser = argparse.ArgumentParser(prog="python -m mutants")
    parser.add_argument("--each", type=int, default=30, help="of each group")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "mutants")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    lines_of, took = reached(given.work)
    # Loaded once, before each process is made: only our own modules are read again.
    import pandas  # noqa: F401
    import sklearn.ensemble
    import sklearn.linear_model  # noqa: F401

    log = given.work / "fates.jsonl"
    known = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    fates = {one["key"]: one["fate"] for one in known}
    table, left = [], []
    for group, patterns in GROUPS.items():
        files = sorted({path for pattern in patterns for path in SOURCE.glob(pattern)})
        every = [mutant for path in files for mutant in mutants(path)]
        drawn = random.Random(given.seed).sample(every, min(given.each, len(every)))
        counted: Counter[str] = Counter()
        for mutant in drawn:
            where = str(mutant.path.relative_to(ROOT))
            key = hashlib.sha256(f"{where}\n{mutant.source}".encode()).hexdigest()[:16]
            if fates.get(key) in (None, *UNNOTICED):
                tests = _enough(lines_of.get(where, {}), mutant.line, took)
                fates[key] = (
                    fate(mutant.path, mutant.source, tests, given.work) if tests else "not reached"
                )
                with log.open("a") as file:
                    file.write(json.dumps({"key": key, "fate": fates[key]}) + "\n")
            end = fates[key]
            line = mutant.path.read_text(encoding="utf-8").splitlines()[mutant.line - 1]
            reason = why(where.removeprefix("src/falcon_discover/"), mutant.change, line)
            if end in UNNOTICED:
                end = "harmless" if reason else UNNOTICED[end]
                left.append(
                    {"group": group, "place": f"{where}:{mutant.line}", "change": mutant.change,
                     "verdict": end, "why": reason}
                )  # fmt: skip
                print(f"  {end}: {where}:{mutant.line} {mutant.change}", flush=True)
            counted[end] += 1
        table.append(
            {
                "modules": group, "places": len(every), "tried": len(drawn),
                "noticed": counted["killed"] + counted["hangs"],
                "harmless": counted["harmless"],
                "not noticed": sum(counted[end] for end in UNNOTICED.values()),
            }
        )  # fmt: skip
        print(table[-1], flush=True)
    import pandas as pd

    RESULTS.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(table).to_csv(RESULTS / "mutants.csv", index=False, lineterminator="\n")
    pd.DataFrame(left, columns=["group", "place", "change", "verdict", "why"]).to_csv(
        RESULTS / "mutants_left.csv", index=False, lineterminator="\n"
    )


def _enough(lines: dict[str, list[str]], line: int, took: dict[str, float]) -> list[str]:
    """Return the quickest tests that reach a line, as many as there is time for.

    What runs when a module is loaded belongs to no test: then those that reach the module.
    """
    tests = lines.get(str(line)) or {name for names in lines.values() for name in names}
    chosen, spent = [], 0.0
    for name in sorted(tests, key=lambda name: took.get(name, 1.0)):
        spent += took.get(name, 1.0)
        if chosen and spent > ENOUGH:
            break
        chosen.append(name)
    return chosen


if __name__ == "__main__":
    main()
