"""How many threads the libraries may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from joblib import effective_n_jobs, parallel_config
from threadpoolctl import ThreadpoolController, threadpool_limits


@contextmanager
def one_blas_thread(openmp: int | None = None) -> Iterator[None]:
    """Let BLAS use one thread: sums in another order would make results depend on the cores.

    Parameters
    ----------
    openmp : threads of OpenMP; None leaves them as they are
    """
    threads = openmp or openmp_threads()
    # OpenMP comes second: a BLAS that is built on it, as that of faiss is, would limit it too.
    with (
        threadpool_limits(limits=1, user_api="blas"),
        threadpool_limits(limits=threads, user_api="openmp"),
    ):
        yield


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` stands for.

    Asked for threads: the default, processes, warns in a process that may not start any.
    """
    with parallel_config(backend="threading"):
        return int(effective_n_jobs(n_jobs))


def openmp_threads() -> int:
    """Return how many threads OpenMP would use now, in this thread."""
    return max((library.num_threads for library in _openmp().lib_controllers), default=1)


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Let OpenMP use one thread; it keeps that number for each calling thread."""
    with _openmp().limit(limits=1):
        yield


@cache
def _openmp() -> ThreadpoolController:
    # Kept, since looking for the libraries takes longer than a small prediction.
    return ThreadpoolController().select(user_api="openmp")
