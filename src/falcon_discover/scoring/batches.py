"""Which batch a row belongs to, and what is known of batches as bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import astuple
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.data.times import times_of
from falcon_discover.exceptions import InputError
from falcon_discover.monitoring.labelled import Labelled
from falcon_discover.monitoring.sample import RowSample
from falcon_discover.monitoring.statistics import BatchStatistics
from falcon_discover.runtime.format import identifier
from falcon_discover.storage.frames import from_npz, from_parquet, npz, parquet

PERIODS = {"day": "D", "week": "W-SUN", "month": "M", "quarter": "Q", "year": "Y"}
MISSING = "(missing)"
# A batch keeps a sample of rows, so many of them would fill the memory.
MOST = 1_000
# More than any part can hold: only bytes that were changed ask for more.
LIMIT = 2**31
DIGITS = re.compile(r"(\d+)")


def batch_names(values: pd.Series, name: str, every: str | None = None) -> npt.NDArray[Any]:
    """Return which batch each row belongs to.

    Parameters
    ----------
    values : of the column that batches are made by
    name : of that column
    every : one of `PERIODS`, for times; without it times are taken by day, and of anything else
        each value is a batch

    Examples
    --------
    >>> batch_names(pd.Series(["2026-11-17", "2026-11-22", "2026-11-23"]), "day", "week").tolist()
    ['2026-11-16', '2026-11-16', '2026-11-23']
    >>> batch_names(pd.Series([3, 3, 10]), "week").tolist()
    ['3', '3', '10']
    """
    if every is None and not pd.api.types.is_datetime64_any_dtype(values.dtype):
        known = values.astype(object).where(values.notna(), None)
        return np.array([MISSING if v is None else identifier(v) for v in known], dtype=object)
    names = np.full(len(values), MISSING, dtype=object)
    known = values.notna().to_numpy()
    if known.any():
        moments = times_of(values[known], name=f"the column {name!r}")
        if moments.dtype.kind != "M":
            raise InputError(
                f"the column {name!r} contains numbers, but --every {every} groups dates: leave "
                "--every out, so that each number is a batch."
            )
        periods = pd.DatetimeIndex(moments).to_period(PERIODS[every or "day"])
        if every == "week":
            names[known] = periods.start_time.strftime("%Y-%m-%d")
        else:
            names[known] = periods.astype(str)
    return names


def in_order(names: Iterable[str]) -> list[str]:
    """Return batches as people would count them: numbers by size, and texts with them inside.

    Examples
    --------
    >>> in_order(["week 10", "week 9", "(missing)"]), in_order(["10", "9.5", "-1"])
    (['week 9', 'week 10', '(missing)'], ['-1', '9.5', '10'])
    """
    known = list(names)
    try:
        return sorted(known, key=lambda name: (name == MISSING, _number(name)))
    except ValueError:
        return sorted(known, key=lambda name: (name == MISSING, _counted(name)))


def _number(name: str) -> float:
    return 0.0 if name == MISSING else float(name)


def _counted(name: str) -> list[tuple[int, str]]:
    pieces = DIGITS.split(name)
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces if piece]


def check_few(names: Iterable[str], name: str | None) -> None:
    """Raise if there are more batches than can be kept."""
    count = len(set(names))
    if count > MOST and name is None:
        raise InputError(
            f"there are more than {MOST:,} files, and each file is a batch: use --by to name a "
            "column that says which batch a row is in."
        )
    if count > MOST:
        raise InputError(
            f"the column {name!r} makes more than {MOST:,} batches: use --every with dates, or a "
            "column with fewer values."
        )


def packed(batches: Mapping[str, BatchStatistics]) -> bytes:
    """Return what is known of batches as an npz file; nothing is pickled."""
    arrays: dict[str, npt.NDArray[Any]] = {"names": _bytes(json.dumps(list(batches)).encode())}
    for i, found in enumerate(batches.values()):
        arrays |= {
            f"{i}.rows": found.rows,
            f"{i}.eligible": found.eligible,
            f"{i}.sums": found.sums,
            f"{i}.labelled": np.array(astuple(found.labelled)),
            f"{i}.keys": found.sample.keys,
            f"{i}.sample": _bytes(parquet(found.sample.frame)),
            f"{i}.columns": np.array(len(found.counts)),
        }
        arrays |= {f"{i}.counts.{j}": counts for j, counts in enumerate(found.counts)}
    return npz(arrays)


def unpacked(data: bytes, what: str) -> dict[str, BatchStatistics]:
    """Return what `packed` has written; raise an InputError if it is something else."""
    arrays = from_npz(data, LIMIT, what)
    try:
        names = json.loads(arrays["names"].tobytes())
        return {name: _batch(arrays, i, what) for i, name in enumerate(names)}
    except (KeyError, ValueError) as error:
        raise InputError(f"{what} is not as it was written: delete it and run again.") from error


def _batch(arrays: Mapping[str, npt.NDArray[Any]], i: int, what: str) -> BatchStatistics:
    keys = arrays[f"{i}.keys"]
    frame = from_parquet(arrays[f"{i}.sample"].tobytes(), LIMIT, what, len(keys))
    return BatchStatistics(
        arrays[f"{i}.rows"],
        arrays[f"{i}.eligible"],
        arrays[f"{i}.sums"],
        tuple(arrays[f"{i}.counts.{j}"] for j in range(int(arrays[f"{i}.columns"]))),
        RowSample(keys, frame),
        Labelled(*(int(count) for count in arrays[f"{i}.labelled"])),
    )


def _bytes(data: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8)
