"""Tables in, results out; nothing half-written is ever visible."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from falcon_discover.exceptions import InputError

READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": pd.read_csv,
    ".gz": pd.read_csv,
    ".parquet": pd.read_parquet,
    ".pq": pd.read_parquet,
    ".feather": pd.read_feather,
    ".arrow": pd.read_feather,
}
# A spreadsheet runs a cell that begins with one of these as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def read_table(path: Path) -> pd.DataFrame:
    """Read a CSV, parquet or Arrow/Feather file, told apart by its ending."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path} has the ending {path.suffix!r}: use one of {', '.join(READERS)}.")
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    try:
        table = reader(path)
    except Exception as error:  # every reader has its own kinds of error
        raise InputError(f"{path} cannot be read: {error}") from error
    if table.empty:
        raise InputError(f"{path} has no rows.")
    return table


def write_results(
    folder: Path,
    review: pd.DataFrame,
    summary: Mapping[str, Any],
    texts: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write the review list, the summary and other texts, all or nothing, and return the files.

    Parameters
    ----------
    texts : further files by name
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".partial-") as scratch:
        parts = [Path(scratch) / name for name in ("review.parquet", "review.csv", "summary.json")]
        review.to_parquet(parts[0], index=False)
        spreadsheet_safe(review).to_csv(parts[1], index=False)
        parts[2].write_text(summary_json(summary), encoding="utf-8")
        for name, words in (texts or {}).items():
            parts.append(Path(scratch) / name)
            parts[-1].write_text(words, encoding="utf-8")
        return [part.replace(folder / part.name) for part in parts]


def summary_json(summary: Mapping[str, Any]) -> str:
    """Return a summary as JSON text that every language can read."""
    return json.dumps(summary, indent=2, allow_nan=False) + "\n"


def write_text(path: Path, words: str) -> Path:
    """Write one text file, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".partial-") as scratch:
        part = Path(scratch) / path.name
        part.write_text(words, encoding="utf-8")
        return part.replace(path)


def spreadsheet_safe(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with texts quoted that a spreadsheet would run as formulas.

    Examples
    --------
    >>> spreadsheet_safe(pd.DataFrame({"name": ["=1+1", "plain"]}))["name"].tolist()
    ["'=1+1", 'plain']
    """

    def quoted(value: Any) -> Any:
        risky = isinstance(value, str) and value.startswith(FORMULA_STARTS)
        return f"'{value}" if risky else value

    texts = [c for c in table if not pd.api.types.is_numeric_dtype(table[c].dtype)]
    return table.assign(**{name: table[name].astype(object).map(quoted) for name in texts})
