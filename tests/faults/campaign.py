"""Every operation that writes, struck at every call in turn, until it passes."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from unittest.mock import Mock, patch

from faults.contents import everything, snapshot
from faults.injection import CTRL_C, INTERRUPTED, KILL, KILLED, MODES, Fault

# More than any single attempt needs on a busy machine; longer is a hang.
PATIENCE = 600.0
LIBRARIES = ("falcon_discover", "pandas", "pyarrow", "sklearn", "scipy", "skops", "jinja2")


@dataclass(frozen=True)
class Operation:
    """Something that writes files into a folder.

    Parameters
    ----------
    run : does it, and returns an exit code
    sets : files (by regular expression) that must be of one version: all old, or all new
    last : the file that says that all is done; everything else is new where it is
    every : strike at every so many calls only; more than 1 where an attempt takes seconds
    """

    name: str
    run: Callable[[Path], int]
    sets: tuple[str, ...] = ()
    last: str | None = None
    every: int = 1


@dataclass(frozen=True)
class Attempt:
    """What came of one attempt."""

    code: int
    text: str
    calls: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Held:
    """One fault point: where it struck, and what was wrong afterwards ("" if nothing)."""

    operation: str
    mode: str
    point: int
    call: str
    wrong: str


def attempt(run: Callable[[Path], int], folder: Path, fault: Fault) -> Attempt:
    """Run an operation in a process of its own, with a fault in its way."""
    with tempfile.TemporaryDirectory() as scratch:
        told, counted = Path(scratch, "told"), Path(scratch, "calls")
        child = os.fork()
        if child == 0:
            _in_child(run, folder, fault, told, counted)
        code = waited(child)
        noted = json.loads(counted.read_text()) if counted.exists() else [[], []]
        text = told.read_text(errors="replace") if told.exists() else ""
        return Attempt(code, text, *map(tuple, noted))


def _in_child(
    run: Callable[[Path], int], folder: Path, fault: Fault, told: Path, counted: Path
) -> None:
    code = 1
    try:
        file = os.open(told, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        # Scratch files of libraries count too.
        os.environ["TMPDIR"] = tempfile.tempdir = str(_scratch(folder))
        with _one_moment(), fault.watching():
            code = run(folder)
    except SystemExit as end:
        code = int(end.code or 0)
    except KeyboardInterrupt:
        # What a program gets that calls a method; commands answer with this exit code themselves.
        print("KeyboardInterrupt")
        code = INTERRUPTED
    except BaseException:
        traceback.print_exc()
        code = 99
    finally:
        try:
            counted.write_text(json.dumps([fault.calls, list(sys.modules)]))
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            # Whatever happens: nothing of the parent may be done twice.
            os._exit(code)


@contextmanager
def _one_moment() -> Iterator[None]:
    """Let all reports be made at the same time and in no time, so that they can be compared."""
    from falcon_discover.report import build

    clock = Mock(now=lambda zone: datetime(2026, 1, 1, tzinfo=zone))
    with patch.object(build, "datetime", clock), patch.object(time, "perf_counter", lambda: 0.0):
        yield


def _scratch(folder: Path) -> Path:
    place = folder / ".scratch"
    place.mkdir(exist_ok=True)
    return place


def waited(child: int) -> int:
    """Return the exit code of a child; -1 if it had to be ended because it hangs."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def _as_read(folder: Path) -> dict[str, str]:
    """Return what is there for a command that reads the folder: it settles what was left."""
    from falcon_discover.runtime.atomic import settle

    for inside in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        settle(inside)
    return snapshot(folder)


def campaign(
    operation: Operation,
    before: Path,
    work: Path,
    *,
    every: int = 1,
    modes: tuple[str, ...] = MODES,
) -> Iterator[Held]:
    """Strike at each call of an operation in turn, in each way, and look at what is left.

    Parameters
    ----------
    before : the folder as it is before the operation
    work : an empty folder to try it in
    every : strike at every so many of the operation's points only, where there is no time for all
    """
    clean = fresh(before, work)
    old = snapshot(clean)
    whole = attempt(operation.run, clean, Fault(clean))
    if whole.code:
        raise RuntimeError(f"{operation.name} fails by itself: {whole.text}")
    new = snapshot(clean)
    import_all(whole.modules)
    # A new start from a folder in the same state was tried before.
    restarted: dict[str, str] = {}
    for point in points(whole.calls)[:: every * operation.every]:
        for mode in modes:
            folder = fresh(before, work)
            struck = attempt(operation.run, folder, Fault(folder, point, mode))
            left = everything(folder)
            wrong = _after_fault(struck, mode, _as_read(folder), old, new, operation)
            if left not in restarted:
                again = attempt(operation.run, folder, Fault(folder))
                restarted[left] = _after_restart(again, snapshot(folder), new)
            wrong = wrong or restarted[left]
            yield Held(operation.name, mode, point, whole.calls[point - 1], wrong)


def points(calls: Sequence[str]) -> list[int]:
    """Return the numbers of the calls to strike at.

    Of many writes into one file, one after the other, these are the first two and the last.
    """
    chosen = []
    for _, run in groupby(range(len(calls)), lambda i: calls[i]):
        numbers = [i + 1 for i in run]
        chosen += numbers if len(numbers) < 4 else [*numbers[:2], numbers[-1]]
    return chosen


def import_all(modules: tuple[str, ...]) -> None:
    """Import what a child has imported, so that the next one need not."""
    for name in modules:
        if name.partition(".")[0] in LIBRARIES:
            with suppress(Exception):  # some exist only while they are imported by others
                importlib.import_module(name)


def fresh(before: Path, work: Path) -> Path:
    """Return a copy of a folder to try something in; times of files are kept."""
    folder = work / "here"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(before, folder)
    return folder


def _after_fault(
    struck: Attempt,
    mode: str,
    now: dict[str, str],
    old: dict[str, str],
    new: dict[str, str],
    operation: Operation,
) -> str:
    if struck.code == -1:
        return "hangs"
    expected = {KILL: (0, KILLED), CTRL_C: (0, INTERRUPTED)}.get(mode, (0, 1))
    if struck.code not in expected:
        return f"exit code {struck.code}: {struck.text[-1500:]}"
    if "Traceback" in struck.text:
        return f"a traceback: {struck.text[-1500:]}"
    if mode != KILL and struck.code and not struck.text.strip():
        return "no sentence"
    for name, digest in now.items():
        if digest not in (old.get(name), new.get(name)):
            return f"{name} is neither the old nor the new one"
    for name in old:
        if name not in now:
            return f"{name} is lost"
    if operation.last is not None and now.get(operation.last) == new[operation.last]:
        missing = [name for name in new if now.get(name) != new[name]]
        if missing and old.get(operation.last) != new[operation.last]:
            return f"{operation.last} is there, and {missing[0]} is not"
    for pattern in operation.sets:
        names = [name for name in new if re.fullmatch(pattern, name)]
        versions = {
            "old" if now.get(name) == old.get(name) else "new"
            for name in names
            if old.get(name) != new[name]
        }
        if len(versions) > 1:
            return f"some of {pattern} are old and some new"
    if mode != KILL and struck.code == 0 and now != new:
        return "exit code 0, and the result is not there"
    return ""


def _after_restart(again: Attempt, now: dict[str, str], new: dict[str, str]) -> str:
    if again.code:
        return f"the next start fails: {again.text[-1500:]}"
    if now != new:
        other = [name for name in {*now, *new} if now.get(name) != new.get(name)]
        return f"the next start leaves other results: {', '.join(sorted(other))}"
    return ""
