"""Rows of a file: how many there are, and some of them at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from falcon_discover.data.files import read_table
from falcon_discover.exceptions import InputError

# Column chunks are read through a buffer of this size, not whole: a file may be one row group.
BUFFER = 2**20
BATCH_ROWS = 2**16


def texts(identity: str | None) -> tuple[str, ...]:
    """Return the columns of a CSV file that are texts even where they look like numbers."""
    return () if identity is None else (identity,)


def count(path: Path, text_columns: tuple[str, ...] = ()) -> int:
    """Return the number of rows of a file."""
    if path.suffix.lower() not in (".parquet", ".pq"):
        return len(_whole_file(path, text_columns))
    with _parquet(path) as file:
        return int(file.metadata.num_rows)


def schema(path: Path, text_columns: tuple[str, ...] = ()) -> pa.Schema:
    """Return the names and types of a file's columns."""
    if path.suffix.lower() not in (".parquet", ".pq"):
        return _whole_file(path, text_columns).schema
    with _parquet(path) as file:
        return file.schema_arrow


def read(
    path: Path, start: int, stop: int, wanted: Sequence[str], text_columns: tuple[str, ...] = ()
) -> pa.Table:
    """Return rows `start` to `stop` of the wanted columns, in the order they are wanted.

    A parquet file is read batch by batch, so memory does not depend on its size. Other formats
    are read whole.
    """
    if path.suffix.lower() not in (".parquet", ".pq"):
        return _whole_file(path, text_columns).slice(start, stop - start).select(list(wanted))
    with _parquet(path) as file:
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        ends = np.cumsum(sizes)
        groups = [i for i, end in enumerate(ends) if end > start and end - sizes[i] < stop]
        position = int(ends[groups[0]] - sizes[groups[0]])
        batches = []
        for batch in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=list(wanted)):
            low, high = max(start - position, 0), min(stop - position, len(batch))
            if high > low:
                batches.append(batch.slice(low, high - low))
            position += len(batch)
            if position >= stop:
                break
        return pa.Table.from_batches(batches).select(list(wanted))


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    try:
        file = pq.ParquetFile(path, buffer_size=BUFFER)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as parquet: {error}") from error
    with file:
        yield file


def _whole_file(path: Path, text_columns: tuple[str, ...]) -> pa.Table:
    about = path.stat()
    return _whole(path.resolve(), about.st_size, about.st_mtime_ns, text_columns)


# The parts of a file come one after the other. Size and time are in the key, so that tomorrow's
# file of the same name is another one.
@lru_cache(maxsize=1)
def _whole(path: Path, size: int, modified: int, text_columns: tuple[str, ...]) -> pa.Table:
    table = read_table(path, text_columns)
    try:
        return pa.Table.from_pandas(table, preserve_index=False)
    except (pa.ArrowException, TypeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def forget() -> None:
    """Drop the file that was read whole."""
    _whole.cache_clear()
