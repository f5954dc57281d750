"""Tables in, results out; nothing half-written is ever visible."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from falcon_discover.data import delimited
from falcon_discover.exceptions import InputError
from falcon_discover.runtime.atomic import atomic_write, settle
from falcon_discover.runtime.records import json_text

# Readers by the ending of the file; delimited text has many endings and one reader of its own.
READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".parquet": pd.read_parquet,
    ".pq": pd.read_parquet,
    ".feather": pd.read_feather,
    ".arrow": pd.read_feather,
}
# A spreadsheet runs a cell that begins with one of these as a formula.
FORMULA_STARTS = ("=", "+", "-", "@")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def read_table(path: Path, text_columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a CSV, parquet or Arrow/Feather file, told apart by its ending.

    Cells of `text_columns` in a CSV file are texts, exactly as they are written; the other formats
    know the types of their columns.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder: give a file.")
    reader = _reader(path, text_columns)
    if not path.is_file():
        raise InputError(f"there is no file {path}: check the path.")
    try:
        table = reader(path)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except Exception as error:  # every reader has its own kinds of error
        raise InputError(f"{path} cannot be read: {error}") from error
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise InputError(f"{path} has two columns named {twice[0]!r}: rename one.")
    if table.empty:
        raise InputError(f"{path} has no rows.")
    return table


def _reader(path: Path, text_columns: Sequence[str]) -> Callable[[Path], pd.DataFrame]:
    if path.suffix.lower() in READERS:
        return READERS[path.suffix.lower()]
    if delimited.ending(path) is not None:
        return partial(delimited.read, text_columns=text_columns)
    known = ", ".join([".csv", ".tsv", *READERS])
    packed = ", ".join(filter(None, delimited.OPENERS))
    raise InputError(
        f"{path} has the ending {''.join(path.suffixes[-2:])!r}: use one of {known}; the first two "
        f"may be packed ({packed})."
    )


def write_results(
    folder: Path,
    review: pd.DataFrame,
    summary: Mapping[str, Any],
    texts: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write review list, summary and `texts` by file name, all or nothing; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    settle(folder)
    words = {"summary.json": json_text(summary), **(texts or {})}
    paths = [folder / name for name in ("review.parquet", "review.csv", *words)]
    with atomic_write(*paths) as (parquet, table, *files):
        review.to_parquet(parquet, index=False)
        spreadsheet_safe(review).to_csv(table, index=False, quoting=csv.QUOTE_NONNUMERIC)
        for file, text in zip(files, words.values(), strict=True):
            file.write(text.encode())
    return paths


def spreadsheet_safe(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with texts that no spreadsheet runs and that no terminal obeys.

    Control characters, line ends among them, are written as Python writes them; a text that a
    spreadsheet would run as a formula gets a quote in front. Names of columns are texts too.

    Examples
    --------
    >>> spreadsheet_safe(pd.DataFrame({"name": ["=1+1", "plain"]}))["name"].tolist()
    ["'=1+1", 'plain']
    """

    def safe(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        words = CONTROL.sub(lambda found: repr(found[0])[1:-1], value)
        return f"'{words}" if words.startswith(FORMULA_STARTS) else words

    columns = [
        column
        if pd.api.types.is_numeric_dtype(column.dtype)
        else column.astype(object).map(safe).astype(object)
        for _, column in table.items()
    ]
    return pd.concat(columns, axis=1).set_axis([safe(name) for name in table], axis=1)
