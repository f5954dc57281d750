"""Files that are read: tables in every format, as programs write them and as they break."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from falcon_discover.data.files import read_table
from fuzz.doors import right
from fuzz.outcome import REFUSED, WrongError, outcome
from fuzz.parts import Part
from strategies import SEEDS

CELLS = (
    "", " ", "1", "-2.5", "007", "1e5", "1,5", "1.234,56", "97%", "NA", "nan", "inf", "yes",
    "größe", "身長", "=1+1", "a,b", "a;b", "a\tb", 'say "hi"', "two\nlines", "\x1b[31m", "1e999",
    "9007199254740993", "0x1F", "2026-01-01", "true", "<b>", "'", "\u2028", "x" * 300,
)  # fmt: skip
HEADS = ("id", "p", "label", "x", "größe", " spaced ", "", "a,b", "Unnamed: 0", "id", "1", "x.1")
ENCODINGS = ("utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1252")
PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def _zipped(content: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("rows.csv", content)
    return held.getvalue()


PACK = {**PACKED, ".zip": _zipped}


@st.composite
def delimited(draw: st.DrawFn) -> dict[str, Any]:
    """A CSV file as some program writes it, and perhaps what happened to it since."""
    rng = np.random.default_rng(draw(SEEDS))
    width, length = int(rng.integers(1, 6)), int(rng.integers(0, 9))
    kind = draw(
        st.sampled_from(
            ("plain", "plain", "ragged", "blank lines", "no header", "ends with a separator")
        )
    )
    separator = draw(st.sampled_from((",", ",", ";", "\t", "|")))
    ending = draw(st.sampled_from(("\n", "\r\n", "\r")))
    names = [HEADS[i] for i in rng.integers(0, len(HEADS), width)]
    rows = [[CELLS[i] for i in rng.integers(0, len(CELLS), width)] for _ in range(length)]
    written = [names, *rows]
    if kind == "ragged" and rows:
        place = int(rng.integers(0, len(rows)))
        rows[place] = rows[place][:-1] if rng.random() < 0.5 else [*rows[place], "more"]
        written = [names, *rows]
    if kind == "blank lines":
        written = [[], names, [], *rows, []]
    if kind == "no header":
        written = rows
    if kind == "ends with a separator":
        written = [[*line, ""] for line in written]
    text = io.StringIO()
    # Cells with a line feed need quotes whatever ends a line.
    quoting = csv.QUOTE_ALL if ending == "\r" else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=separator, lineterminator=ending, quoting=quoting)
    writer.writerows(written)
    encoding = draw(st.sampled_from(ENCODINGS))
    content = text.getvalue().encode(encoding, "replace")
    packed = draw(st.sampled_from(sorted(PACK)))
    stem = draw(st.sampled_from((".csv", ".csv", ".tsv", ".CSV")))
    damage = draw(st.sampled_from(("none", "none", "flip", "cut", "NUL", "quote")))
    if damage in ("NUL", "quote"):
        content = broken(content, damage, rng)
    content = PACK[packed](content)
    if damage in ("flip", "cut"):
        content = broken(content, damage, rng)
    known = kind == "plain" and damage == "none" and encoding.startswith("utf")
    return {
        "name": f"rows{stem}{packed}",
        "content": content,
        "names": names,
        "rows": rows,
        "known": known and separator in ",;\t",
        "quoted": ending == "\r",
    }


def broken(content: bytes, damage: str, rng: np.random.Generator) -> bytes:
    if not content:
        return content
    place = int(rng.integers(0, len(content)))
    if damage == "cut":
        return content[:place]
    if damage == "flip":
        return (
            content[:place]
            + bytes([content[place] ^ (1 << int(rng.integers(0, 8)))])
            + content[place + 1 :]
        )
    return content[:place] + {"NUL": b"\0", "quote": b'"'}[damage] + content[place:]


@cache
def folder() -> Path:
    """Return a folder in memory where there is one, for files that are written and read at once."""
    shared = Path("/dev/shm")
    return Path(tempfile.mkdtemp(dir=shared if os.access(shared, os.W_OK) else None))


def written(name: str, content: bytes) -> Path:
    path = folder() / name
    path.write_bytes(content)
    return path


def delimited_file(case: dict[str, Any]) -> str:
    path = written(case["name"], case["content"])

    def call() -> None:
        table = read_table(path)
        right(len(table) > 0 and not table.columns.has_duplicates, "no rows, or names twice")
        if case["known"] and len(set(case["names"])) == len(case["names"]):
            exact = read_table(path, text_columns=[name for name in case["names"] if name])
            _check_texts(exact, case)

    try:
        return outcome(call)
    finally:
        path.unlink()


def _check_texts(table: pd.DataFrame, case: dict[str, Any]) -> None:
    """Hold every named column, read as text, to the cells that were written."""
    # A blank cell in a file of one column is a blank line, which is left out, unless it is quoted.
    rows = [
        row
        for row in case["rows"]
        if len(row) > 1 or case["quoted"] or row[0] == "" or row[0].strip(" \t")
    ]
    for position, name in enumerate(case["names"]):
        if name and name in table.columns:
            cells = [row[position] for row in rows]
            found = table[name].tolist()
            right(len(found) == len(cells), "rows are lost")
            # Lines are told apart by any line end, so one within a cell may come back as another.
            same = all(_line(a) == _line(b) for a, b in zip(found, cells, strict=True))
            right(same, f"{name!r} has other cells: {found} for {cells}")


def _line(text: Any) -> str:
    return str(text).replace("\r\n", "\n").replace("\r", "\n")


@cache
def binary_files() -> dict[str, bytes]:
    """Return a table in each binary format."""
    table = pd.DataFrame({"a": [1.5, None, 3.0] * 5, "b": ["x", "y", None] * 5, "c": range(15)})
    table["d"] = table["b"].astype("category")
    table["e"] = pd.date_range("2026-01-01", periods=15)
    found = {}
    for name, write in {"rows.parquet": table.to_parquet, "rows.feather": table.to_feather}.items():
        held = io.BytesIO()
        write(held)
        found[name] = held.getvalue()
    found["rows.arrow"] = found["rows.feather"]
    return found


@st.composite
def binary(draw: st.DrawFn) -> tuple[str, bytes]:
    name = draw(st.sampled_from(("rows.parquet", "rows.feather", "rows.arrow")))
    content = binary_files()[name]
    rng = np.random.default_rng(draw(SEEDS))
    for _ in range(draw(st.integers(0, 3))):
        content = broken(content, draw(st.sampled_from(("flip", "cut", "flip"))), rng)
    return name, content


def binary_file(case: tuple[str, bytes]) -> str:
    """Read a damaged file in a process of its own: a library's own code may crash on it."""
    path = written(*case)

    def call() -> None:
        table = read_table(path)
        right(len(table) > 0, "no rows")

    child = os.fork()
    if child == 0:
        try:
            os._exit({"answered": 0, REFUSED: 1}[outcome(call)])
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n"[:300].encode(errors="replace"))
            os._exit(9)
    _, status = os.waitpid(child, 0)
    path.unlink()
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        raise WrongError(f"signal {-code} in the library that reads {case[0]}")
    if code not in (0, 1):
        raise WrongError("a foreign exception")
    return ("answered", REFUSED)[code]


PARTS = (
    Part("CSV files: separators, encodings, packing, damage", delimited(), delimited_file, 4_000),
    Part("parquet and Feather files with damage", binary(), binary_file, 500),
)
