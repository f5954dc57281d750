"""Tables and labels at the door: numpy, pandas and polars in, one canonical form inside.

A user's model always gets the table as it was handed in (`Table.native`). Everything this
package computes itself starts from `Table.frame`: numbers as float64, everything else as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from falcon_discover import notices
from falcon_discover.exceptions import InputError

Kind = Literal["numeric", "datetime", "categorical"]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

# Spread of a transformed column below which it is almost constant: a 0/1 column with 1 % ones.
MIN_SPREAD = 0.1


@dataclass(frozen=True)
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
        """Read a table; with `kinds` of an earlier one, hold it to the same kinds."""
        native, frame, index = _as_pandas(X)
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

    def row_hashes(self) -> npt.NDArray[np.uint64]:
        """Return one hash per row that depends on its values only, not on its place."""
        hashes: npt.NDArray[np.uint64] = pd.util.hash_pandas_object(
            self.frame, index=False
        ).to_numpy()
        return hashes


def take_rows(X: Any, rows: IntArray | slice) -> Any:
    """Return rows of an array, sparse matrix or data frame without changing its type."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[rows]
    return X[rows]


def telling_columns(coordinates: npt.NDArray[np.float32]) -> IntArray:
    """Return which columns vary; almost constant ones cost time and cannot be split on.

    Examples
    --------
    >>> telling_columns(np.array([[0.0, 1.0], [0.0, 2.0]], dtype=np.float32))
    array([1])
    """
    return np.flatnonzero(coordinates.std(axis=0) >= MIN_SPREAD)


def _as_pandas(X: Any) -> tuple[Any, pd.DataFrame, pd.Index]:
    """Return the table as models get it, as a pandas frame, and its row labels."""
    if isinstance(X, pd.DataFrame):
        _check_names(X.columns)
    eager = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise InputError("X is a lazy frame, whose rows are not there yet: call collect() on it.")
    if not isinstance(eager, nw.DataFrame):
        array = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
        frame = pd.DataFrame(array, columns=[f"x{i}" for i in range(array.shape[1])])
        return array, frame.infer_objects(), frame.index
    frame = X if isinstance(X, pd.DataFrame) else eager.to_pandas()
    names = [str(name) for name in frame.columns]
    if frame.shape[1] == 0:
        raise InputError(
            f"X has 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required."
        )
    if frame.shape[0] == 0:
        raise InputError(
            f"X has 0 sample(s) (shape={frame.shape}) while a minimum of 1 is required."
        )
    return X, frame.set_axis(names, axis=1), frame.index


def _check_names(columns: pd.Index) -> None:
    names = columns.astype(str)
    if names.has_duplicates:
        repeated = names[names.duplicated()][0]
        raise InputError(f"column {repeated!r} appears more than once: rename the columns.")


def _kind_of(column: pd.Series) -> Kind:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(dtype):
        return "categorical"
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype):
        return "numeric"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "datetime"
    inferred = pd.api.types.infer_dtype(column, skipna=True)
    if inferred in {"integer", "floating", "mixed-integer-float", "decimal", "empty"}:
        return "numeric"
    if inferred in {"date", "datetime", "datetime64"}:
        return "datetime"
    return "categorical"


def _canonical(column: pd.Series, name: str, kind: Kind, *, fixed: bool) -> npt.NDArray[Any]:
    if kind == "categorical":
        try:
            return _as_text(column)
        except TypeError as error:
            raise InputError(
                f"column {name!r} holds values that are neither numbers, texts nor dates "
                f"({error}): turn it into columns of those, or leave it out."
            ) from error
    try:
        if kind == "datetime":
            return _as_seconds(column)
        values = _as_float(column)
    except (TypeError, ValueError) as error:
        was = f"was {kind} when fitted and" if fixed else ""
        raise InputError(
            f"column {name!r} {was} holds a value that is not a {kind} value ({error})."
        ) from error
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise InputError(
            f"column {name!r} contains infinity in {infinite} row(s): "
            "replace it by a number or by a missing value."
        )
    return values


def _as_float(column: pd.Series) -> FloatArray:
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return column.dt.total_seconds().to_numpy(dtype=np.float64)
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    numbers = pd.to_numeric(column.astype(object).where(column.notna(), np.nan))
    return numbers.to_numpy(dtype=np.float64, na_value=np.nan)


def _as_seconds(column: pd.Series) -> FloatArray:
    moments = pd.to_datetime(column, utc=True)
    seconds = (moments - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
    return seconds.to_numpy(dtype=np.float64)


def _as_text(column: pd.Series) -> npt.NDArray[np.object_]:
    """Return values as `str` and missing ones as NaN, so every library's text agrees."""
    codes, values = pd.factorize(column)
    names = np.array([*(str(value) for value in values), np.nan], dtype=object)
    return names[codes]


@dataclass(frozen=True)
class Labels:
    """Two-class labels as 0/1 with the class names kept; `classes[1]` is the positive class.

    Examples
    --------
    >>> labels = Labels.from_input(["no", "yes", "no"])
    >>> labels.classes.tolist(), labels.codes
    (['no', 'yes'], array([0, 1, 0], dtype=int8))
    """

    classes: npt.NDArray[Any]
    codes: npt.NDArray[np.int8]

    @property
    def positive(self) -> Any:
        """The label that `p` is the probability of."""
        return self.classes[1]

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def from_input(cls, y: Any, classes: npt.ArrayLike | None = None) -> Labels:
        """Read labels; with `classes` of an earlier fit, hold them to these two."""
        if y is None:
            raise InputError(
                "y is None: labels are required, requires y to be passed, but the target y is None."
            )
        values = column_or_1d(_label_array(y), warn=True)
        _check_complete(values)
        if classes is not None:
            known = np.asarray(classes)
            strange = [v for v in pd.unique(values) if v not in known.tolist()]
            if strange:
                raise InputError(
                    f"y holds the label {shown(strange[0])}, which is neither "
                    f"{shown(known[0])} nor {shown(known[1])}: use the labels of the fit."
                )
        else:
            known = _two_classes(values)
        return cls(known, (values == known[1]).astype(np.int8))


def shown(label: Any) -> str:
    """Return a label as a user would write it: 1 rather than np.int64(1).

    Examples
    --------
    >>> shown(np.int64(1)), shown("yes")
    ('1', "'yes'")
    """
    return repr(label.item() if isinstance(label, np.generic) else label)


def _label_array(y: Any) -> npt.NDArray[Any]:
    if isinstance(y, pd.Series | pd.DataFrame | pd.Categorical) and not isinstance(y, pd.Index):
        return np.asarray(y)
    return check_array(y, dtype=None, ensure_2d=False, ensure_all_finite=False, input_name="y")


def _check_complete(values: npt.NDArray[Any]) -> None:
    missing = np.flatnonzero(pd.isna(values))
    if len(missing):
        shown = ", ".join(str(i) for i in missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise InputError(
            f"Input y contains NaN: {len(missing)} row(s) have no label (rows {shown}); "
            "drop them or label them."
        )
    if np.issubdtype(values.dtype, np.floating) and np.isinf(values).any():
        raise InputError("Input y contains infinity: labels must be two distinct values.")


def _two_classes(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    try:
        known = np.unique(values)
    except TypeError as error:
        raise InputError(
            "y mixes labels of different types, which have no order: use one type."
        ) from error
    try:
        # Said here too, where it is an error.
        with notices.ignoring(UserWarning, "The number of unique classes"):
            check_classification_targets(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"y is not a column of two classes. {error}") from error
    if len(known) == 1:
        raise InputError(
            f"y has one class only ({shown(known[0])}): confident errors can be found only "
            "where both classes occur; give labelled rows of both."
        )
    if len(known) > 2:
        kind = type_of_target(values, input_name="y")
        raise InputError(
            f"Only binary classification is supported. The type of the target is {kind}: "
            f"y has {len(known)} classes; reduce it to two, such as one class against the rest."
        )
    return known
