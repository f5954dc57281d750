"""What is to be scored: files, cut into parts of equal size.

The plan depends on the files and the part size only, so every engine, and every attempt, writes the
same parts.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.records import first_difference
from falcon_discover.runtime.versions import __version__
from falcon_discover.scoring import rows

# Large enough that calls cost nothing, small enough for a gigabyte of memory.
PART_ROWS = 100_000


@dataclass(frozen=True)
class Source:
    """An input file, and how to tell whether it has changed.

    `file` is its name as it was given, `path` where it is whatever folder a worker runs in.
    """

    file: str
    path: Path
    rows: int
    bytes: int
    modified: int

    @classmethod
    def of(cls, path: Path, identity: str | None = None) -> Source:
        """Look at a file and count its rows."""
        about = path.stat()
        count = rows.count(path, rows.texts(identity))
        return cls(str(path), path.resolve(), count, about.st_size, about.st_mtime_ns)

    def check_unchanged(self) -> None:
        """Raise if what is there is not the file that was looked at."""
        try:
            about = self.path.stat()
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be read on {platform.node()}: {error.strerror}. Every worker "
                "must find the data under the same path."
            ) from error
        if (about.st_size, about.st_mtime_ns) != (self.bytes, self.modified):
            raise InputError(
                f"{self.file} has changed since the run began, or is a different file on "
                f"{platform.node()}. Score it into a new folder."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return what says which file it is, wherever its folder is mounted."""
        return {key: value for key, value in asdict(self).items() if key != "path"}


@dataclass(frozen=True)
class Part:
    """Rows `start` to `stop` of a file; `number` gives the output file its name.

    `proba` are the columns with the scores of the rows, for an audit without a model; `target` is
    the one with their labels, where these are known.
    """

    number: int
    source: Source
    start: int
    stop: int
    proba: tuple[str, ...] = ()
    target: str | None = None

    @property
    def name(self) -> str:
        """The name of the part's output file."""
        return f"part-{self.number:05d}.parquet"

    def apart(self, identity: str | None) -> list[str]:
        """Return the columns that are wanted beside the features."""
        return _apart(identity, self.proba, self.target)


@dataclass(frozen=True)
class Plan:
    """Everything that decides what is written; `audit` is the SHA-256 of the saved audit.

    Rows are identified by the column `identity`, or where that is None by file and row number.
    `proba` are the columns with the scores of the rows, for an audit without a model; `target` is
    the one with their labels, where these are known.
    """

    audit: str
    sources: tuple[Source, ...]
    part_rows: int = PART_ROWS
    identity: str | None = None
    proba: tuple[str, ...] = ()
    target: str | None = None

    @classmethod
    def of(
        cls,
        audit: bytes,
        data: Sequence[Path],
        *,
        part_rows: int = PART_ROWS,
        identity: str | None = None,
        proba: Sequence[str] = (),
        target: str | None = None,
    ) -> Plan:
        """Look at the files and count their rows."""
        if part_rows < 1:
            raise InputError(f"part_rows is {part_rows}: give at least 1.")
        sources = tuple(Source.of(path, identity) for path in _files(data))
        digest = hashlib.sha256(audit).hexdigest()
        return cls(digest, sources, part_rows, identity, tuple(proba), target)

    @property
    def apart(self) -> list[str]:
        """Columns that are wanted beside the features."""
        return _apart(self.identity, self.proba, self.target)

    @property
    def rows(self) -> int:
        """All rows of all files."""
        return sum(source.rows for source in self.sources)

    def parts(self) -> list[Part]:
        """Return the parts in order; a part has rows of one file only."""
        found: list[Part] = []
        for source in self.sources:
            for start in range(0, source.rows, self.part_rows):
                stop = min(start + self.part_rows, source.rows)
                found.append(Part(len(found), source, start, stop, self.proba, self.target))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON can hold it."""
        return {
            "audit": self.audit,
            "falcon-discover": __version__,
            "part_rows": self.part_rows,
            "id": self.identity,
            **({"proba": list(self.proba)} if self.proba else {}),
            **({"target": self.target} if self.target is not None else {}),
            "files": [source.to_dict() for source in self.sources],
        }


def _apart(identity: str | None, proba: Sequence[str], target: str | None) -> list[str]:
    return [name for name in (identity, *proba, target) if name is not None]


def difference(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """Return in words what two plans first differ in, or None.

    Examples
    --------
    >>> difference({"files": [{"file": "a.csv"}]}, {"files": []})
    'the file a.csv is no longer given'
    """
    other = first_difference({**before, "files": []}, {**now, "files": []})
    if other is not None:
        return other
    then = {source["file"]: source for source in before["files"]}
    for source in now["files"]:
        known = then.pop(source["file"], None)
        if known is None:
            return f"the file {source['file']} is new"
        if known != source:
            return f"the file {source['file']} has changed"
    if then:
        return f"the file {next(iter(then))} is no longer given"
    return None if before == now else "the files are in a different order"


def _files(data: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in data:
        if path.is_dir():
            # Spark calls a folder x.parquet; what is to be read are the files in it.
            found_here = (p for p in path.rglob("*.parquet") if p.is_file())
            inside = sorted(p for p in found_here if not _hidden(p, path))
            if not inside:
                raise InputError(f"the folder {path} has no parquet file: give one that has.")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise InputError(f"there is no file or folder {path}: check the path.")
    known: set[Path] = set()
    for path in found:
        name = path.resolve()
        if name in known:
            raise InputError(f"the file {path} is given twice: name each file once.")
        known.add(name)
    return found


def _hidden(path: Path, root: Path) -> bool:
    return any(piece.startswith((".", "_")) for piece in path.relative_to(root).parts)
