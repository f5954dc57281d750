"""How many threads the libraries may use."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, lru_cache
from typing import Any

from joblib import effective_n_jobs, parallel_config
from threadpoolctl import ThreadpoolController

from falcon_discover.runtime import optional, room


class _Blas:
    """The limit on BLAS, which holds for the whole process: the strictest that anybody needs.

    Audits in threads begin and end in any order. Whoever put back what it had found would lift the
    limit of another, or leave its own behind.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: list[int] = []
        self._before: dict[str, tuple[Any, int]] = {}

    @contextmanager
    def limited(self, libraries: Sequence[Any], limit: int) -> Iterator[None]:
        with self._lock:
            self._limits.append(limit)
            for library in libraries:
                self._before.setdefault(library.filepath, (library, library.num_threads))
            self._apply()
        try:
            yield
        finally:
            with self._lock:
                self._limits.remove(limit)
                self._apply()
                if not self._limits:
                    self._before.clear()

    def _apply(self) -> None:
        for library, before in self._before.values():
            # threadpoolctl lets only the first thread that sets a limit set it again. Here all take
            # turns, and none lifts the limit of another.
            release = getattr(library, "clear_controlling_thread", lambda force: None)
            release(force=True)
            library.set_num_threads(min(self._limits, default=before))
            release(force=True)


_blas = _Blas()


@cache
def search_libraries() -> tuple[Any, Any]:
    """Return faiss, and the neighbours of scikit-learn's extension; None if not installed.

    Both bring a BLAS of their own, which hangs or crashes as it is loaded if there is no memory for
    its buffers. scikit-learn finds the same neighbours, so they are left out where room is short.

    They have threads of their own. Limits hold for libraries that are already loaded, so these are
    loaded before the first limit.
    """
    from sklearn.neighbors import NearestNeighbors

    room.take_buffers()
    # scikit-learn looks once, at its first search, for the libraries whose threads it limits. If
    # it found faiss's BLAS, which is built on OpenMP, it would limit its own threads to one.
    NearestNeighbors(n_neighbors=1, algorithm="brute").fit([[0.0]]).kneighbors([[0.0]])
    if not room.for_library():
        return None, None
    # Importing the extension changes nothing in scikit-learn itself.
    return optional.find("faiss"), optional.find("sklearnex.neighbors")


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """Return the libraries with threads of their own.

    They are loaded with the modules that need them, so they are looked for anew whenever there
    are more modules: it takes longer than some of the fits whose threads are limited.
    """
    return ThreadpoolController()


@contextmanager
def limited(blas: int, openmp: int | None) -> Iterator[None]:
    """Limit BLAS in the whole process, and OpenMP, unless that is None, in the calling thread."""
    search_libraries()
    libraries = _libraries(len(sys.modules))
    own = [(one, one.num_threads) for one in libraries.select(user_api="openmp").lib_controllers]
    try:
        with _blas.limited(libraries.select(user_api="blas").lib_controllers, blas):
            # OpenMP comes second: a BLAS that is built on it, as that of faiss is, limits it too.
            for library, before in own:
                library.set_num_threads(openmp or before)
            yield
    finally:
        for library, before in own:
            library.set_num_threads(before)


def one_blas_thread(openmp: int | None = None) -> AbstractContextManager[None]:
    """Let BLAS use one thread: sums in another order would make results depend on the cores."""
    return limited(1, openmp)


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` stands for; fewer where the address space is short.

    Asked for threads: the default, processes, warns in a process that may not start any.
    """
    with parallel_config(backend="threading"):
        return room.for_threads(int(effective_n_jobs(n_jobs)))


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
    search_libraries()
    # Kept, since looking for the libraries takes longer than a small prediction.
    return ThreadpoolController().select(user_api="openmp")
