"""Columns of every type, as `tests/strategies.py` puts them into tables."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

Maker = Callable[[np.random.Generator, int], Any]


def _with_gaps(values: Iterable[Any], rng: np.random.Generator, gap: Any = None) -> list[Any]:
    return [gap if rng.random() < 0.2 else value for value in values]


def _objects(values: Iterable[Any]) -> pd.Series:
    return pd.Series(list(values), dtype=object)


def _of(choices: Iterable[Any]) -> Maker:
    """Return a column of objects drawn from these."""
    known = list(choices)
    return lambda rng, n: _objects(known[i] for i in rng.integers(0, len(known), n))


def _arrow(kind: pa.DataType, choices: Iterable[Any]) -> Maker:
    known = list(choices)

    def column(rng: np.random.Generator, n: int) -> pd.Series:
        values = [known[i] for i in rng.integers(0, len(known), n)]
        return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, type=kind)))

    return column


def _number(dtype: str) -> Maker:
    return lambda rng, n: pd.Series(rng.integers(0, 100, n)).astype(dtype)


def _nullable(dtype: str) -> Maker:
    return lambda rng, n: pd.Series(
        _with_gaps(rng.integers(0, 9, n).tolist(), rng, pd.NA), dtype=dtype
    )


DAYS = [datetime.date(2026, 1, 1 + i) for i in range(9)]
MOMENTS = [datetime.datetime(2026, 1, 1 + i, 12) for i in range(9)]


class Odd:
    """Something that no table should hold, and that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


ORDINARY = (
    "normal", "few values", "gaps", "texts", "categories", "booleans", "int64", "Int64", "moments",
    "constant", "float32", "string", "Arrow double", "Arrow string", "uint8",
)  # fmt: skip

COLUMNS: dict[str, Maker] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "few values": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "gaps": lambda rng, n: pd.Series(
        _with_gaps(rng.normal(size=n).tolist(), rng, np.nan), dtype=float
    ),
    "constant": lambda rng, n: np.full(n, 3.0),
    "all missing": lambda rng, n: np.full(n, np.nan),
    "None": lambda rng, n: _objects([None] * n),
    "infinite": lambda rng, n: rng.choice([0.0, np.inf, -np.inf], n),
    "large": lambda rng, n: rng.normal(size=n) * 1e200,
    "largest": lambda rng, n: np.full(n, np.finfo(float).max),
    "far apart": lambda rng, n: 10.0 ** rng.integers(-140, 140, n),
    "one outlier": lambda rng, n: np.append(rng.normal(size=max(n - 1, 0)), 1e149)[:n],
    "denormal": lambda rng, n: rng.integers(0, 9, n) * 5e-324,
    "zeros": lambda rng, n: rng.choice([0.0, -0.0], n),
    **{
        name: _number(name)
        for name in (
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "float16",
            "float32",
            "longdouble",
        )
    },
    "uint64 at the end": lambda rng, n: np.full(n, 2**64 - 1, dtype=np.uint64),
    "big-endian": lambda rng, n: rng.normal(size=n).astype(">f8"),
    "big-endian int": lambda rng, n: rng.integers(0, 9, n).astype(">i4"),
    "booleans": lambda rng, n: rng.random(n) < 0.5,
    "complex": lambda rng, n: rng.normal(size=n) * 1j,
    "complex objects": _of([1j, 2.0]),
    **{name: _nullable(name) for name in ("Int8", "Int64", "UInt32", "Float32", "Float64")},
    "boolean": lambda rng, n: pd.Series(
        _with_gaps((rng.random(n) < 0.5).tolist(), rng, pd.NA), dtype="boolean"
    ),
    "string": lambda rng, n: pd.Series(
        _with_gaps(rng.choice(["a", "b"], n).tolist(), rng, pd.NA), dtype="string"
    ),
    "string, all missing": lambda rng, n: pd.Series([pd.NA] * n, dtype="string"),
    "str": lambda rng, n: pd.Series(rng.choice(["a", "b", "c"], n), dtype="str"),
    "texts": _of(["a", "b", "c", None]),
    "text array": lambda rng, n: rng.choice(["a", "bb"], n),
    "numbers as texts": _of(["1", "2.5", "nan", ""]),
    "unicode": _of(["größe", "身長", "🙂", "e\u0301", "\u202e"]),
    "half a character": _of(["\ud800", "a"]),
    "NUL": _of(["a\0", "a"]),
    "page": _of(["<img src=x onerror=alert(1)>", "=1+1", "'"]),
    "long texts": _of(["x" * 5000, "y" * 5000]),
    "identifiers": lambda rng, n: _objects(f"id-{i}" for i in range(n)),
    "Decimal": _of([Decimal("0.1"), Decimal(1), Decimal("0.25")]),
    "Decimal NaN": _of([Decimal("NaN"), Decimal(1)]),
    "Decimal sNaN": _of([Decimal("sNaN"), Decimal(1)]),
    "Decimal large": _of([Decimal("1e400"), Decimal(1)]),
    "big numbers": _of([10**30, 1]),
    "huge numbers": _of([10**400, 1]),
    "mixed": _of([1, "1", 2.5, None]),
    "numbers and NA": _of([1, 2.5, pd.NA, None, np.nan]),
    "booleans and None": _of([True, False, None]),
    "booleans and numbers": _of([True, 1, 0]),
    "bytes": _of([b"a", b"b"]),
    "lists": _of([[1], [2, 3]]),
    "dicts": _of([{"a": 1}]),
    "sets": _of([{1}, {2}]),
    "tuples": _of([(1, 2), (3,)]),
    "arrays": _of([np.arange(2), np.arange(3)]),
    "odd": lambda rng, n: _objects(Odd() for _ in range(n)),
    "types": _of([int, str]),
    "moments": lambda rng, n: pd.Series(pd.date_range("2026-01-01", periods=max(n, 1))[:n]),
    "moments, seconds": lambda rng, n: pd.Series(rng.integers(0, 10**9, n).astype("datetime64[s]")),
    "moments, far": lambda rng, n: pd.Series(
        rng.choice([-(10**11), 10**11], n).astype("datetime64[s]")
    ),
    "moments, gaps": lambda rng, n: pd.Series(
        _with_gaps([MOMENTS[i % 9] for i in range(n)], rng, pd.NaT), dtype="datetime64[ns]"
    ),
    "moments, zone": lambda rng, n: pd.Series(
        pd.date_range("2026-03-28", periods=max(n, 1), freq="h", tz="Europe/Berlin")[:n]
    ),
    "moments, all missing": lambda rng, n: pd.Series([pd.NaT] * n, dtype="datetime64[ns]"),
    "days": _of([*DAYS, None]),
    "moment objects": _of(MOMENTS),
    "moments of zones": _of(
        [pd.Timestamp("2026-01-01", tz="UTC"), pd.Timestamp("2026-01-01", tz="Asia/Tokyo")]
    ),
    "with zone and without": _of(
        [pd.Timestamp("2026-01-01", tz="UTC"), pd.Timestamp("2026-01-01")]
    ),
    "days and texts": _of([DAYS[0], "2026-01-02"]),
    "times": _of([datetime.time(1, 2), datetime.time(3, 4)]),
    "year 9999": _of([datetime.datetime(9999, 12, 31), datetime.datetime(1, 1, 1)]),
    "spans": lambda rng, n: pd.Series(
        rng.integers(0, 9, n).astype("timedelta64[h]").astype("timedelta64[ns]")
    ),
    "span objects": _of([datetime.timedelta(1), datetime.timedelta(2)]),
    "periods": lambda rng, n: pd.Series(
        pd.period_range("2026-01", periods=max(n, 1), freq="M")[:n]
    ),
    "intervals": lambda rng, n: pd.Series(pd.IntervalIndex.from_breaks(range(n + 1))),
    "categories": lambda rng, n: pd.Series(rng.choice(["a", "b", "c"], n), dtype="category"),
    "categories, gaps": lambda rng, n: pd.Series(
        _with_gaps(rng.choice(["a", "b"], n).tolist(), rng), dtype="category"
    ),
    "categories, unused": lambda rng, n: pd.Series(
        pd.Categorical(["a"] * n, ["c", "a", "b"], ordered=True)
    ),
    "categories, numbers": lambda rng, n: pd.Series(rng.integers(0, 3, n), dtype="category"),
    "categories, mixed": lambda rng, n: pd.Series(
        pd.Categorical([(1, "1")[i % 2] for i in range(n)])
    ),
    "categories, moments": lambda rng, n: pd.Series(
        pd.Categorical([MOMENTS[i % 3] for i in range(n)])
    ),
    "categories, intervals": lambda rng, n: pd.Series(pd.cut(rng.random(n), [0, 0.5, 1])),
    "categories, none": lambda rng, n: pd.Series(pd.Categorical([None] * n, [])),
    "sparse": lambda rng, n: pd.Series(pd.arrays.SparseArray(rng.integers(0, 2, n).astype(float))),
    "sparse int": lambda rng, n: pd.Series(
        pd.arrays.SparseArray(rng.integers(0, 2, n), fill_value=0)
    ),
    "sparse bool": lambda rng, n: pd.Series(pd.arrays.SparseArray(rng.random(n) < 0.5)),
    "Arrow int": _arrow(pa.int64(), [1, 2, None]),
    "Arrow double": _arrow(pa.float64(), [1.5, 2.5, None]),
    "Arrow half": _arrow(pa.float16(), [np.float16(1), np.float16(2)]),
    "Arrow bool": _arrow(pa.bool_(), [True, False, None]),
    "Arrow string": _arrow(pa.string(), ["a", "b", None]),
    "Arrow large string": _arrow(pa.large_string(), ["a", "b"]),
    "Arrow binary": _arrow(pa.binary(), [b"a", b"b"]),
    "Arrow null": _arrow(pa.null(), [None]),
    "Arrow decimal": _arrow(pa.decimal128(10, 2), [Decimal("1.25"), None]),
    "Arrow date": _arrow(pa.date32(), [*DAYS, None]),
    "Arrow moment": _arrow(pa.timestamp("us", "UTC"), [*MOMENTS, None]),
    "Arrow time": _arrow(pa.time64("us"), [datetime.time(1), datetime.time(2)]),
    "Arrow span": _arrow(pa.duration("s"), [datetime.timedelta(1), None]),
    "Arrow list": _arrow(pa.list_(pa.int64()), [[1], [2, 3]]),
    "Arrow struct": _arrow(pa.struct([("a", pa.int64())]), [{"a": 1}]),
    "Arrow dictionary": lambda rng, n: pd.Series(
        pd.arrays.ArrowExtensionArray(
            pa.array([("a", "b")[i % 2] for i in range(n)], pa.string()).dictionary_encode()
        )
    ),
}


def polars_frame(table: pd.DataFrame) -> Any:
    import polars

    return polars.from_pandas(table)
