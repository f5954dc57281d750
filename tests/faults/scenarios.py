"""Faults of the machine rather than of one call: full and read-only disks, rivals, memory, Dask."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from faults import clusters
from faults.campaign import PATIENCE, Attempt, Held, Operation, attempt, fresh, import_all
from faults.contents import snapshot
from faults.injection import KILL, Fault
from faults.operations import FIT, MONITOR, OPERATIONS, SCORE

BY_NAME = {operation.name: operation for operation in OPERATIONS}
# Bytes that are left on a full disk, and that a file may have at most.
LEFT = (0, 4096, 49152)
LIMITS = (2048, 16384, 49152)
FIRST_PART = {"score": "scores/part-00000.parquet", "monitor": "watched/_parts/part-00000.npz"}
SHARES = (0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Scenario:
    """A fault, what it is tried on, and what says whether it held ("" if it did)."""

    fault: str
    operations: tuple[str, ...]
    run: Callable[[str, Path, Path], Iterator[str]]

    def points(self, before: Path, work: Path) -> Iterator[Held]:
        """Try it on each operation."""
        for name in self.operations:
            for number, wrong in enumerate(self.run(name, before, work), start=1):
                yield Held(name, self.fault, number, self.fault, wrong)


def _refused(found: Attempt, now: dict[str, str], old: dict[str, str], words: str = "") -> str:
    """Return what is wrong if an operation should have said why it failed and left all as it was.

    What is new may be there: finished parts are kept.
    """
    if found.code != 1 or "Traceback" in found.text or words not in found.text:
        return f"exit code {found.code}: {found.text[-1500:]}"
    changed = [name for name in old if now.get(name) != old[name]]
    return f"{changed[0]} is not as it was" if changed else ""


def _old_new(operation: Operation, before: Path, work: Path) -> tuple[dict[str, str], ...]:
    clean = fresh(before, work)
    old = snapshot(clean)
    done = attempt(operation.run, clean, Fault(clean))
    if done.code:
        raise RuntimeError(f"{operation.name} fails by itself: {done.text}")
    import_all(done.modules)
    return old, snapshot(clean)


def _then_passes(operation: Operation, folder: Path, new: dict[str, str]) -> str:
    again = attempt(operation.run, folder, Fault(folder))
    if again.code or snapshot(folder) != new:
        return f"the next start fails or leaves other results: {again.text[-1500:]}"
    return ""


def long_files(name: str, before: Path, work: Path) -> Iterator[str]:
    """Let no file grow beyond a limit: the system itself fails the write."""
    operation = BY_NAME[name]
    old, new = _old_new(operation, before, work)

    def limited(limit: int, folder: Path) -> int:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        try:
            return operation.run(folder)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    for limit in LIMITS:
        folder = fresh(before, work)
        found = attempt(partial(limited, limit), folder, Fault(folder))
        now = snapshot(folder)
        passed = found.code == 0 and now == new
        wrong = "" if passed else _refused(found, now, old, "File too large")
        yield wrong or _then_passes(operation, folder, new)


@contextmanager
def disk(before: Path, work: Path, spare: int) -> Iterator[Path]:
    """Mount a disk of its own with the folder on it and some bytes to spare."""
    place = work / "disk"
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(place)], check=True)
    try:
        folder = place / "here"
        shutil.copytree(before, folder)
        (folder / ".scratch").mkdir()
        about = os.statvfs(place)
        used = (about.f_blocks - about.f_bfree) * about.f_frsize
        # A limit of nothing at all would be no limit.
        remount(place, f"size={used + spare}")
        yield folder
    finally:
        subprocess.run(["umount", str(place)], check=True)


def remount(place: Path, how: str) -> None:
    """Change how a disk is mounted."""
    subprocess.run(["mount", "-o", f"remount,{how}", str(place)], check=True)


def full_disk(name: str, before: Path, work: Path) -> Iterator[str]:
    """Leave so many bytes on a disk, then make room."""
    operation = BY_NAME[name]
    old, new = _old_new(operation, before, work)
    for spare in LEFT:
        with disk(before, work, spare) as folder:
            found = attempt(operation.run, folder, Fault(folder))
            now = snapshot(folder)
            passed = found.code == 0 and now == new
            wrong = "" if passed else _refused(found, now, old, "No space left on device")
            remount(folder.parent, "size=64m")
            yield wrong or _then_passes(operation, folder, new)


def read_only(name: str, before: Path, work: Path) -> Iterator[str]:
    """Forbid every write, then allow it again."""
    operation = BY_NAME[name]
    old, new = _old_new(operation, before, work)
    with disk(before, work, 2**26) as folder:
        remount(folder.parent, "ro")
        found = attempt(operation.run, folder, Fault(folder))
        wrong = _refused(found, snapshot(folder), old)
        remount(folder.parent, "rw")
        yield wrong or _then_passes(operation, folder, new)


# What lets root write where nobody may: to override modes, and to be taken for any owner.
OVERRIDE = (1 << 1) | (1 << 2) | (1 << 3)


def _as_anybody() -> None:
    """Give up what sets root above the modes of files; for the rest of this process."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    if libc.capget(head, data):
        raise OSError(ctypes.get_errno(), "capget")
    for place in (0, 1, 2):
        data[place] &= ~OVERRIDE
    if libc.capset(head, data):
        raise OSError(ctypes.get_errno(), "capset")


def no_permission(name: str, before: Path, work: Path) -> Iterator[str]:
    """Take away the right to write, then give it back."""
    operation = BY_NAME[name]
    old, new = _old_new(operation, before, work)
    folder = fresh(before, work)
    (folder / ".scratch").mkdir(exist_ok=True)

    def allow(write: bool) -> None:
        for path in (folder, *folder.rglob("*")):
            if path.name != ".scratch":
                mode = 0o555 if path.is_dir() else 0o444
                path.chmod(mode | (0o200 if write else 0))

    def run(place: Path) -> int:
        _as_anybody()
        return operation.run(place)

    allow(write=False)
    found = attempt(run, folder, Fault(folder))
    allow(write=True)
    yield _refused(found, snapshot(folder), old) or _then_passes(operation, folder, new)


def rivals(name: str, before: Path, work: Path) -> Iterator[str]:
    """Start the same operation twice at the same time, in the same folder."""
    operation = BY_NAME[name]
    _, new = _old_new(operation, before, work)
    for delay in (0.0, 0.1, 0.3):
        folder = fresh(before, work)

        def second(place: Path, wait: float = delay) -> int:
            time.sleep(wait)
            return operation.run(place)

        child = os.fork()
        if child == 0:
            other = attempt(second, folder, Fault(folder))
            said = "Traceback" not in other.text and (other.code == 0 or bool(other.text.strip()))
            os._exit(other.code if said else 99)
        first = attempt(operation.run, folder, Fault(folder))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if {first.code, code} - {0, 1} or "Traceback" in first.text:
            yield f"exit codes {first.code} and {code}: {first.text[-1500:]}"
        elif first.code and code:
            yield f"both gave way: {first.text[-1500:]}"
        elif snapshot(folder) != new:
            yield "the result is not that of one of them"
        else:
            yield ""


def _half_done(operation: Operation, before: Path, work: Path) -> Path:
    """Kill an operation before its last part is in place."""
    clean = fresh(before, work)
    whole = attempt(operation.run, clean, Fault(clean))
    import_all(whole.modules)
    replaced = [
        i for i, call in enumerate(whole.calls, start=1) if call.startswith("replace .part-")
    ]
    folder = fresh(before, work)
    attempt(operation.run, folder, Fault(folder, replaced[-1], KILL))
    return folder


def changed_input(name: str, before: Path, work: Path) -> Iterator[str]:
    """Change, damage or remove the rows between the first start and the next."""
    operation = BY_NAME[name]
    for change in (_other_rows, _cut_off, Path.unlink):
        folder = _half_done(operation, before, work)
        old = snapshot(folder)
        change(folder / "new.parquet")
        found = attempt(operation.run, folder, Fault(folder))
        wrong = _refused(found, snapshot(folder) | {"new.parquet": old["new.parquet"]}, old)
        # A fault in the data is no reason to lose what was finished before.
        shutil.copy2(before / "new.parquet", folder / "new.parquet")
        again = attempt(operation.run, folder, Fault(folder))
        yield wrong or (f"the next start fails: {again.text[-1500:]}" if again.code else "")


def _other_rows(path: Path) -> None:
    import pandas as pd

    table = pd.read_parquet(path)
    table.iloc[::-1].reset_index(drop=True).to_parquet(path)


def _cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _garbled(path: Path) -> None:
    """Change bytes in the middle, and keep size and time."""
    about, data = path.stat(), bytearray(path.read_bytes())
    for place in range(len(data) // 8, len(data) // 2, 7):
        data[place] ^= 0x55
    path.write_bytes(data)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def damaged_part(name: str, before: Path, work: Path) -> Iterator[str]:
    """Damage what a run had finished, and run it again."""
    operation = BY_NAME[name]
    _, new = _old_new(operation, before, work)
    for damage in (_cut_off, _garbled, Path.unlink):
        folder = fresh(before, work)
        attempt(operation.run, folder, Fault(folder))
        damage(folder / FIRST_PART[name])
        yield _then_passes(operation, folder, new)


WORDS = {"score": SCORE, "monitor": MONITOR, "audit": FIT}
PEAK = """
import re, sys
from falcon_discover.__main__ import main
try:
    main()
finally:
    status = open("/proc/self/status").read()
    print("VmPeak", re.search(r"VmPeak:\\s+(\\d+)", status)[1], file=sys.stderr)
"""


# A limit that is no hindrance. Under any limit less is reserved, so the peak is another one.
ROOMY = 4 * 2**30


def _but_for_times(folder: Path) -> dict[str, str]:
    """Return what is there; of a report, which says when it was made, only that it is there."""
    found = snapshot(folder)
    return {name: "" if re.search(r"/(report|summary)\.", name) else found[name] for name in found}


def little_memory(name: str, before: Path, work: Path) -> Iterator[str]:
    """Allow a share of the address space that the command takes, without a limit and with one."""
    words = [*WORDS[name], "--out", "limited"]

    def run(folder: Path, limit: int | None) -> subprocess.CompletedProcess[str]:
        def limited() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        return subprocess.run(
            [sys.executable, "-c", PEAK, *words],
            cwd=folder, capture_output=True, text=True, timeout=PATIENCE, preexec_fn=limited,
        )  # fmt: skip

    def whole(limit: int | None) -> tuple[dict[str, str], int]:
        clean = fresh(before, work)
        found = run(clean, limit)
        if found.returncode:
            raise RuntimeError(f"{name} fails by itself: {found.stderr}")
        return _but_for_times(clean), int(found.stderr.rpartition("VmPeak")[2]) * 1024

    old = _but_for_times(fresh(before, work))
    new, most = whole(None)
    same, least = whole(ROOMY)
    if same != new:
        raise RuntimeError(f"{name} leaves other results under a limit")
    for limit in [int(share * peak) for peak in (most, least) for share in SHARES]:
        folder = fresh(before, work)
        try:
            found = run(folder, limit)
        except subprocess.TimeoutExpired:
            yield f"{limit // 10**6} MB: hangs"
            continue
        now = _but_for_times(folder)
        other = [file for file in now if now[file] not in (old.get(file), new.get(file))]
        if (
            found.returncode not in (0, 1)
            or "Traceback" in found.stderr
            or "damaged" in found.stderr
        ):
            yield f"{limit // 10**6} MB: exit code {found.returncode}: {found.stderr[-1500:]}"
        elif other or (found.returncode == 0 and now != new):
            yield f"{limit // 10**6} MB: {other} are neither old nor new"
        else:
            again = run(folder, None)
            yield "" if not again.returncode and _but_for_times(folder) == new else "no next start"


SCENARIOS = (
    Scenario("file size limit reached", ("save", "score", "report", "monitor"), long_files),
    Scenario("the disk is full", ("save", "score", "report", "monitor"), full_disk),
    Scenario("the disk is read-only", ("save", "bench run", "score", "report", "monitor", "learn"),
             read_only),
    Scenario("the folder may not be written to",
             ("save", "bench run", "score", "report", "monitor", "learn"), no_permission),
    Scenario("two runs at once", ("save", "bench run", "score", "report", "monitor"), rivals),
    Scenario("rows changed before the next start", ("score", "monitor"), changed_input),
    Scenario("a finished part is damaged", ("score", "monitor"), damaged_part),
    Scenario("a Dask worker is killed", ("score", "monitor"), clusters.worker_dies),
    Scenario("the Dask scheduler is killed", ("score", "monitor"), clusters.scheduler_dies),
    Scenario("Dask workers have too little memory", ("score", "monitor"),
             clusters.too_little_memory),
    Scenario("60% to 90% of the memory", ("score", "monitor", "audit"), little_memory),
)  # fmt: skip
NEED_ROOT = (full_disk, read_only)
