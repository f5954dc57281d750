"""Files that are there whole, or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from falcon_discover.runtime import locks

PARTIAL, COMMIT = ".partial", ".commit"


@contextmanager
def atomic_write(*paths: Path) -> Iterator[Sequence[BinaryIO]]:
    """Open a hidden file beside each path; they take these names only when all are whole.

    Several files of one folder are of one version: a list of what takes which name is written
    first, and if the process dies halfway, `settle` does the rest.
    """
    parts = [path.with_name(f".{path.name}-{token_hex(4)}{PARTIAL}") for path in paths]
    committed = False
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(part.open("xb")) for part in parts]
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        if len(paths) == 1:
            parts[0].replace(paths[0])
            return
        names = {part.name: path.name for part, path in zip(parts, paths, strict=True)}
        with locks.alone_in(paths[0].parent):
            # What an earlier run left half done would be put over this one later.
            _settle(paths[0].parent)
            commit = paths[0].with_name(f".{token_hex(4)}{COMMIT}")
            write_text(commit, json.dumps(names))
            committed = True
            _put_in_place(commit, names)
    except BaseException as error:
        if not committed:
            for part in parts:
                part.unlink(missing_ok=True)
        elif isinstance(error, KeyboardInterrupt):
            # A few renames: better all of them than a folder half old, half new.
            _put_in_place(commit, names)
            error.add_note(f"The results in {paths[0].parent} are complete.")
        raise


def write_text(path: Path, text: str) -> Path:
    """Write a text file in one step, and return it."""
    with atomic_write(path) as (file,):
        file.write(text.encode())
    return path


def settle(folder: Path) -> None:
    """Finish what a process that died, or a disk that failed, left half done in a folder."""
    if any(folder.glob(f".*{COMMIT}")):
        with locks.alone_in(folder):
            _settle(folder)


def _settle(folder: Path) -> None:
    for commit in folder.glob(f".*{COMMIT}"):
        names = _listed(commit)
        if names is None:
            # Nobody wrote this as a list of files: it is none of ours.
            continue
        _put_in_place(commit, names)


def _put_in_place(commit: Path, names: Mapping[str, str]) -> None:
    for part, name in names.items():
        # Gone if it is in place already.
        with suppress(FileNotFoundError):
            commit.with_name(part).replace(commit.with_name(name))
    commit.unlink(missing_ok=True)


def _listed(commit: Path) -> dict[str, str] | None:
    """Return what a commit says; None if it names anything but hidden files and places here."""
    try:
        names = json.loads(commit.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(names, dict):
        return None
    for part, name in names.items():
        plain = isinstance(name, str) and Path(name).name == name and Path(part).name == part
        if not plain or not part.startswith(f".{name}-") or not part.endswith(PARTIAL):
            return None
    return names
