"""The same scorer on a Dask cluster: a local one, or one whose scheduler is named.

Every worker gets the saved audit once and loads it once. Results come back to the process that
started the run, which alone writes files. A part whose worker dies is scored again elsewhere.
`client` and `results` do the same for the runs of the benchmark (`bench/cluster.py`).
Dask's processes exchange pickles: use clusters on networks that you trust.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import dask
from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin, as_completed, get_worker
from distributed.comm.addressing import parse_host_port

from falcon_discover import progress
from falcon_discover.engines.plan import Part
from falcon_discover.engines.run import Engine
from falcon_discover.engines.scorer import Scored, score_part
from falcon_discover.exceptions import InputError
from falcon_discover.loading import load

CONNECT_SECONDS = 6
# Parts in flight per worker thread: one being scored, one waiting.
AHEAD = 2
# A part that brings down this many workers is given up.
ATTEMPTS = 4
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
        same paths, and have this package.
    workers : worker processes to start, without a scheduler
    trusted : further types that the audit may hold, as in `load`
    """
    if scheduler is not None:
        # Said at once, not after the audit was loaded.
        check_reachable(scheduler)

    def run(audit: bytes, parts: Sequence[Part], identity: str | None) -> Iterator[Scored]:
        if not parts:
            return
        with client(scheduler, workers) as cluster:
            cluster.register_plugin(LoadedAudit(audit, tuple(trusted)))
            given_up = (
                "a part was given up: several workers died on it, perhaps for lack of memory. "
                "Use smaller parts or more memory per worker; finished parts are kept."
            )
            yield from results(cluster, partial(_score_on_worker, identity), parts, given_up)

    return run


class LoadedAudit(WorkerPlugin):
    """Made on every worker: the audit, loaded when the worker starts or joins."""

    name = "falcon-discover audit"

    def __init__(self, data: bytes, trusted: tuple[str, ...]) -> None:
        self.data = data
        self.trusted = trusted

    def setup(self, worker: Any) -> None:
        """Load the audit with one thread: a worker has its core, and others have theirs."""
        worker.falcon_discover_audit = load(self.data, trusted=self.trusted, n_jobs=1)


def _score_on_worker(identity: str | None, part: Part) -> Scored:
    with ONE_AT_A_TIME, progress.silent():
        return score_part(get_worker().falcon_discover_audit, part, identity)


def results(
    cluster: Any, task: Callable[[Item], Any], items: Iterable[Item], given_up: str
) -> Iterator[Any]:
    """Yield what a task returns for each item, in the order in which they are done.

    Parameters
    ----------
    cluster : what `client` gave
    given_up : what to say of an item that brought down several workers
    """
    threads = sum(cluster.nthreads().values())
    if not threads:
        raise InputError("the Dask cluster has no worker: start some, then run again.")
    waiting = iter(items)

    def submitted(count: int) -> list[Any]:
        # Not pure: the same item of another run must not be answered from memory.
        return [cluster.submit(task, item, pure=False) for item in islice(waiting, count)]

    finished = as_completed(submitted(AHEAD * threads))
    for future in finished:
        try:
            result = future.result()
        except KilledWorker as error:
            raise InputError(given_up) from error
        future.release()
        for more in submitted(1):
            finished.add(more)
        yield result


@contextmanager
def client(scheduler: str | None, workers: int) -> Iterator[Any]:
    """Connect to a scheduler, or start worker processes here for the time of the block."""
    settings = {
        "distributed.scheduler.allowed-failures": ATTEMPTS - 1,
        "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s",
    }
    with dask.config.set(settings):
        if scheduler is None:
            with (
                LocalCluster(
                    n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
                ) as cluster,
                Client(cluster) as connected,
            ):
                yield connected
            return
        try:
            connected = Client(scheduler, timeout=CONNECT_SECONDS)
        except Exception as error:  # whoever answers there may say anything
            raise _no_scheduler(scheduler, error) from error
        with connected:
            yield connected


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
            if not connection.recv(1):
                raise OSError("the connection was closed")
    except (OSError, ValueError) as error:
        raise _no_scheduler(scheduler, error) from error


def _no_scheduler(scheduler: str, error: Exception) -> InputError:
    return InputError(
        f"no Dask scheduler answers at {scheduler} ({error or type(error).__name__}): start one "
        "with 'dask scheduler', or leave --scheduler out."
    )
