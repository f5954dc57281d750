"""When rows are from: numbers, dates, or dates written as texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.words import number_of

Times = npt.NDArray[Any]
KINDS = "numbers, dates, or ISO date strings such as 2025-03-31"


def times_of(values: Any, n: int | None = None, name: str = "times") -> Times:
    """Return when each row is from, as numbers or as moments without a time zone (UTC).

    Parameters
    ----------
    n : how many rows there are, where that is known
    name : what the values are called in an error

    Examples
    --------
    >>> times_of(["2025-01-31", "2025-02-01T12:00"])
    array(['2025-01-31T00:00:00.000000000', '2025-02-01T12:00:00.000000000'],
          dtype='datetime64[ns]')
    """
    column = pd.Series(values).reset_index(drop=True)
    if n is not None and len(column) != n:
        raise InputError(f"{name} has {len(column):,} values: give one for each of {n:,} rows.")
    missing = int(column.isna().sum())
    if missing:
        raise InputError(
            f"{name} is missing in {missing:,} of {len(column):,} rows: fill it in, or drop those "
            "rows."
        )
    if pd.api.types.is_bool_dtype(column.dtype):
        raise InputError(f"{name} holds true and false: give {KINDS}.")
    if pd.api.types.is_numeric_dtype(column.dtype):
        numbers = column.to_numpy(dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise InputError(f"{name} holds infinite numbers: give {KINDS}.")
        return numbers
    return _moments(column, name)


def _moments(column: pd.Series, name: str) -> Times:
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    read = pd.to_datetime(column.astype(object), utc=True, format="ISO8601", errors="coerce")
    bad = np.flatnonzero(read.isna())
    if len(bad):
        raise InputError(
            f"{name} holds {column.iloc[bad[0]]!r} in row {bad[0]} "
            f"({number_of(len(bad), 'such row')}): give {KINDS}."
        )
    return read.dt.tz_localize(None).to_numpy(dtype="datetime64[ns]")
