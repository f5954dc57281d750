"""A disk that fails, or a process that dies, at the n-th call that touches a folder."""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial, partialmethod
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq

from faults.contents import TOKEN

KILLED, INTERRUPTED = 137, 130
ONCE, FOR_GOOD, KILL, CTRL_C = (
    "one call fails",
    "every call from then on fails",
    "the process is killed",
    "Ctrl-C",
)
MODES = (ONCE, FOR_GOOD, KILL, CTRL_C)
# Calls of the system whose first argument is a path.
SYSTEM = ("mkdir", "replace", "rename", "unlink", "remove", "rmdir")


@dataclass
class Fault:
    """Counts calls that touch files below a folder, and strikes at one of them.

    Parameters
    ----------
    root : calls elsewhere are left alone
    at : the number of the call to strike at, from 1; 0 only counts
    mode : one of `MODES`
    """

    root: Path
    at: int = 0
    mode: str = ONCE
    calls: list[str] = field(default_factory=list)

    def touch(self, what: str, path: Any, *, code: int = errno.ENOSPC) -> None:
        """Count a call, and fail or die if its turn has come."""
        if not self._watches(path):
            return
        self.calls.append(f"{what} {TOKEN.sub('', Path(os.fsdecode(path)).name)}")
        number = len(self.calls)
        if not self.at or number < self.at or (number > self.at and self.mode != FOR_GOOD):
            return
        if self.mode == KILL:
            os._exit(KILLED)
        if self.mode == CTRL_C:
            # Python raises KeyboardInterrupt as soon as this function goes on.
            signal.raise_signal(signal.SIGINT)
            return
        raise OSError(code, os.strerror(code), str(path))

    def _watches(self, path: Any) -> bool:
        if isinstance(path, int) or path is None:
            return False
        try:
            return Path(os.fsdecode(path)).resolve().is_relative_to(self.root)
        except (TypeError, ValueError):
            return False

    @contextmanager
    def watching(self) -> Iterator[Fault]:
        """Put the fault in the way of everything that the block does with files."""
        opened, made = io.open, pq.ParquetFile.__init__
        with ExitStack() as stack:
            for module in (io, builtins):
                stack.enter_context(patch.object(module, "open", partial(self._open, opened)))
            for name in SYSTEM:
                real = getattr(os, name)
                stack.enter_context(patch.object(os, name, partial(self._call, name, real)))
            fsync, os_open = os.fsync, os.open
            stack.enter_context(patch.object(os, "fsync", partial(self._fsync, fsync)))
            stack.enter_context(patch.object(os, "open", partial(self._call, "os.open", os_open)))
            for name in ("write_table", "read_table", "read_metadata"):
                real = getattr(pq, name)
                stack.enter_context(patch.object(pq, name, partial(self._parquet, name, real)))
            reading = partialmethod(_opened_parquet, self, made)
            stack.enter_context(patch.object(pq.ParquetFile, "__init__", reading))
            yield self

    def _call(self, name: str, real: Callable[..., Any], path: Any, *rest: Any, **more: Any) -> Any:
        self.touch(name, path)
        return real(path, *rest, **more)

    def _fsync(self, real: Callable[[int], None], number: int) -> None:
        self.touch("fsync", Path(f"/proc/self/fd/{number}").readlink(), code=errno.EIO)
        real(number)

    def _parquet(self, name: str, real: Callable[..., Any], *args: Any, **more: Any) -> Any:
        for argument in args:
            if isinstance(argument, str | os.PathLike):
                self.touch(f"parquet {name}", argument, code=errno.EIO)
        return real(*args, **more)

    def _open(self, real: Callable[..., Any], file: Any, mode: str = "r", *a: Any, **k: Any) -> Any:
        if not self._watches(file):
            return real(file, mode, *a, **k)
        reading = not set(mode) & set("wxa+")
        self.touch(f"open {mode}", file, code=errno.EIO if reading else errno.ENOSPC)
        if reading or "+" in mode:
            return real(file, mode, *a, **k)
        raw = io.FileIO(file, mode.replace("b", "").replace("t", ""))
        watched = Watched(raw, self, file)
        return watched if "b" in mode else io.TextIOWrapper(watched, encoding="utf-8")


def _opened_parquet(
    file: pq.ParquetFile, fault: Fault, real: Callable[..., None], source: Any, **more: Any
) -> None:
    if isinstance(source, str | os.PathLike):
        fault.touch("parquet open", source, code=errno.EIO)
    real(file, source, **more)


class Watched(io.BufferedWriter):
    """A file whose writes count; small ones reach the disk when it is flushed or closed."""

    def __init__(self, raw: io.FileIO, fault: Fault, path: Any) -> None:
        super().__init__(raw)
        self._fault, self._path = fault, path

    def write(self, data: Any) -> int:
        self._fault.touch("write", self._path)
        return super().write(data)

    def flush(self) -> None:
        if not self.closed:
            self._fault.touch("flush", self._path)
        super().flush()
