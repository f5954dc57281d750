"""Locks: one process at a time works in a place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from falcon_discover.exceptions import InputError

try:
    import fcntl
except ImportError:  # Windows does not have it
    fcntl = None  # type: ignore[assignment]


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


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Wait until no other process moves files in a folder, and keep others waiting meanwhile.

    The folder itself is locked, so that no lock file stays among a user's results. Where the system
    cannot lock folders, nobody waits.
    """
    if fcntl is None:
        yield
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        # Some network file systems have no locks.
        with suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)
