"""When rows are from: numbers, dates, or dates written as texts."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.words import number_of, shortened

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
    if np.ma.is_masked(values):
        raise InputError(f"{name} contains masked values: fill them in, or drop those rows.")
    try:
        column = pd.Series(values).reset_index(drop=True)
        missing = int(column.isna().sum())
    except Exception as error:  # a container or an object of one's own may raise anything
        raise InputError(f"{name} cannot be read: give {KINDS}.") from error
    if n is not None and len(column) != n:
        raise InputError(f"{name} has {len(column):,} values: give one for each of {n:,} rows.")
    if missing:
        raise InputError(
            f"{name} is missing in {missing:,} of {len(column):,} rows: fill it in, or drop those "
            "rows."
        )
    if pd.api.types.infer_dtype(column, skipna=False) in ("integer", "floating", "decimal"):
        # Numbers that came as objects.
        try:
            column = column.astype(np.float64)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise InputError(
                f"{name} holds numbers that cannot be compared: give {KINDS}."
            ) from error
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_complex_dtype(column.dtype):
        raise InputError(f"{name} holds values of the type {column.dtype}: give {KINDS}.")
    if pd.api.types.is_numeric_dtype(column.dtype):
        numbers = column.to_numpy(dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise InputError(f"{name} holds infinite numbers: give {KINDS}.")
        return numbers
    return _moments(column, name)


def _moments(column: pd.Series, name: str) -> Times:
    try:
        if isinstance(column.dtype, pd.PeriodDtype):
            column = column.dt.to_timestamp()
        given = column.astype(object).where(~column.map(_is_number), None)
        read = pd.to_datetime(given, utc=True, format="ISO8601", errors="coerce")
    except Exception as error:  # an object of one's own may raise anything
        raise InputError(f"{name} cannot be read as times: give {KINDS}.") from error
    bad = np.flatnonzero(read.isna())
    if len(bad):
        raise InputError(
            f"{name} holds {shortened(repr(column.iloc[bad[0]]))} in row {bad[0]} "
            f"({number_of(len(bad), 'such row')}): give {KINDS}."
        )
    moments = read.dt.tz_localize(None)
    far = np.flatnonzero((moments < pd.Timestamp.min) | (moments > pd.Timestamp.max))
    if len(far):
        raise InputError(
            f"{name} holds {moments.iloc[far[0]]} in row {far[0]}, which is too far away: give "
            f"times between {pd.Timestamp.min:%Y} and {pd.Timestamp.max:%Y}."
        )
    return moments.to_numpy(dtype="datetime64[ns]")


def _is_number(value: Any) -> bool:
    return isinstance(value, Number)
