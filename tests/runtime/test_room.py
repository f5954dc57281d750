"""Where the address space is limited, less is taken of it, and what is too little is said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from falcon_discover.runtime import room
from falcon_discover.runtime.threads import search_libraries, thread_count

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much is taken")


@pytest.fixture
def limited(monkeypatch):
    """Set a limit that leaves so many bytes, as far as this program can see."""
    pages = os.sysconf("SC_PAGE_SIZE")

    def leave(spare):
        def limit(_):
            taken = int(Path("/proc/self/statm").read_text().split()[0]) * pages
            return taken + spare, taken + spare

        monkeypatch.setattr(resource, "getrlimit", limit)

    return leave


def test_without_a_limit_nothing_is_held_back():
    if room.limit() is not None:
        pytest.skip("the tests run under a limit")
    room.require()
    room.take_buffers()
    assert room.left() is None
    assert room.for_library()
    assert room.for_threads(16) == 16


def test_libraries_with_threads_of_their_own_are_left_out_where_room_is_short(limited):
    limited(2 * room.A_LIBRARY)
    assert room.for_library()
    limited(room.A_LIBRARY // 2)
    assert not room.for_library()
    assert search_libraries.__wrapped__() == (None, None)


def test_threads_are_as_many_as_there_is_room_for(limited):
    limited(3 * room.A_THREAD + room.A_THREAD // 2)
    assert room.for_threads(8) == 3
    assert room.for_threads(2) == thread_count(2) == 2
    limited(0)
    assert room.for_threads(8) == thread_count(8) == 1


def test_buffers_that_find_no_room_are_an_error_and_no_endless_wait(limited):
    limited(room.BUFFERS // 2)
    with pytest.raises(MemoryError, match=r"67 MB are left of the address space"):
        room.take_buffers()
    limited(8 * room.BUFFERS)
    room.take_buffers()


@pytest.mark.parametrize("words", [["settings"], ["score", "no.falcon", "no.csv", "--out", "out"]])
def test_a_command_says_how_much_room_it_needs(words, tmp_path):
    found = subprocess.run(
        [sys.executable, "-m", "falcon_discover", *words],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (600 * 10**6, 600 * 10**6)),
    )  # fmt: skip
    assert found.returncode == 1
    assert "limited to 600 MB (ulimit -v); at least 900 MB are needed." in found.stderr
    assert "Traceback" not in found.stderr
    assert not list(tmp_path.iterdir())
