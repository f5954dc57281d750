"""Limits on threads hold for the library that is meant, and for no other."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import falcon_discover.search  # noqa: F401 (loads the libraries)
from falcon_discover.threads import one_blas_thread, openmp_threads


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
