"""Tables and labels at the door: numpy, pandas and polars in, one canonical form inside.

A user's model always gets the table as it was handed in (`Table.native`). Everything this
package computes itself starts from `Table.frame`: numbers as float64, everything else as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import InvalidOperation
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import check_array

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.types import Float32Array, FloatArray, IntArray, UInt64Array
from falcon_discover.runtime.words import number_of, shortened

Kind = Literal["numeric", "datetime", "categorical"]

# Spread of a transformed column below which it is almost constant: a 0/1 column with 1% ones.
MIN_SPREAD = 0.1
# Squares of larger numbers, and so variances and distances, leave double precision.
LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class Table:
    """A feature table: as given, and in canonical form with the kind of each column.

    Booleans and strings are categorical; dates and times are seconds since 1970.

    Examples
    --------
    >>> table = Table.from_input(pd.DataFrame({"age": [31, None], "job": ["clerk", None]}))
    >>> table.kinds
    {'age': 'numeric', 'job': 'categorical'}
    """

    native: Any
    frame: pd.DataFrame
    kinds: dict[str, Kind]
    index: pd.Index

    @classmethod
    def from_input(cls, X: Any, kinds: Mapping[str, Kind] | None = None) -> Table:
        """Read a table; with `kinds` of an earlier one, hold it to the same kinds.

        Where only one of the two tables has names, columns are taken by position.
        """
        native, frame, index = _as_pandas(X)
        if kinds is not None and len(kinds) == frame.shape[1] and not {*kinds} <= {*frame.columns}:
            frame = frame.set_axis(list(kinds), axis=1)
        columns: dict[str, npt.NDArray[Any]] = {}
        found: dict[str, Kind] = {}
        for position, name in enumerate(frame.columns):
            column = frame.iloc[:, position]
            wanted = None if kinds is None else kinds.get(name)
            found[name] = wanted or _kind_of(column)
            columns[name] = _canonical(column, name, found[name], fixed=wanted is not None)
        return cls(native, pd.DataFrame(columns, copy=False), found, index)

    def __len__(self) -> int:
        return len(self.index)

    def take(self, rows: IntArray | slice) -> Table:
        """Return the given rows, in the given order."""
        frame = self.frame.iloc[rows].reset_index(drop=True)
        return Table(take_rows(self.native, rows), frame, self.kinds, self.index[rows])

    def row_hashes(self) -> UInt64Array:
        """Return one hash per row that depends on its values only, not on its place."""
        hashes: UInt64Array = pd.util.hash_pandas_object(self.frame, index=False).to_numpy()
        return hashes


def kinds_of(X: Any) -> dict[str, Kind]:
    """Return the kind of each column of a table.

    Examples
    --------
    >>> kinds_of(pd.DataFrame({"age": [31, None], "job": ["clerk", None]}))
    {'age': 'numeric', 'job': 'categorical'}
    """
    _, frame, _ = _as_pandas(X)
    return {name: _kind_of(frame.iloc[:, i]) for i, name in enumerate(frame.columns)}


def named_like(X: Any, names: list[Any] | None, like: Any) -> Any:
    """Return rows with these column names, in the library of `like`, or without any.

    Examples
    --------
    >>> named_like(np.array([[1, 2]]), ["a", "b"], like=None)
       a  b
    0  1  2
    """
    named = hasattr(X, "columns")
    if names is None:
        return nw.from_native(X, eager_only=True).to_numpy() if named else X
    if named:
        return X
    if nw.dependencies.is_polars_dataframe(like):
        return nw.from_numpy(X, names, backend="polars").to_native()
    return pd.DataFrame(X, columns=names).infer_objects()


def array_names(width: int) -> list[str]:
    """Return the names that the columns of an array go by."""
    return [f"x{i}" for i in range(width)]


def take_rows(X: Any, rows: IntArray | slice) -> Any:
    """Return rows of an array, sparse matrix or data frame without changing its type."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[rows]
    return X[rows]


def informative_columns(coordinates: Float32Array) -> IntArray:
    """Return which columns vary; almost constant ones cost time and cannot be split on.

    Examples
    --------
    >>> informative_columns(np.array([[0.0, 1.0], [0.0, 2.0]], dtype=np.float32))
    array([1])
    """
    return np.flatnonzero(coordinates.std(axis=0) >= MIN_SPREAD)


def _as_pandas(X: Any) -> tuple[Any, pd.DataFrame, pd.Index]:
    """Return the table as models get it, as a pandas frame, and its row labels."""
    if nw.dependencies.is_pyarrow_table(X):
        X = _from_arrow(X)
    if isinstance(X, pd.DataFrame):
        _check_names(X.columns)
        X = _native_order(X)
    eager = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise InputError("X is a lazy frame: call collect() on it first.")
    if not isinstance(eager, nw.DataFrame):
        if np.ma.is_masked(X):
            raise InputError("X contains masked values: fill them, or set them to NaN.")
        try:
            array = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
        except Exception as error:  # a container of one's own may raise anything
            raise InputError(_without_cells(str(error))) from error
        frame = pd.DataFrame(array, columns=array_names(array.shape[1]))
        return array, frame.infer_objects(), frame.index
    frame = X if isinstance(X, pd.DataFrame) else eager.to_pandas()
    names = [str(name) for name in frame.columns]
    for axis, what in ((1, "feature"), (0, "sample")):
        if frame.shape[axis] == 0:
            raise InputError(
                f"X has 0 {what}(s) (shape={frame.shape}) while a minimum of 1 is required."
            )
    return X, frame.set_axis(names, axis=1), frame.index


def _from_arrow(X: Any) -> pd.DataFrame:
    # The notes of the pandas that wrote the table may name types that cannot be made again.
    for ignored in (False, True):
        try:
            return X.to_pandas(ignore_metadata=ignored)
        except (TypeError, ValueError, NotImplementedError) as error:
            said = shortened(error)
    raise InputError(f"X is an Arrow table that pandas cannot read ({said}): convert its columns.")


def _without_cells(said: str) -> str:
    """Return what scikit-learn says about a table, without the table that it adds."""
    first, _, rest = said.partition("\n")
    advice = rest[rest.find("\nReshape") + 1 :] if "\nReshape" in rest else ""
    return " ".join(part for part in (shortened(first.rstrip(":")), shortened(advice)) if part)


def _native_order(X: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its numbers in this machine's byte order, which pandas needs."""
    foreign = {
        name: dtype.newbyteorder("=")
        for name, dtype in X.dtypes.items()
        if isinstance(dtype, np.dtype) and not dtype.isnative
    }
    return X.astype(foreign) if foreign else X


def _check_names(columns: pd.Index) -> None:
    if columns.nlevels > 1:
        raise InputError(
            f"X has column names with {columns.nlevels} levels: flatten them, for instance with "
            "X.columns.map('_'.join)."
        )
    names = pd.Index([str(name) for name in columns], dtype=object)
    check_text(names.tolist(), "a column name")
    if names.has_duplicates:
        repeated = shortened(names[names.duplicated()][0])
        raise InputError(f"column {repeated!r} appears more than once: rename the columns.")


def _kind_of(column: pd.Series) -> Kind:
    dtype = column.dtype
    if pd.api.types.is_complex_dtype(dtype):
        raise _complex(column)
    if isinstance(dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(dtype):
        return "categorical"
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype):
        return "numeric"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "datetime"
    inferred = pd.api.types.infer_dtype(column, skipna=True)
    if inferred == "complex":
        raise _complex(column)
    if inferred in {"integer", "floating", "mixed-integer-float", "decimal", "empty"}:
        return "numeric"
    if inferred in {"date", "datetime", "datetime64"}:
        return "datetime"
    return "categorical"


def _complex(column: pd.Series) -> InputError:
    return InputError(
        f"column {shortened(column.name)!r} contains complex numbers: split them into real and "
        "imaginary columns."
    )


def _canonical(column: pd.Series, name: str, kind: Kind, *, fixed: bool) -> npt.NDArray[Any]:
    if kind == "categorical":
        try:
            return _as_text(column)
        except InputError:
            raise
        except Exception as error:  # an object of one's own may raise anything
            raise InputError(
                f"column {shortened(name)!r} contains values that are not numbers, text or dates "
                f"({shortened(error)}): convert it, or leave it out."
            ) from error
    try:
        if kind == "datetime":
            return _as_seconds(column)
        values = _as_float(column)
    except (TypeError, ValueError, ArithmeticError) as error:
        was = f" was {kind} when fitted and" if fixed else ""
        why = type(error).__name__ if isinstance(error, InvalidOperation) else shortened(error)
        raise InputError(
            f"column {shortened(name)!r}{was} holds a value that is not a {kind} value ({why})."
        ) from error
    large = np.abs(values) > LARGEST
    if large.any():
        infinite = int(np.isinf(values).sum())
        what = "infinity" if infinite else f"{values[large][0]:g}, which is too large,"
        raise InputError(
            f"column {shortened(name)!r} contains {what} in "
            f"{number_of(infinite or int(large.sum()), 'row')}: replace it with a number or a "
            "missing value."
        )
    return values


def _as_float(column: pd.Series) -> FloatArray:
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return column.dt.total_seconds().to_numpy(dtype=np.float64)
    if pd.api.types.is_numeric_dtype(column.dtype):
        if pd.api.types.is_complex_dtype(column.dtype):
            raise TypeError("it holds complex numbers")
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise TypeError("it holds dates")
    numbers = pd.to_numeric(column.astype(object).where(column.notna(), np.nan))
    if pd.api.types.is_complex_dtype(numbers.dtype):
        raise TypeError("it holds complex numbers")
    return numbers.to_numpy(dtype=np.float64, na_value=np.nan)


def _as_seconds(column: pd.Series) -> FloatArray:
    if pd.api.types.is_numeric_dtype(column.dtype) and column.notna().any():
        # They would be taken for nanoseconds.
        raise TypeError("it holds numbers")
    # Any other way to write dates would be a guess.
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        column = column.astype(object)
    written = pd.api.types.infer_dtype(column, skipna=True) == "string"
    moments = pd.to_datetime(column, utc=True, format="ISO8601" if written else None)
    seconds = (moments - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
    return seconds.to_numpy(dtype=np.float64)


def _as_text(column: pd.Series) -> npt.NDArray[np.object_]:
    """Return values as `str` and missing ones as NaN, so every library's text agrees."""
    codes, values = pd.factorize(column)
    if pd.api.types.infer_dtype(column, skipna=True).startswith("mixed"):
        # True is 1 to Python: which of their texts both got would depend on the order of rows.
        codes, values = pd.factorize(column.map(str, na_action="ignore"))
    texts = [str(value) for value in values]
    check_text(texts, f"column {shortened(column.name)!r}")
    return np.array([*texts, np.nan], dtype=object)[codes]


def check_text(texts: list[str], what: str) -> None:
    """Raise if a text has half a character in it, which cannot be written or compared."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        broken = next(text for text in texts if text.encode(errors="ignore").decode() != text)
        raise InputError(
            f"{what} contains {shortened(ascii(broken))}, which is not valid text: read the data "
            "again with the right encoding, or replace such characters."
        ) from None
