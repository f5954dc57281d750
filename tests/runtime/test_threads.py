"""Limits on threads hold for the library that is meant, and for no other."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from falcon_discover.runtime.threads import (
    limited,
    one_blas_thread,
    openmp_threads,
    search_libraries,
)

search_libraries()


def threads(user_api):
    """Threads by library; a BLAS on OpenMP threads is counted there."""
    found = [one for one in threadpool_info() if one["user_api"] == user_api]
    return {one["num_threads"] for one in found if one.get("threading_layer") != "openmp"}


@pytest.mark.parametrize("openmp", [1, 2, 3])
def test_one_blas_thread_leaves_openmp_its_threads(openmp):
    before = threads("blas"), openmp_threads()
    with threadpool_limits(limits=openmp, user_api="openmp"), one_blas_thread():
        assert threads("blas") <= {1}
        assert openmp_threads() == openmp
    with one_blas_thread(openmp=openmp):
        assert threads("blas") <= {1}
        assert openmp_threads() == openmp
    assert (threads("blas"), openmp_threads()) == before


def test_overlapping_limits_of_two_threads_leave_nothing_behind():
    """The first to come is the first to go: what it found must not be put back under the second."""
    before = threads("blas"), openmp_threads()
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    seen = []

    def first():
        with limited(1, 1):
            first_is_in.set()
            assert second_is_in.wait(30)
        first_is_out.set()

    def second():
        assert first_is_in.wait(30)
        with limited(1, 2):
            second_is_in.set()
            assert first_is_out.wait(30)
            seen.append((threads("blas"), openmp_threads()))

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result(60)
    assert seen == [({1}, 2)] or not before[0]
    assert (threads("blas"), openmp_threads()) == before


def test_the_strictest_limit_holds_while_anybody_needs_it():
    with limited(1, None), limited(2, None):
        assert threads("blas") <= {1}
