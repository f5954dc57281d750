"""The runs of the benchmark on a Dask cluster.

Workers fit and measure, each with one thread; the process that was started writes the store.
Workers must find the data sets and, for what goes beyond the paper, the store under the same paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from uuid import uuid4

from falcon_discover.bench.run import Executor, Finished, Spread
from falcon_discover.bench.store import RunKey
from falcon_discover.runtime import progress
from falcon_discover.runtime.threads import limited
from falcon_discover.scoring import cluster

GIVEN_UP = (
    "a run was abandoned because several workers died on it, perhaps out of memory. Use fewer "
    "workers or more memory for each; finished runs are kept."
)


def dask_runs(scheduler: str | None = None, *, workers: int = 2) -> Spread:
    """Return what does runs on a Dask cluster: that of a scheduler, or workers started here."""
    if scheduler is not None:
        cluster.check_reachable(scheduler)

    def spread(one: Executor, keys: Sequence[RunKey]) -> Iterator[Finished]:
        if not keys:
            return
        # What does a run is kept on the workers, so that a split is loaded once for its backbones.
        name = uuid4().hex
        with (
            cluster.client(scheduler, workers) as connected,
            cluster.on_workers(connected, name, lambda: one),
        ):
            task = partial(_run_on_worker, name)
            yield from cluster.results(connected, task, keys, GIVEN_UP)

    return spread


def _run_on_worker(name: str, key: RunKey) -> Finished:
    with cluster.ONE_AT_A_TIME, progress.silent(), limited(1, 1):
        return key, *cluster.kept(name)(key)
