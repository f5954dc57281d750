"""Run the tests with every Python there is, and with the lowest and the newest dependencies.

    python scripts/versions.py [--tests tests/storage ...]     # results/reliability/versions.csv

Each pair has an environment of its own in build/versions/, kept from run to run. Pythons that are
not installed are listed as such. The tests are those of `make test`, or the folders given.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "build" / "versions"
RESULT = ROOT / "results" / "reliability" / "versions.csv"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SHOWN = ("numpy", "pandas", "scikit-learn", "pyarrow")
ABSENT = "not installed here"
# Other releases of dependencies warn about each other: what they do counts, not what they say.
TESTS = (
    "-m", "pytest", "-n", "2", "--dist", "loadgroup", "-m", "not slow", "-p", "no:cacheprovider",
    "-o", "filterwarnings=default", "-o", "xfail_strict=false", "--disable-warnings",
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A Python and a set of dependencies."""

    python: str
    dependencies: str

    @property
    def folder(self) -> Path:
        """Return where the environment is."""
        return PLACE / f"{self.python}-{self.dependencies}"

    @property
    def interpreter(self) -> Path:
        """Return the environment's Python."""
        return self.folder / "bin" / "python"


def found(python: str) -> str | None:
    """Return a command that starts a Python, or None where it is not installed."""
    pyenv = sorted(Path("~/.pyenv/versions").expanduser().glob(f"{python}.*/bin/python"))
    for command in (f"python{python}", *map(str, pyenv), sys.executable):
        if shutil.which(command) is None:
            continue
        said = subprocess.run([command, "--version"], capture_output=True, text=True)
        if said.returncode == 0 and said.stdout.startswith(f"Python {python}."):
            return command
    return None


def install(setting: Setting, command: str) -> str:
    """Make an environment; return what went wrong, or nothing."""
    done = setting.folder / ".done"
    if done.exists():
        return ""
    shutil.rmtree(setting.folder, ignore_errors=True)
    subprocess.run([command, "-m", "venv", setting.folder], check=True)
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if setting.dependencies == "lowest":
        pins = setting.folder / "constraints.txt"
        lowest = [sys.executable, ROOT / "scripts" / "lowest.py"]
        pins.write_bytes(subprocess.run(lowest, check=True, capture_output=True).stdout)
        words += ["--constraint", str(pins)]
    asked = [setting.interpreter, *words, "--editable", f"{ROOT}[test]"]
    end = subprocess.run(asked, capture_output=True, text=True)
    if end.returncode:
        return (end.stderr.strip().splitlines() or ["pip failed"])[-1][:120]
    done.touch()
    return ""


def versions(setting: Setting) -> str:
    """Return the versions that decide most."""
    asked = [setting.interpreter, "-m", "pip", "list", "--format", "json"]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    here = {one["name"]: one["version"] for one in json.loads(said)}
    return ", ".join(f"{name} {here[name]}" for name in SHOWN)


def tried(setting: Setting, tests: list[str]) -> dict[str, object]:
    """Run the tests in a setting and return a line of the table."""
    line: dict[str, object] = {
        "Python": setting.python, "dependencies": setting.dependencies, "versions": "",
        "passed": "", "failed": "", "skipped": "", "note": "",
    }  # fmt: skip
    command = found(setting.python)
    if command is None:
        return {**line, "note": ABSENT}
    wrong = install(setting, command)
    if wrong:
        return {**line, "note": f"does not install: {wrong}"}
    line["versions"] = versions(setting)
    log = setting.folder / "tests.log"
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    base = [f"--basetemp={setting.folder / 'scratch'}"]
    with log.open("w") as file:
        subprocess.run(
            [setting.interpreter, *TESTS, *base, *tests],
            cwd=ROOT, env=env, stdout=file, stderr=subprocess.STDOUT,
        )  # fmt: skip
    last = log.read_text().strip().splitlines()[-1]
    for name in ("passed", "failed", "skipped"):
        number = re.search(rf"(\d+) {name}", last)
        line[name] = int(number[1]) if number else 0
    errors = re.search(r"(\d+) errors?", last)
    if errors or not line["passed"]:
        line["note"] = last[:120]
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", nargs="*", default=[], help="folders; all by default")
    parser.add_argument("--only", nargs="*", help="such as 3.13-newest")
    given = parser.parse_args()
    settings = [Setting(PYTHONS[0], "lowest"), *(Setting(p, "newest") for p in PYTHONS)]
    lines = []
    for setting in settings:
        if given.only and setting.folder.name not in given.only:
            continue
        lines.append(tried(setting, given.tests))
        if len(lines) == 1:
            print(" | ".join(lines[0]))
        print(" | ".join(str(value) for value in lines[-1].values()), flush=True)
        if not given.tests:
            keep(lines[-1], [one.folder.name for one in settings])
    if any(line["failed"] or line["note"] not in ("", ABSENT) for line in lines):
        raise SystemExit(1)


def keep(line: dict[str, object], order: list[str]) -> None:
    """Put a line into the table, in place of the older one of the same setting."""
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    known: list[dict[str, object]] = []
    if RESULT.exists():
        with RESULT.open(newline="") as file:
            known = list(csv.DictReader(file))
    by_name = {f"{one['Python']}-{one['dependencies']}": one for one in [*known, line]}
    with RESULT.open("w", newline="") as file:
        table = csv.DictWriter(file, list(line), lineterminator="\n")
        table.writeheader()
        table.writerows(by_name[name] for name in order if name in by_name)


if __name__ == "__main__":
    main()
