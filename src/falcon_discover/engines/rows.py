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

from falcon_discover.exceptions import InputError
from falcon_discover.files import read_table

PARQUET = (".parquet", ".pq")
# Column chunks are read through a buffer of this size, not whole: a file may be one row group.
BUFFER = 2**20
BATCH_ROWS = 2**16


def count(path: Path) -> int:
    """Return the number of rows of a file."""
    if path.suffix.lower() not in PARQUET:
        return len(_whole(str(path)))
    with _parquet(path) as file:
        return int(file.metadata.num_rows)


def columns(path: Path) -> list[str]:
    """Return the names of a file's columns."""
    if path.suffix.lower() not in PARQUET:
        return list(_whole(str(path)).column_names)
    with _parquet(path) as file:
        return list(file.schema_arrow.names)


def read(path: Path, start: int, stop: int, wanted: Sequence[str]) -> pa.Table:
    """Return rows `start` to `stop` of the wanted columns, in the order they are wanted.

    A parquet file is read batch by batch, so memory does not depend on its size. Other formats
    are read whole.
    """
    if path.suffix.lower() not in PARQUET:
        return _whole(str(path)).slice(start, stop - start).select(list(wanted))
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


@lru_cache(maxsize=1)
def _whole(path: str) -> pa.Table:
    return pa.Table.from_pandas(read_table(Path(path)), preserve_index=False)
