"""What is done with bytes that came from a file: the targets of guided fuzzing and its corpus."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from falcon_discover import InputError, load
from falcon_discover.data.files import read_table
from falcon_discover.monitoring.marks import located, marked
from falcon_discover.report.feedback import feedback
from falcon_discover.storage import manifest
from falcon_discover.storage.archive import Archive
from fuzz.files import written

REVIEW = pd.DataFrame({"row": range(20), "suspicion": 0.1, "confidence": 0.95})


def csv(content: bytes) -> None:
    """Read a CSV file, told apart by its first byte: plain, or packed."""
    ending = {0x1F: ".csv.gz", 0x42: ".csv.bz2", 0xFD: ".csv.xz", 0x50: ".csv.zip"}
    path = written(f"corpus{ending.get(content[0] if content else 0, '.csv')}", content)
    read_table(path, text_columns=["id"])


def marks(content: bytes) -> None:
    table = read_table(written("marks.csv", content))
    try:
        feedback(REVIEW, table)
    finally:
        judged, _ = marked(table, "marks.csv", None)
        located(judged, REVIEW, "rows.csv", None)


def contents(content: bytes) -> None:
    """Read the table of contents of a saved audit."""
    manifest.read(content, "the audit")


def audit(content: bytes) -> None:
    """Load a saved audit."""
    load(content)


def inspect(content: bytes) -> None:
    """Look at a saved audit as `inspect` does, without loading what is in it."""
    Archive.open(content)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "audit": audit,
    "contents": contents,
    "csv": csv,
    "inspect": inspect,
    "marks": marks,
}


def tried(target: str, content: bytes) -> bool:
    """Return whether bytes were taken; refused ones must be refused with a sentence."""
    try:
        TARGETS[target](content)
    except InputError as error:
        if not str(error).strip():
            raise
        return False
    return True
