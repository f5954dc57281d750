"""The file a fitted audit is saved in: a zip of parts, each with its checksum.

The first member, `manifest.json`, says what the file is, in which schema, by which versions it was
written, and how long each part is and what its SHA-256 is. The checksums find damage; they are no
signature, so they do not say who wrote the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from falcon_discover.exceptions import InputError

FORMAT = "falcon-discover audit"
# Raise SCHEMA with every change of what the parts hold, and OLDEST when one is no longer read.
SCHEMA = 1
OLDEST = 1
MANIFEST = "manifest.json"


def write(path: Path, manifest: Mapping[str, Any], parts: Mapping[str, bytes]) -> None:
    """Write the file in one step: it is never there half-written."""
    listed = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in parts.items()
    }
    head = {"format": FORMAT, "schema": SCHEMA, **manifest, "parts": listed}
    with (
        replacing(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        archive.writestr(MANIFEST, json.dumps(head, indent=2, allow_nan=False) + "\n")
        for name, data in parts.items():
            archive.writestr(name, data)


@contextmanager
def replacing(path: Path) -> Iterator[Any]:
    """Open a hidden file beside `path` for writing; it takes that name only when it is whole."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp lets only the owner read; give the file the rights any new file gets.
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@dataclass(frozen=True, eq=False)
class Archive:
    """A saved audit that was opened: its manifest, and its parts on demand."""

    name: str
    manifest: dict[str, Any]
    data: Path | bytes

    @classmethod
    def open(cls, source: Path | bytes) -> Archive:
        """Read the manifest and check that this version can read the rest."""
        name = str(source) if isinstance(source, Path) else "the saved audit"
        if isinstance(source, Path) and not source.is_file():
            raise InputError(f"there is no file {source}.")
        with _opened(source, name) as archive:
            if MANIFEST not in archive.namelist():
                raise InputError(f"{name} is no saved audit: its part {MANIFEST} is missing.")
            text = _part(archive, MANIFEST, name)
        try:
            manifest = json.loads(text)
        except ValueError as error:
            raise InputError(f"{name} is damaged: its part {MANIFEST} is no JSON.") from error
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise InputError(f"{name} is no saved audit: its {MANIFEST} does not say so.")
        _check_schema(name, manifest)
        return cls(name, manifest, source)

    def parts(self) -> dict[str, bytes]:
        """Return all parts, each checked against the manifest."""
        listed = self.manifest["parts"]
        found = {}
        with _opened(self.data, self.name) as archive:
            there = set(archive.namelist())
            strange = sorted(there - set(listed) - {MANIFEST})
            if strange:
                raise InputError(
                    f"{self.name} was altered: it has a part {strange[0]} that its {MANIFEST} "
                    "does not list."
                )
            for name, wanted in listed.items():
                if name not in there:
                    raise InputError(f"{self.name} was altered: its part {name} is missing.")
                found[name] = _part(archive, name, self.name)
                if hashlib.sha256(found[name]).hexdigest() != wanted["sha256"]:
                    raise InputError(
                        f"{self.name} was altered: its part {name} does not have the checksum that "
                        f"{MANIFEST} gives. Save it again, or copy it again."
                    )
        return found


@contextmanager
def _opened(source: Path | bytes, name: str) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(source if isinstance(source, Path) else BytesIO(source))
    except zipfile.BadZipFile as error:
        raise InputError(
            f"{name} is no saved audit, or was cut off: its last part, the table of contents, is "
            "missing."
        ) from error
    with archive:
        yield archive


def _part(archive: zipfile.ZipFile, part: str, name: str) -> bytes:
    try:
        return archive.read(part)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(
            f"{name} is damaged: its part {part} cannot be read ({error}). Copy it again."
        ) from error


def _check_schema(name: str, manifest: Mapping[str, Any]) -> None:
    schema = manifest.get("schema")
    by = manifest.get("versions", {}).get("falcon-discover", "an unknown version")
    if not isinstance(schema, int):
        raise InputError(f"{name} is damaged: its {MANIFEST} gives the schema as {schema!r}.")
    if schema > SCHEMA:
        raise InputError(
            f"{name} was saved by falcon-discover {by} in schema {schema}; this version reads up "
            f"to {SCHEMA}: install that version or a newer one."
        )
    if schema < OLDEST:
        raise InputError(
            f"{name} was saved by falcon-discover {by} in schema {schema}; this version reads "
            f"{OLDEST} and above. Install falcon-discover {by} to use it, or fit again with this "
            "version on the same rows and save."
        )
