"""A Dask worker, or the scheduler, that dies in the middle of a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.campaign import PATIENCE, fresh
from faults.contents import snapshot
from faults.operations import MONITOR, SCORE

# Parts of one row: the run is still going on when it is struck.
WORDS = {"score": SCORE, "monitor": MONITOR}
# A worker takes about 130 MB when it starts, and more than 200 MB with the audit.
TOO_LITTLE = "190MB"
STANDING = """
import sys
from distributed import LocalCluster
found = LocalCluster(
    n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
    memory_limit=sys.argv[1],
)
print(found.scheduler_address, *[worker.pid for worker in found.workers.values()], flush=True)
sys.stdin.read()
"""


@contextmanager
def standing(memory: str = "auto") -> Iterator[tuple[str, int, list[int]]]:
    """Start a cluster in a process of its own; yield its address, its pid and its workers'."""
    process = subprocess.Popen(
        [sys.executable, "-c", STANDING, memory],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    address, *workers = process.stdout.readline().split()
    try:
        yield address, process.pid, [int(worker) for worker in workers]
    finally:
        process.communicate()


def _command(name: str, *more: str) -> list[str]:
    words = [*WORDS[name], "--part-rows", "1", "--out", "spread", *more]
    return [sys.executable, "-m", "falcon_discover", *words]


def _struck(name: str, before: Path, work: Path, *, whole_cluster: bool) -> Iterator[str]:
    clean = fresh(before, work)
    subprocess.run(_command(name), cwd=clean, check=True, capture_output=True)
    new = snapshot(clean)
    folder = fresh(before, work)
    with standing() as (address, scheduler, workers):
        run = subprocess.Popen(
            _command(name, "--engine", "dask", "--scheduler", address),
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        until = time.monotonic() + PATIENCE
        while not list(folder.glob("spread/**/part-*")) and time.monotonic() < until:
            time.sleep(0.05)
        os.kill(scheduler if whole_cluster else workers[0], signal.SIGKILL)
        text, _ = run.communicate(timeout=PATIENCE)
    if run.returncode == 0 and snapshot(folder) == new:
        yield ""
        return
    if run.returncode != 1 or "Traceback" in text or not whole_cluster:
        yield f"exit code {run.returncode}: {text[-1500:]}"
        return
    subprocess.run(_command(name), cwd=folder, check=True, capture_output=True)
    yield "" if snapshot(folder) == new else "the next start leaves other results"


def worker_dies(name: str, before: Path, work: Path) -> Iterator[str]:
    """Kill a worker, as the system does when memory is short: the run goes on without it."""
    yield from _struck(name, before, work, whole_cluster=False)


def scheduler_dies(name: str, before: Path, work: Path) -> Iterator[str]:
    """Kill the scheduler: the run says so, and is resumed without a cluster."""
    yield from _struck(name, before, work, whole_cluster=True)


def too_little_memory(name: str, before: Path, work: Path) -> Iterator[str]:
    """Allow workers less memory than the audit takes: Dask itself kills each of them."""
    clean = fresh(before, work)
    subprocess.run(_command(name), cwd=clean, check=True, capture_output=True)
    new = snapshot(clean)
    folder = fresh(before, work)
    with standing(TOO_LITTLE) as (address, _, _):
        try:
            found = subprocess.run(
                _command(name, "--engine", "dask", "--scheduler", address),
                cwd=folder, capture_output=True, text=True, timeout=PATIENCE,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            yield "hangs"
            return
    text = found.stdout + found.stderr
    if found.returncode != 1 or "Traceback" in text or "memory" not in text:
        yield f"exit code {found.returncode}: {text[-1500:]}"
        return
    subprocess.run(_command(name), cwd=folder, check=True, capture_output=True)
    yield "" if snapshot(folder) == new else "the next start leaves other results"
