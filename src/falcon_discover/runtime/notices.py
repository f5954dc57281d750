"""Notes about the data: collected by whoever asked for them, or else given as warnings.

Python's `catch_warnings` holds for the whole process: audits that run in threads side by side would
collect each other's warnings. A collector here holds for its own thread and task only.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

from falcon_discover.exceptions import DataWarning
from falcon_discover.runtime import moved

T = TypeVar("T")
_PACKAGE = str(Path(__file__).parents[1])
_collector: ContextVar[dict[str, None] | None] = ContextVar("falcon_discover_notes", default=None)


def warn(message: str) -> None:
    """Tell the collector of this thread; where there is none, warn the caller of the package."""
    notes = _collector.get()
    if notes is not None:
        notes[message] = None
        return
    warnings.warn(message, DataWarning, stacklevel=_caller())


def deprecated(old: str, new: str) -> None:
    """Say that a name goes with the next release."""
    moved.deprecated(old, new, stacklevel=_caller() + 1)


def renamed(old: str, given: T | None, new: str, value: T) -> T:
    """Return the value of an argument that may still come by its old name."""
    if given is None:
        return value
    deprecated(old, new)
    return given


@contextmanager
def collected() -> Iterator[dict[str, None]]:
    """Collect what is noticed inside the block, each message once, in order.

    Examples
    --------
    >>> with collected() as notes:
    ...     warn("column 'a' is constant")
    ...     warn("column 'a' is constant")
    >>> list(notes)
    ["column 'a' is constant"]
    """
    notes: dict[str, None] = {}
    token = _collector.set(notes)
    try:
        yield notes
    finally:
        _collector.reset(token)


class _Ignored:
    """A filter of foreign warnings that is there while anybody needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: dict[tuple[type[Warning], str], int] = {}
        self._ours: dict[tuple[type[Warning], str], object] = {}
        self._in_threads, self._before = 0, list(warnings.filters)

    @contextmanager
    def __call__(self, category: type[Warning], message: str = "") -> Iterator[None]:
        """Hide warnings of a library inside the block.

        Unlike `catch_warnings` it puts nothing back, so blocks of several threads may overlap.
        """
        key = category, message
        with self._lock:
            self._users[key] = self._users.get(key, 0) + 1
            # Also where it is there already: somebody may have reset the filters since.
            # The empty group makes it another filter than any that a user may have set, and that
            # must stay when ours goes.
            warnings.filterwarnings("ignore", message=f"(?:){message}", category=category)
            ours = self._ours[key] = warnings.filters[0]
        try:
            yield
        finally:
            with self._lock:
                self._users[key] -= 1
                if not self._users[key]:
                    # Threads of libraries may have taken it away.
                    with suppress(ValueError):
                        warnings.filters.remove(ours)  # type: ignore[attr-defined]  # a list

    @contextmanager
    def in_threads(self) -> Iterator[None]:
        """Keep the filters of the process through a block in which scikit-learn uses threads.

        Each of its threads sets them for a moment. Where two meet, filters are lost, and the
        threads say that they were not given any.
        """
        with self._lock:
            if not self._in_threads:
                self._before = list(warnings.filters)
            self._in_threads += 1
        try:
            with self(UserWarning, "`sklearn.utils.parallel.delayed` should be used"):
                yield
        finally:
            with self._lock:
                self._in_threads -= 1
                if not self._in_threads:
                    self._mend()

    def _mend(self) -> None:
        """Put the filters back that were there before, if any is lost and nobody took it away."""
        gone = {ours for key, ours in self._ours.items() if not self._users[key]}
        due = [one for one in self._before if one not in gone]
        if not set(due) <= set(warnings.filters):
            warnings.filters[:] = due  # type: ignore[index]  # a list


ignoring = _Ignored()


@contextmanager
def solving() -> Iterator[None]:
    """Hide what the solver of a small regression says about signals that are almost the same.

    It then goes on by another way of its own; nobody outside could do anything about it.
    """
    # Imported late: modules that fit nothing should not load them.
    from scipy.linalg import LinAlgWarning
    from sklearn.exceptions import ConvergenceWarning

    with (
        ignoring(LinAlgWarning),
        ignoring(ConvergenceWarning),
        # With weights, scikit-learn's variance of a constant signal may fall below zero by a
        # rounding; it takes the signal for constant then, as it should.
        ignoring(RuntimeWarning, "invalid value encountered in sqrt"),
        # scikit-learn 1.8 says so of C=inf, which is the way to ask for no penalty.
        ignoring(UserWarning, "Setting penalty=None will ignore the C"),
    ):
        yield


def _caller() -> int:
    """Return the stack level of the first frame outside the package, as `warnings.warn` counts."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
