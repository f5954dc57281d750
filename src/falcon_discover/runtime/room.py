"""Room in an address space that is limited, by `ulimit -v` or by a batch system.

Where none is left, OpenBLAS does not fail: it asks for its buffers again and again, and the process
hangs. So the room is looked at before, and the buffers are taken while there is some.
"""

from __future__ import annotations

import os
from pathlib import Path

try:
    import resource
except ImportError:  # Windows does not have it
    resource = None  # type: ignore[assignment]

# What the smallest audit takes with all libraries loaded, and a little more.
LEAST = 900 * 10**6
# What BLAS takes for one thread, in numpy's and in SciPy's copy of it.
BUFFERS = 2**27
# What a thread takes: these buffers, its stack, and memory of its own to allocate from.
A_THREAD = 2**28
# What a library with a BLAS and threads of its own may take.
A_LIBRARY = 2**32


def limit() -> int | None:
    """Return the limit on the address space in bytes, or None without one."""
    if resource is None:
        return None
    found = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if found == resource.RLIM_INFINITY else int(found)


def left() -> int | None:
    """Return how many bytes may still be taken, or None without a limit."""
    allowed = limit()
    if allowed is None:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:  # only Linux says how much is taken
        pages = 0
    return max(allowed - pages * resource.getpagesize(), 0)


def require() -> None:
    """Raise a `MemoryError` where not even the smallest audit would find room."""
    allowed = limit()
    if allowed is not None and allowed < LEAST:
        raise MemoryError(
            f"The address space is limited to {allowed // 10**6:,} MB (ulimit -v); "
            f"at least {LEAST // 10**6:,} MB are needed."
        )


def spare() -> None:
    """Keep Arrow, which reserves a gigabyte at once, from it where the address space is limited.

    Read by Arrow when it is loaded, so it is called before.
    """
    if limit() is not None:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def for_library() -> bool:
    """Return whether there is room for a library that brings a BLAS and threads of its own."""
    rest = left()
    return rest is None or rest >= A_LIBRARY


def for_threads(wanted: int) -> int:
    """Return how many of the threads that are wanted there is room for, at least one."""
    rest = left()
    return wanted if rest is None else max(1, min(wanted, rest // A_THREAD))


def take_buffers() -> None:
    """Let BLAS take this thread's buffers, if the address space is limited: it keeps them."""
    rest = left()
    if rest is None:
        return
    if rest < BUFFERS:
        raise MemoryError(
            f"{rest // 10**6:,} MB are left of the address space (ulimit -v), too little to go on."
        )
    import numpy as np
    from scipy.linalg.blas import dgemm

    # Small products need no buffer.
    one = np.ones((256, 256))
    one @ one
    dgemm(1.0, one, one)
