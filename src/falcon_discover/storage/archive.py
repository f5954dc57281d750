"""The file a fitted audit is saved in: a zip of parts, each with its checksum.

The first member, `manifest.json`, says what the file is, in which schema, by which versions it was
written, and how long each part is and what its SHA-256 is; `manifest.sha256` says the same of the
manifest. The checksums find damage; they are no signature, so they do not say who wrote the file.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.atomic import atomic_write
from falcon_discover.runtime.records import json_text
from falcon_discover.runtime.words import shortened
from falcon_discover.storage import bounds
from falcon_discover.storage import manifest as contents_table
from falcon_discover.storage.manifest import FORMAT, MANIFEST

CHECKSUM = "manifest.sha256"
# The first schema whose files have a checksum of the manifest.
CHECKED_SCHEMA = 2


def write(path: Path, manifest: Mapping[str, Any], parts: Mapping[str, bytes]) -> None:
    """Write the file in one step: it is never there half-written."""
    listed = {name: {"bytes": len(data), "sha256": _hash(data)} for name, data in parts.items()}
    head = {"format": FORMAT, "schema": contents_table.SCHEMA, **manifest, "parts": listed}
    text = json_text(head).encode()
    with atomic_write(path) as (file,):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(MANIFEST, text)
            archive.writestr(CHECKSUM, f"{_hash(text)}  {MANIFEST}\n")
            for name, data in parts.items():
                archive.writestr(name, data)
        # What would be refused on loading must not be written.
        limit = bounds.allowed(file.tell())
        bounds.check_members(archive, limit, "the audit")
        for name, data in parts.items():
            if name.endswith((".npz", ".skops")):
                bounds.unpacked(data, limit, f"the audit, part {name},")


@dataclass(frozen=True, eq=False)
class Archive:
    """A saved audit that was read: its manifest and its parts, checked against each other.

    `name` is what errors call it, `limit` the most bytes that a part may unpack to.
    """

    name: str
    manifest: dict[str, Any]
    parts: dict[str, bytes]
    limit: int

    def named(self, part: str) -> str:
        """Return what to call a part in an error."""
        return f"{self.name}, part {part},"

    @classmethod
    def open(cls, source: Path | bytes) -> Archive:
        """Read the file once, and check that this version can use it."""
        if isinstance(source, bytes):
            return cls._read(BytesIO(source), "the saved audit")
        if not source.is_file():
            raise InputError(f"there is no file {source}: check the path.")
        with source.open("rb") as file:
            return cls._read(file, str(source))

    @classmethod
    def _read(cls, file: Any, name: str) -> Archive:
        limit = bounds.allowed(file.seek(0, os.SEEK_END))
        file.seek(0)
        is_zip = file.read(2) == b"PK"
        try:
            archive = zipfile.ZipFile(file)
        except Exception as error:  # a damaged table of contents fails in many ways
            if not is_zip:
                raise InputError(f"{name} is not a saved audit.") from error
            raise InputError(
                f"{name} is not a saved audit, or was cut off: its end, which lists its contents, "
                "is missing."
            ) from error
        with archive:
            manifest = _manifest(archive, limit, name)
            return cls(name, manifest, _parts(archive, manifest, name), limit)


def _manifest(archive: zipfile.ZipFile, limit: int, name: str) -> dict[str, Any]:
    bounds.check_members(archive, limit, name)
    if MANIFEST not in archive.NameToInfo:
        raise InputError(f"{name} is not a saved audit: its part {MANIFEST} is missing.")
    for part in {MANIFEST, CHECKSUM} & archive.NameToInfo.keys():
        if archive.getinfo(part).file_size > bounds.MANIFEST_BYTES:
            raise InputError(f"{name} is damaged: its part {part} is too large.")
    text = _part(archive, MANIFEST, name)
    manifest = contents_table.read(text, name)
    if CHECKSUM in archive.NameToInfo:
        if _part(archive, CHECKSUM, name).split()[:1] != [_hash(text).encode()]:
            raise _altered(name, MANIFEST, CHECKSUM)
    elif manifest["schema"] >= CHECKED_SCHEMA:
        raise InputError(f"{name} was altered: its part {CHECKSUM} is missing.")
    return manifest


def _parts(archive: zipfile.ZipFile, manifest: dict[str, Any], name: str) -> dict[str, bytes]:
    listed, there = manifest["parts"], archive.NameToInfo
    strange = sorted(there.keys() - listed.keys() - {MANIFEST, CHECKSUM})
    if strange:
        raise InputError(
            f"{name} was altered: it has a part {strange[0]} that its {MANIFEST} does not list."
        )
    for part, wanted in listed.items():
        if part not in there:
            raise InputError(f"{name} was altered: its part {part} is missing.")
        if there[part].file_size != wanted["bytes"]:
            raise InputError(
                f"{name} was altered: its part {part} has {there[part].file_size:,} bytes, and its "
                f"{MANIFEST} gives {wanted['bytes']:,}."
            )
    found = {}
    for part, wanted in listed.items():
        found[part] = _part(archive, part, name)
        if _hash(found[part]) != wanted["sha256"]:
            raise _altered(name, part, MANIFEST)
    return found


def _part(archive: zipfile.ZipFile, part: str, name: str) -> bytes:
    try:
        return bounds.read_member(archive, part)
    except Exception as error:  # zipfile and zlib have many kinds of error
        raise InputError(
            f"{name} is damaged: its part {part} cannot be read ({shortened(error)}). Copy it "
            "again."
        ) from error


def _altered(name: str, part: str, by: str) -> InputError:
    return InputError(
        f"{name} was altered: its part {part} does not have the checksum that {by} gives. Copy it "
        "again, or save the audit again."
    )


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
