"""Files that are there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO


@contextmanager
def atomic_write(*paths: Path) -> Iterator[Sequence[BinaryIO]]:
    """Open a hidden file beside each path; they take these names only when all are whole."""
    parts = [path.with_name(f".{path.name}-{token_hex(4)}.partial") for path in paths]
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(part.open("xb")) for part in parts]
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        for part, path in zip(parts, paths, strict=True):
            part.replace(path)
    except BaseException:
        for part in parts:
            part.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> Path:
    """Write a text file in one step, and return it."""
    with atomic_write(path) as (file,):
        file.write(text.encode())
    return path
