"""Struck at some of its calls, an operation leaves what was there, or all that is new.

`make faults` strikes at all of them. The campaign forks, so it runs in a process without threads.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.campaign import points
from faults.contents import digest
from faults.injection import FOR_GOOD, ONCE, Fault

PREPARED = """
import sys
from pathlib import Path
from faults.operations import prepared, with_older_results
with_older_results(prepared(Path(sys.argv[1])))
"""
TESTS = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the campaign forks")


def alone(*words: object) -> str:
    """Run Python in a process of its own, and return what it prints."""
    paths = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        env={**os.environ, **one_thread, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def struck(before: Path, name: str, every: int) -> str:
    """Strike at some calls of an operation; return the table."""
    return alone("-m", "faults", "--before", before, "--only", name, "--every", every)


def test_a_run_of_the_benchmark_is_absent_or_whole_wherever_it_is_struck(tmp_path):
    assert "Ctrl-C 5 5" in struck(tmp_path, "bench run", every=4)


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """A folder with rows, audits and older results."""
    folder = tmp_path_factory.mktemp("faults") / "before"
    alone("-c", PREPARED, folder)
    return folder


@pytest.mark.parametrize("name", ["save", "monitor"])
def test_results_are_the_old_or_the_new_ones_wherever_a_command_is_struck(before, name):
    assert "Ctrl-C" in struck(before, name, every=5)


def test_a_fault_strikes_at_its_call_and_nowhere_else(tmp_path):
    for mode, failed in ((ONCE, [2]), (FOR_GOOD, [2, 3, 4])):
        found = []
        with Fault(tmp_path, at=2, mode=mode).watching() as fault:
            for number in range(1, 5):
                try:
                    (tmp_path / f"{mode} {number}").mkdir()
                except OSError:
                    found.append(number)
            Path(os.devnull).read_bytes()
        assert found == failed
        assert len(fault.calls) == 4


def test_of_many_writes_into_one_file_the_first_two_and_the_last_are_struck():
    assert points(["open a", *["write a"] * 5, "write b", "flush b"]) == [1, 2, 3, 6, 7, 8]


def test_a_damaged_audit_is_not_taken_for_a_whole_one(tmp_path):
    path = tmp_path / "a.falcon"
    path.write_bytes(b"PK half of it")
    assert digest(path).startswith("damaged")
