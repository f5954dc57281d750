"""The same scorer on a Dask cluster: a local one, or one whose scheduler is named.

Every worker gets the saved audit once and loads it once. Results come back to the process that
started the run, which alone writes files. A part whose worker dies is scored again elsewhere.
`client`, `on_workers` and `results` do the same for the runs of the benchmark (`bench/cluster.py`).
Dask's processes exchange pickles: use clusters on networks that you trust.
"""

from __future__ import annotations

import hashlib
import logging
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import dask
from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin, get_worker, wait
from distributed.comm.addressing import parse_host_port
from distributed.comm.core import CommClosedError
from distributed.utils import silence_logging_cmgr

from falcon_discover.exceptions import InputError
from falcon_discover.runtime import progress
from falcon_discover.runtime.versions import __version__
from falcon_discover.scoring import rows
from falcon_discover.scoring.plan import Part
from falcon_discover.scoring.run import Engine, Task
from falcon_discover.scoring.scorer import Scored
from falcon_discover.storage.load import load

CONNECT_SECONDS = 6
# No scheduler greets at such length.
LONGEST_GREETING = 2**20
# Parts in flight per worker thread: one being scored, one waiting.
AHEAD = 2
# A part that brings down this many workers is given up.
ATTEMPTS = 4
# Whether there are workers is looked at so often, and without any a run ends after so long.
LOOK_SECONDS = 2.0
WITHOUT_WORKERS_SECONDS = 60.0
KEPT = "What is finished is kept: run the same command again to resume."
# One task at a time in a process: limits on threads and on warnings hold for the whole process.
ONE_AT_A_TIME = threading.Lock()

Item = TypeVar("Item")


def dask_engine(
    scheduler: str | None = None, *, workers: int = 2, trusted: Collection[str] = ()
) -> Engine:
    """Return the engine that scores parts on a Dask cluster.

    Parameters
    ----------
    scheduler : address of a running scheduler, such as "tcp://10.0.0.1:8786"; None starts worker
        processes on this machine for the time of the run. Workers must find the data under the
        same paths, and have this package in the same version.
    workers : worker processes to start, without a scheduler
    trusted : further types that the audit may hold, as in `load`
    """
    if scheduler is not None:
        # Said at once, not after the audit was loaded.
        check_reachable(scheduler)

    def run(audit: bytes, parts: Sequence[Part], task: Task) -> Iterator[Scored]:
        if not parts:
            return
        key = hashlib.sha256(audit).hexdigest()
        # With one thread: a worker has its core, and others have theirs.
        loaded = partial(load, audit, trusted=tuple(trusted), n_jobs=1)
        with client(scheduler, workers) as cluster, on_workers(cluster, key, loaded):
            given_up = (
                "a part was abandoned because several workers died on it, perhaps out of memory. "
                "Use smaller parts or more memory per worker; finished parts are kept."
            )
            yield from results(cluster, partial(_on_worker, key, task), parts, given_up)

    return run


def _on_worker(key: str, task: Task, part: Part) -> Scored:
    with ONE_AT_A_TIME, progress.silent():
        return task(kept(key), part)


@dataclass(eq=False)
class Kept:
    """What a worker keeps for runs: the thing itself or why it could not be made, and for whom."""

    value: Any = None
    failure: str | None = None
    runs: set[str] = field(default_factory=set)


class KeptOnWorkers(WorkerPlugin):
    """Made on every worker when it starts or joins, and dropped when the last run is over.

    It is kept under its key, so runs with other audits do not get each other's. What goes wrong is
    told by the tasks: a worker whose plugin fails would not start.
    """

    def __init__(self, key: str, make: Callable[[], Any]) -> None:
        self.key = key
        self.make = make
        self.code = code()
        # Two runs may keep the same.
        self.name = f"falcon-discover {key} {uuid4().hex}"

    def setup(self, worker: Any) -> None:
        """Make what the run needs, unless another run has."""
        if not hasattr(worker, "falcon_discover"):
            worker.falcon_discover = {}
        known = worker.falcon_discover.setdefault(self.key, Kept())
        known.runs.add(self.name)
        if known.value is not None:
            return
        if self.code != code():
            known.failure = (
                f"the worker {worker.address} runs a different build of falcon-discover "
                f"({code()[0]}) than this process ({self.code[0]}): install the same version "
                "everywhere, and restart the workers."
            )
            return
        try:
            known.value, known.failure = self.make(), None
        except Exception as error:  # whatever it is, it belongs to the run and not to the worker
            known.failure = f"the worker {worker.address} cannot load what the run needs: {error}"

    def teardown(self, worker: Any) -> None:
        """Drop it if no other run needs it, and the file that was read last."""
        known = worker.falcon_discover[self.key]
        known.runs.discard(self.name)
        if not known.runs:
            del worker.falcon_discover[self.key]
        rows.forget()


def kept(key: str) -> Any:
    """Return, on a worker, what is kept there under a key."""
    worker = get_worker()
    known = getattr(worker, "falcon_discover", {}).get(key)
    if known is None:
        raise InputError(f"the worker {worker.address} did not receive what the run needs. {KEPT}")
    if known.failure is not None:
        raise InputError(known.failure)
    return known.value


@cache
def code() -> tuple[str, str]:
    """Return the version of this package, and a hash of its source."""
    found = hashlib.sha256()
    folder = Path(__file__).parents[1]
    for path in sorted(folder.rglob("*.py")):
        found.update(path.relative_to(folder).as_posix().encode())
        found.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return __version__, found.hexdigest()


@contextmanager
def on_workers(cluster: Any, key: str, make: Callable[[], Any]) -> Iterator[None]:
    """Have something made and kept on every worker, under a key, for the time of the block."""
    plugin = KeptOnWorkers(key, make)
    try:
        _register(cluster, plugin)
        yield
    finally:
        if cluster.status == "running":
            with suppress(Exception):  # a scheduler that is gone keeps nothing
                cluster.unregister_worker_plugin(plugin.name)


def _register(cluster: Any, plugin: KeptOnWorkers) -> None:
    try:
        cluster.register_plugin(plugin)
    except Exception as error:  # a worker's own error arrives as text in a plain Exception
        if isinstance(error, OSError) or CommClosedError.__name__ in str(error):
            raise InputError(
                "a Dask worker or the scheduler disappeared while the run was being distributed "
                f"({error}), perhaps out of memory: give each worker more. {KEPT}"
            ) from error
        raise InputError(
            f"a Dask worker does not have falcon-discover {__version__} or a package that it needs "
            f"({error}): install the same packages on every worker, and restart it."
        ) from error


def results(
    cluster: Any, task: Callable[[Item], Any], items: Iterable[Item], given_up: str
) -> Iterator[Any]:
    """Yield what a task returns for each item, in the order in which they are done.

    `given_up` is what to say of an item that brought down several workers.
    """
    threads = sum(cluster.nthreads().values())
    if not threads:
        raise InputError("the Dask cluster has no worker: start some, then run again.")
    waiting = iter(items)

    def submitted(count: int) -> set[Any]:
        # Not pure: the same item of another run must not be answered from memory.
        return {cluster.submit(task, item, pure=False) for item in islice(waiting, count)}

    pending = submitted(AHEAD * threads)
    seen = time.monotonic()
    try:
        while pending:
            try:
                done, pending = wait(pending, LOOK_SECONDS, return_when="FIRST_COMPLETED")
            except TimeoutError:
                seen = _seen(cluster, seen)
                continue
            seen = time.monotonic()
            for future in done:
                result = future.result()
                future.release()
                pending |= submitted(1)
                yield result
    except KilledWorker as error:
        raise InputError(given_up) from error
    except (CancelledError, CommClosedError) as error:
        raise _lost() from error


def _seen(cluster: Any, before: float) -> float:
    """Return when a worker was last there; raise if that is too long ago."""
    try:
        if cluster.nthreads():
            return time.monotonic()
    except OSError as error:
        raise _lost() from error
    if time.monotonic() - before > WITHOUT_WORKERS_SECONDS:
        raise InputError(
            f"the Dask cluster has had no worker for {WITHOUT_WORKERS_SECONDS:g} seconds: start "
            f"some. {KEPT}"
        )
    return before


def _lost() -> InputError:
    return InputError(f"the Dask scheduler disappeared. {KEPT}")


@contextmanager
def client(scheduler: str | None, workers: int) -> Iterator[Any]:
    """Connect to a scheduler, or start worker processes here for the time of the block."""
    settings = {
        "distributed.scheduler.allowed-failures": ATTEMPTS - 1,
        "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s",
    }
    # What Dask logs on this side is said in a sentence, or is no fault.
    with dask.config.set(settings), silence_logging_cmgr(logging.CRITICAL):
        if scheduler is None:
            with _own_cluster(workers) as cluster, Client(cluster) as connected:
                yield connected
            return
        try:
            connected = Client(scheduler, timeout=CONNECT_SECONDS)
        except Exception as error:  # whoever answers there may say anything
            raise _no_scheduler(scheduler, error) from error
        with connected:
            yield connected


def _own_cluster(workers: int) -> Any:
    """Start workers that leave Ctrl-C to this process, which ends them.

    A blocked signal stays blocked in the threads and processes that are started meanwhile.
    """
    masked = getattr(signal, "pthread_sigmask", None)
    if masked is not None:
        # Its start would let the signal through again.
        resource_tracker.ensure_running()
        before = masked(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            # None still takes the port that another cluster may have.
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
        )
    finally:
        if masked is not None:
            masked(signal.SIG_SETMASK, before)


def check_reachable(scheduler: str) -> None:
    """Raise if nobody is there, or somebody who does not greet as a scheduler does.

    Dask itself waits for the greeting for ever.
    """
    protocol, _, rest = scheduler.rpartition("://")
    if protocol not in ("", "tcp"):
        return
    try:
        address = parse_host_port(rest)
        with socket.create_connection(address, timeout=CONNECT_SECONDS) as connection:
            # A message of Dask begins with its length.
            (length,) = struct.unpack("<Q", _received(connection, 8))
            if length > LONGEST_GREETING:
                raise OSError("it does not respond like a scheduler")
            _received(connection, length)
    except (OSError, ValueError) as error:
        raise _no_scheduler(scheduler, error) from error


def _received(connection: socket.socket, length: int) -> bytes:
    until = time.monotonic() + CONNECT_SECONDS
    found = b""
    while len(found) < length:
        connection.settimeout(max(until - time.monotonic(), 0.01))
        more = connection.recv(length - len(found))
        if not more:
            raise OSError("the connection was closed")
        found += more
    return found


def _no_scheduler(scheduler: str, error: Exception) -> InputError:
    return InputError(
        f"no Dask scheduler answers at {scheduler} ({error or type(error).__name__}): start one "
        "with 'dask scheduler', or leave --scheduler out."
    )
