"""What a folder holds, told apart from what differs between two runs of the same operation."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np

HIDDEN = re.compile(r"(^|/)\.")
# How a hidden file is told from another of the same name.
TOKEN = re.compile(r"(?<=[-.])[0-9a-f]{8}(?=\.(partial|commit))")
# skops calls objects by their address in memory.
ADDRESS = re.compile(rb'"__id__": \d+|"file": "\d+\.')


def snapshot(folder: Path) -> dict[str, str]:
    """Return a digest of each file that is there under its final name."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not HIDDEN.search(name):
            found[name] = digest(path)
    return found


def digest(path: Path) -> str:
    """Return a hash of a file's content, addresses in memory left out."""
    data = path.read_bytes()
    if path.suffix == ".falcon":
        try:
            return _of_audit(data)
        except (zipfile.BadZipFile, KeyError, ValueError):
            return f"damaged {_hash(data)}"
    return _hash(data)


def everything(folder: Path) -> str:
    """Return a hash of all that a new start finds, hidden files too."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=lambda path: TOKEN.sub("", str(path))):
        found.update(TOKEN.sub("", path.relative_to(folder).as_posix()).encode() + b"\0")
        if path.suffix == ".commit":
            found.update(TOKEN.sub("", path.read_text()).encode())
        elif path.is_file():
            found.update(digest(path).encode())
    return found.hexdigest()


# Most audits of a folder stay as they are from one look to the next.
@lru_cache(maxsize=64)
def _of_audit(data: bytes) -> str:
    """Return a hash of what a saved audit says, whole or not at all."""
    found = hashlib.sha256()
    with zipfile.ZipFile(BytesIO(data)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        listed = manifest.pop("parts")
        found.update(json.dumps(manifest).encode())
        for name, about in listed.items():
            part = archive.read(name)
            if _hash(part) != about["sha256"]:
                raise ValueError(f"{name} is damaged")
            found.update(name.encode())
            found.update((_of_objects(part) if name.endswith(".skops") else _hash(part)).encode())
    return found.hexdigest()


def _of_objects(data: bytes) -> str:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        schema = ADDRESS.sub(b"", archive.read("schema.json"))
        files = [archive.read(name) for name in archive.namelist() if name != "schema.json"]
    arrays = sorted(map(_of_array, files))
    return _hash(schema + "".join(arrays).encode())


def _of_array(data: bytes) -> str:
    """Return a hash of values; the bytes between the fields of a record may be anything."""
    array = np.load(BytesIO(data), allow_pickle=False)
    names = array.dtype.names
    fields = [array] if names is None else [array[name] for name in names]
    return _hash(b"".join(np.ascontiguousarray(field).tobytes() for field in fields))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
