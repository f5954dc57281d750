"""The runs of the benchmark on a Dask cluster.

Workers fit and measure, each with one thread; the process that was started writes the store.
Workers must find the data sets and, for what goes beyond the paper, the store under the same paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from distributed import WorkerPlugin, get_worker
from threadpoolctl import threadpool_limits

from falcon_discover import progress
from falcon_discover.bench.run import Executor, Finished, Spread
from falcon_discover.bench.store import RunKey
from falcon_discover.engines import cluster

GIVEN_UP = (
    "a run was given up: several workers died on it, perhaps for lack of memory. Use fewer workers "
    "or more memory for each; finished runs are kept."
)


def dask_runs(scheduler: str | None = None, *, workers: int = 2) -> Spread:
    """Return what does runs on a Dask cluster.

    Parameters
    ----------
    scheduler : address of a running scheduler; None starts worker processes on this machine
    workers : worker processes to start, without a scheduler
    """
    if scheduler is not None:
        cluster.check_reachable(scheduler)

    def spread(one: Executor, keys: Sequence[RunKey]) -> Iterator[Finished]:
        if not keys:
            return
        with cluster.client(scheduler, workers) as connected:
            connected.register_plugin(OneRun(one))
            yield from cluster.results(connected, _run_on_worker, keys, GIVEN_UP)

    return spread


class OneRun(WorkerPlugin):
    """On every worker: what does a run, kept so that a split is loaded once for its backbones."""

    name = "falcon-discover bench"

    def __init__(self, one: Executor) -> None:
        self.one = one

    def setup(self, worker: Any) -> None:
        """Keep it on the worker."""
        worker.falcon_discover_run = self.one


def _run_on_worker(key: RunKey) -> Finished:
    with cluster.ONE_AT_A_TIME, progress.silent(), threadpool_limits(limits=1):
        return key, *get_worker().falcon_discover_run(key)
