"""A lock on a file, the same on every system: one process at a time works in a place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from falcon_discover.exceptions import InputError


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Try at once to become the only holder of a lock file; yields whether that worked.

    The system releases the lock when its holder dies, however that happens.
    """
    if path.is_symlink():
        raise InputError(
            f"{path} is a symbolic link and cannot serve as a lock: delete it and run again."
        )
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
