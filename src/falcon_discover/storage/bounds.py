"""How much a file may unpack to, checked before anything is unpacked.

A few hundred kilobytes can hold gigabytes of zeros. Zip members and arrays say how large they are
in their heads, so that a file which holds too much is refused by reading these alone.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO

import pyarrow.parquet as pq
from numpy.lib import format as npy

from falcon_discover.exceptions import InputError

# One-hot columns pack to a hundredth and, with the scores and signals beside them, audits to a
# fiftieth at best; zeros pack to a thousandth. A small file may take FREE_BYTES at any ratio.
RATIO = 200
FREE_BYTES = 256 * 2**20
# The table of contents: 10,000 columns take less than a megabyte.
MANIFEST_BYTES = 8 * 2**20
# The text that describes objects takes many times its size when it is read, so it may have this
# part of the room: 64 MB are 3,000 boosted trees.
SCHEMA_SHARE = 4
CELL_BYTES = 8
# Of these zipfile unpacks no more at once than it is asked for.
COMPRESSION = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@contextmanager
def reading(part: str, fault: str = "is damaged: it cannot be used") -> Iterator[None]:
    """Turn whatever a damaged or forged part leads to into one sentence that names it."""
    try:
        yield
    except InputError:
        raise
    except MemoryError as error:  # the machine's, or that of a forged size
        raise InputError(f"{part} cannot be read: out of memory, or it is damaged.") from error
    except Exception as error:  # every library has its own kinds, and a forged file any of them
        raise InputError(f"{part} {fault} ({type(error).__name__}: {error}).") from error


def allowed(packed: int) -> int:
    """Return how many bytes a file of this size may unpack to."""
    return max(FREE_BYTES, RATIO * packed)


def check_members(archive: zipfile.ZipFile, limit: int, name: str) -> None:
    """Raise if a zip has a name twice, or its members are too large together."""
    members = archive.infolist()
    if len({member.filename for member in members}) < len(members):
        raise InputError(f"{name} was altered: it has two parts of the same name.")
    if any(member.compress_type not in COMPRESSION for member in members):
        raise InputError(f"{name} was altered: a part is compressed in a way that is not used.")
    total = sum(member.file_size for member in members)
    if total > limit:
        raise _too_large(name, total, limit)


def read_member(archive: zipfile.ZipFile, member: str) -> bytes:
    """Return a member's bytes, and never unpack more than its head says."""
    info = archive.getinfo(member)
    with archive.open(info) as file:
        data = file.read(info.file_size)
        # Reading on to the end compares the checksum.
        if len(data) != info.file_size or file.read(1):
            raise zipfile.BadZipFile("its size is not the one given")
    return data


def unpacked(data: bytes, limit: int, name: str) -> bytes:
    """Return an npz or skops file with nothing in it compressed, checked from the heads first.

    Others may then read it whole: what it takes is no more than what is returned.
    """
    fault = "is damaged: it cannot be unpacked"
    with reading(name, fault), zipfile.ZipFile(BytesIO(data)) as archive:
        check_members(archive, limit, name)
        schema = archive.NameToInfo.get("schema.json")
        if schema is not None and schema.file_size > limit // SCHEMA_SHARE:
            raise _too_large(name, schema.file_size, limit // SCHEMA_SHARE)
        for member in archive.infolist():
            if _is_array(archive, member):
                with archive.open(member) as file:
                    _check_head(file, member.file_size, f"{name}, array {member.filename},")
        if all(_is_plain(member) for member in archive.infolist()):
            return data
        return _repacked(archive, limit, name)


def _is_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    # numpy tells arrays by their first bytes, whatever they are called.
    with archive.open(member) as file:
        return member.filename.endswith(".npy") or file.read(6) == npy.MAGIC_PREFIX


def _is_plain(member: zipfile.ZipInfo) -> bool:
    stored = member.compress_type == zipfile.ZIP_STORED
    return stored and member.compress_size == member.file_size and member.filename[-4:] != ".npz"


def _repacked(archive: zipfile.ZipFile, limit: int, name: str) -> bytes:
    plain = BytesIO()
    with zipfile.ZipFile(plain, "w") as target:
        for member in archive.namelist():
            data = read_member(archive, member)
            if member.endswith(".npz"):
                data = unpacked(data, limit, f"{name}, matrix {member},")
            target.writestr(member, data)
    return plain.getvalue()


def check_parquet(data: bytes, limit: int, name: str, rows: int | None = None) -> None:
    """Raise if a parquet file does not have this many rows, or has too many values."""
    about = pq.read_metadata(BytesIO(data))
    if rows is not None and about.num_rows != rows:
        raise InputError(f"{name} has {about.num_rows:,} rows instead of {rows:,}.")
    size = about.num_rows * max(1, about.num_columns) * CELL_BYTES
    if size > limit:
        raise _too_large(name, size, limit)


def _check_head(file: IO[bytes], size: int, name: str) -> None:
    """Raise if an array's head promises other bytes than there are, or objects."""
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise InputError(f"{name} is not made of plain values: it holds pickled objects.")
    count, there = math.prod(shape), size - file.tell()
    if count * dtype.itemsize != there or (count and not dtype.itemsize):
        raise InputError(
            f"{name} is damaged: its header gives {' x '.join(map(str, shape))} values, which do "
            f"not fill its {there:,} bytes."
        )


def _too_large(name: str, size: int, limit: int) -> InputError:
    return InputError(
        f"{name} would unpack to {size / 1e6:,.0f} MB, but a file of its size may take "
        f"{limit / 1e6:,.0f} MB: it is damaged, or made to exhaust memory."
    )
