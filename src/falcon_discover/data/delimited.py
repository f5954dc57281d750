"""CSV files as they come: separators, encodings, compression.

What a file leaves no doubt about is read, and noted where it is unusual. What could be read in two
ways is refused: a column that slips by one gives numbers that look right.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import lzma
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import pandas as pd

from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices


@contextmanager
def _zipped(path: Path) -> Iterator[Any]:
    with zipfile.ZipFile(path) as archive:
        inside = [name for name in archive.namelist() if not name.endswith("/")]
        if len(inside) != 1:
            raise InputError(
                f"{path} contains {len(inside)} files: give an archive with a single CSV file."
            )
        with archive.open(inside[0]) as file:
            yield file


OPENERS: dict[str, Callable[[Path], Any]] = {
    "": lambda path: path.open("rb"),
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _zipped,
}
ENDINGS = tuple(f"{kind}{packed}" for kind in (".csv", ".tsv") for packed in OPENERS)
# The longer mark comes first: UTF-32 begins like UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
# A number with a decimal comma, perhaps with points between the thousands.
DECIMAL_COMMA = r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?(?:[eE][+-]?\d+)?"
# As in 1,234: a decimal comma, or one between the thousands.
TWO_READINGS = r"[+-]?[1-9]\d{0,2},\d{3}"
TOO_LONG = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")


def ending(path: Path) -> str | None:
    """Return the ending that says that a file is CSV, such as ".csv.gz", or None.

    Examples
    --------
    >>> ending(Path("Rows.CSV.gz")), ending(Path("rows.parquet.gz"))
    ('.csv.gz', None)
    """
    name = path.name.lower()
    return next((known for known in ENDINGS if name.endswith(known)), None)


def read(path: Path, text_columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a CSV file; cells of `text_columns` are texts, exactly as they are written."""
    try:
        return _read(path, text_columns)
    except UnicodeDecodeError as error:
        raise InputError(_not_text(path)) from error
    except pd.errors.ParserError as error:
        said = TOO_LONG.search(str(error))
        if said is None:
            raise
        expected, line, found = said.groups()
        raise _too_long(path, int(line), int(found), int(expected)) from error


def _read(path: Path, text_columns: Sequence[str]) -> pd.DataFrame:
    with _opened(path) as text:
        separator = _separator(path, next((line for line in text if line.strip()), ""))
    with _opened(path) as text:
        header = _checked_header(path, text, separator)
    usual: dict[str, Any] = {"sep": separator, "index_col": False, "low_memory": False}
    with _opened(path) as text:
        table = pd.read_csv(text, **usual)
    exact = [name for name in text_columns if name in table.columns]
    if exact:
        with _opened(path) as text:
            # Read apart, since for the other columns "NA" does mean that a value is missing.
            texts = pd.read_csv(text, **usual, usecols=exact, dtype=str, keep_default_na=False)
        table[exact] = texts[exact]
    if header[-1] == "" and table.shape[1] == len(header) and table.iloc[:, -1].isna().all():
        # Some programs end every line, the header too, with a separator.
        table = table.iloc[:, :-1]
    if separator == ",":
        return table
    notices.warn(f"{path} is separated by {SEPARATORS[separator]} and was read that way.")
    return _with_decimal_commas(path, table, text_columns)


@contextmanager
def _opened(path: Path) -> Iterator[TextIOWrapper]:
    packed = (ending(path) or "")[len(".csv") :]
    with OPENERS[packed](path) as file:
        start = file.read(4)
    encoding = next((name for mark, name in MARKS if start.startswith(mark)), "utf-8-sig")
    with OPENERS[packed](path) as file, TextIOWrapper(file, encoding, newline="") as text:
        yield text


def _separator(path: Path, line: str) -> str:
    usual = "\t" if (ending(path) or "").startswith(".tsv") else ","
    if usual in line:
        return usual
    return max(SEPARATORS, key=lambda mark: (line.count(mark), mark == usual))


def _checked_header(path: Path, text: TextIOWrapper, separator: str) -> list[str]:
    """Return the names in the header, after a look at whether the first row fits them."""
    reader = csv.reader(text, delimiter=separator)
    records = (record for record in reader if any(cell.strip() for cell in record))
    header = next(records, None)
    if header is None:
        raise InputError(f"{path} is empty.")
    for position, name in enumerate(header, start=1):
        if "\0" in name:
            raise InputError(
                f"the name of column {position} of {path} has a NUL character: {name!r}. Write the "
                "file again as UTF-8 text."
            )
        if name and name in header[: position - 1]:
            raise InputError(f"{path} has two columns named {name!r}: rename one.")
    row = next(records, [])
    if len(row) > len(header):
        raise _too_long(path, reader.line_num, len(row), len(header))
    return header


def _too_long(path: Path, line: int, found: int, expected: int) -> InputError:
    return InputError(
        f"line {line} of {path} has {found} fields, but the header has {expected}: remove the "
        "separator at the end of the line, or name the missing column in the header."
    )


def _not_text(path: Path) -> str:
    where = ""
    packed = (ending(path) or "")[len(".csv") :]
    with OPENERS[packed](path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                where = f": see line {number}, byte 0x{line[error.start]:02x}"
                break
    return (
        f"{path} is not UTF-8 text{where}. If a spreadsheet wrote it, save it as 'CSV UTF-8'; or "
        f"convert it, as in: iconv -f WINDOWS-1252 -t UTF-8 {path.name} > utf8-{path.name}"
    )


def _with_decimal_commas(
    path: Path, table: pd.DataFrame, text_columns: Sequence[str]
) -> pd.DataFrame:
    """Return the table with columns such as 0,5 and 1.234,56 as numbers."""
    found: dict[str, pd.Series] = {}
    for name in table.columns:
        if pd.api.types.is_numeric_dtype(table[name].dtype) or name in text_columns:
            continue
        values = table[name].dropna().astype(str).str.strip()
        if values.str.contains(",").any() and values.str.fullmatch(DECIMAL_COMMA).all():
            found[name] = values
    if not found:
        return table
    commas = [values[values.str.contains(",")] for values in found.values()]
    if all(values.str.fullmatch(TWO_READINGS).all() for values in commas):
        raise InputError(
            f"column {next(iter(found))!r} of {path} has values such as {commas[0].iloc[0]!r}, "
            "which can be read in two ways: write numbers with a decimal point."
        )
    notices.warn(f"{path} has decimal commas: {', '.join(map(repr, found))} were read as numbers.")
    numbers = {
        name: pd.to_numeric(
            values.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
        ).reindex(table.index)
        for name, values in found.items()
    }
    return table.assign(**numbers)
