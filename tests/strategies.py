"""Any table a user may hand in, and what comes with it: labels, scores, weights, groups, costs.

Hypothesis draws what a table is made of: container, types of columns, names, row labels, rows. The
cells come from a generator with a drawn seed: drawing them one by one would take most of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from scipy import sparse

from support.columns import COLUMNS, ORDINARY

# How many cases: with each commit, before a release, and the campaign.
PROFILES = {"quick": 100, "usual": 1_000, "long": 100_000}
for _name, _cases in PROFILES.items():
    settings.register_profile(
        _name,
        max_examples=_cases,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

Maker = Callable[[np.random.Generator, int], Any]
SEEDS = st.integers(0, 2**32 - 1)
FEW_ROWS = (0, 1, 2, 3, 7, 24, 40)
ROWS = st.sampled_from(FEW_ROWS)


@dataclass(frozen=True)
class Given:
    """A value that a user hands in, and how it was made."""

    value: Any
    made: str
    rows: int = 0

    def __repr__(self) -> str:
        return self.made


def _long(i: int) -> str:
    return "a column whose name says everything about how it was measured, " * 8 + str(i)


# Names of columns, by position.
NAMES: dict[str, Callable[[int], Any]] = {
    "plain": lambda i: f"c{i}",
    "plain again": lambda i: f"c{i}",
    "numbers": lambda i: i,
    "fractions": lambda i: i + 0.5,
    "same": lambda i: "same",
    "same as texts": lambda i: (1, "1", 1.0, "1.0")[i % 4],
    "empty": lambda i: "" if i == 0 else f"c{i}",
    "blanks": lambda i: " " * (i + 1),
    "none": lambda i: None if i == 0 else f"c{i}",
    "missing": lambda i: np.nan if i == 0 else f"c{i}",
    "tuples": lambda i: (i, "pair"),
    "long": _long,
    "unicode": lambda i: f"größe 身長 🙂 {i}",
    "page": lambda i: f"<script>alert({i})</script>&amp;",
    "control": lambda i: f"a\nb\tc\x1b[31m\x00{i}",
    "half a character": lambda i: f"\ud800{i}",
    "our own": lambda i: ("row", "suspicion", "p", "region", "confidence", "risk")[i % 6],
    "bytes": lambda i: f"c{i}".encode(),
    "moments": lambda i: pd.Timestamp(2026, 1, 1 + i),
    "booleans": lambda i: i % 2 == 0,
    "mixed": lambda i: (0, "0", "x", None, 2.5)[i % 5],
    "formula": lambda i: f"=1+{i}",
}

# Labels of rows.
INDICES: dict[str, Callable[[int], pd.Index]] = {
    "range": pd.RangeIndex,
    "reversed": lambda n: pd.RangeIndex(n - 1, -1, -1),
    "duplicated": lambda n: pd.Index([0] * n),
    "texts": lambda n: pd.Index([f"r{i}" for i in range(n)]),
    "gaps": lambda n: pd.Index([np.nan] * n),
    "moments": lambda n: pd.date_range("2026-01-01", periods=n, tz="UTC"),
    "two levels": lambda n: pd.MultiIndex.from_arrays([[0] * n, list(range(n))]),
    "mixed": lambda n: pd.Index([(i, "x", None)[i % 3] for i in range(n)], dtype=object),
    "named as a column": lambda n: pd.RangeIndex(n, name="c0"),
    "categories": lambda n: pd.CategoricalIndex(["k"] * n),
    "intervals": lambda n: pd.IntervalIndex.from_breaks(range(n + 1)),
}


def _columns(names: list[Any]) -> pd.Index:
    try:
        return pd.Index(names, tupleize_cols=False)
    except UnicodeEncodeError:
        return pd.Index(names, dtype=object)


@st.composite
def frames(draw: st.DrawFn, n: int | None = None, ordinary: bool = False) -> Given:
    """A pandas table: columns of any type, names and row labels of any kind.

    One strange column, or strange names, are enough to be refused: most others are ordinary.
    """
    n = draw(ROWS) if n is None else n
    kinds = draw(st.lists(st.sampled_from(ORDINARY), max_size=3))
    if not ordinary and draw(st.booleans()):
        kinds = [*kinds, draw(st.sampled_from(sorted(COLUMNS)))]
    if ordinary and not kinds:
        kinds = ["normal"]
    strange = not ordinary and draw(st.integers(0, 2)) == 0
    names = draw(st.sampled_from(sorted(NAMES))) if strange else "plain"
    rows = draw(st.sampled_from(sorted(INDICES)))
    return framed(kinds, names, rows, n, draw(SEEDS))


def framed(kinds: list[str], names: str, rows: str, n: int, seed: int) -> Given:
    """Return a table made of these."""
    rng = np.random.default_rng(seed)
    index = INDICES[rows](n)
    columns = [pd.Series(COLUMNS[kind](rng, n)).set_axis(index) for kind in kinds]
    table = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=index)
    table.columns = _columns([NAMES[names](i) for i in range(len(kinds))])
    return Given(table, f"frame of {n} rows, columns {kinds}, names {names!r}, rows {rows!r}", n)


@st.composite
def twice(draw: st.DrawFn) -> tuple[Given, Given]:
    """A table, and another of the same columns; one of them may be of another type now."""
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=3))
    names = draw(st.sampled_from(("plain", "numbers", "long", "none", "our own", "unicode")))
    n, m, seed = draw(st.sampled_from((1, 7, 24))), draw(ROWS), draw(SEEDS)
    later = list(kinds)
    if draw(st.booleans()):
        later[draw(st.integers(0, len(kinds) - 1))] = draw(st.sampled_from(sorted(COLUMNS)))
    return framed(kinds, names, "range", n, seed), framed(later, names, "texts", m, seed + 1)


def _polars(table: pd.DataFrame) -> Any:
    import polars

    return polars.from_pandas(table)


def _lazy(table: pd.DataFrame) -> Any:
    return _polars(table).lazy()


def _arrow(table: pd.DataFrame) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(table)


def _read_only(table: pd.DataFrame) -> np.ndarray:
    array = table.to_numpy(copy=True)
    array.flags.writeable = False
    return array


CONTAINERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda table: table,
    "polars": _polars,
    "polars, lazy": _lazy,
    "Arrow": _arrow,
    "numpy": lambda table: table.to_numpy(),
    "numpy, read-only": _read_only,
    "numpy, by columns": lambda table: np.asfortranarray(table.to_numpy()),
    "numpy, texts": lambda table: table.to_numpy().astype(str),
    "numpy, one column": lambda table: table.to_numpy()[:, 0],
    "numpy, records": lambda table: table.to_records(),
    "numpy, masked": lambda table: np.ma.masked_invalid(table.to_numpy(dtype=float)),
    "numpy, float32": lambda table: table.to_numpy(dtype=np.float32),
    "numpy, float16": lambda table: table.to_numpy(dtype=np.float16),
    "numpy, every other": lambda table: table.to_numpy()[::2],
    "numpy, three dimensions": lambda table: table.to_numpy()[:, :, None],
    "matrix": lambda table: np.asmatrix(table.to_numpy(dtype=float)),
    "sparse": lambda table: sparse.csr_matrix(table.to_numpy(dtype=float)),
    "sparse array": lambda table: sparse.coo_array(table.to_numpy(dtype=float)),
    "lists": lambda table: table.to_numpy().tolist(),
    "records": lambda table: table.to_dict("records"),
    "dict": lambda table: {str(name): table.iloc[:, i].tolist() for i, name in enumerate(table)},
    "column": lambda table: table.iloc[:, 0],
    "generator": lambda table: (row for row in table.to_numpy()),
    "name of a file": lambda table: "rows.csv",
    "nothing": lambda table: None,
}


@st.composite
def tables(draw: st.DrawFn, n: int | None = None) -> Given:
    """Anything that may be handed in as X."""
    given = draw(frames(n))
    # Half of all tables are pandas frames.
    name = draw(st.sampled_from(["pandas"] * len(CONTAINERS) + sorted(CONTAINERS)))
    try:
        return Given(CONTAINERS[name](given.value), f"{name} of {given.made}", given.rows)
    except Exception:
        # Some containers cannot hold some columns: then nobody can hand them in.
        return given


def _constant(value: Any) -> Maker:
    return lambda rng, n: np.full(n, value)


LABELS: dict[str, Maker] = {
    "0 and 1": lambda rng, n: rng.integers(0, 2, n),
    "booleans": lambda rng, n: rng.random(n) < 0.5,
    "texts": lambda rng, n: rng.choice(["no", "yes"], n),
    "text objects": lambda rng, n: rng.choice(np.array(["no", "yes"], dtype=object), n),
    "three": lambda rng, n: rng.integers(0, 3, n),
    "three texts": lambda rng, n: pd.Series(rng.choice(["a", "b", "c"], n)),
    "one class": _constant(1),
    "fractions": lambda rng, n: rng.choice([2.5, -1.0], n),
    "a quantity": lambda rng, n: rng.normal(size=n),
    "identifiers": lambda rng, n: np.arange(n),
    "float32": lambda rng, n: rng.integers(0, 2, n).astype(np.float32),
    "uint8": lambda rng, n: rng.integers(0, 2, n).astype(np.uint8),
    "int64 at the end": lambda rng, n: rng.choice([-(2**63), 2**63 - 1], n),
    "big numbers": lambda rng, n: np.array(
        [10**30 * int(v) for v in rng.integers(0, 2, n)], object
    ),
    "numbers and texts": lambda rng, n: np.array(
        [(0, "1")[v] for v in rng.integers(0, 2, n)], object
    ),
    "missing": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 2, n)),
    "None": lambda rng, n: np.array([(None, "a", "b")[v] for v in rng.integers(0, 3, n)], object),
    "infinite": lambda rng, n: rng.choice([0.0, np.inf], n),
    "nullable": lambda rng, n: pd.Series(rng.integers(0, 2, n), dtype="Int64"),
    "nullable, missing": lambda rng, n: pd.Series([pd.NA, *[1] * (n - 1)][:n], dtype="Int64"),
    "boolean": lambda rng, n: pd.Series(rng.random(n) < 0.5, dtype="boolean"),
    "string": lambda rng, n: pd.Series(rng.choice(["a", "b"], n), dtype="string"),
    "Arrow": lambda rng, n: pd.Series(rng.choice(["a", "b"], n), dtype="string[pyarrow]"),
    "categories": lambda rng, n: pd.Series(rng.choice(["a", "b"], n), dtype="category"),
    "categorical": lambda rng, n: pd.Categorical(rng.choice(["a", "b"], n), ["b", "a", "never"]),
    "moments": lambda rng, n: pd.to_datetime(
        pd.Series(rng.choice(["2026-01-01", "2027-01-01"], n))
    ),
    "Decimals": lambda rng, n: COLUMNS["Decimal"](rng, n),
    "empty text": lambda rng, n: rng.choice(["", "a"], n),
    "blank": lambda rng, n: rng.choice(["a", "a "], n),
    "page": lambda rng, n: rng.choice(["<b>", "=1+1"], n),
    "half a character": lambda rng, n: rng.choice(np.array(["\ud800", "a"], dtype=object), n),
    "NUL": lambda rng, n: rng.choice(np.array(["a", "a\0"], dtype=object), n),
    "bytes": lambda rng, n: rng.choice(np.array([b"a", b"b"]), n),
    "tuples": lambda rng, n: pd.Series([(0, int(v)) for v in rng.integers(0, 2, n)], dtype=object),
    "lists": lambda rng, n: [[int(v)] for v in rng.integers(0, 2, n)],
    "one hot": lambda rng, n: np.eye(2)[rng.integers(0, 2, n)],
    "a column": lambda rng, n: rng.integers(0, 2, n)[:, None],
    "frame": lambda rng, n: pd.DataFrame({"y": rng.integers(0, 2, n)}),
    "complex": lambda rng, n: rng.integers(0, 2, n) * 1j,
    "other order": lambda rng, n: pd.Series(rng.integers(0, 2, n), index=range(n)[::-1]),
    "one too many": lambda rng, n: rng.integers(0, 2, n + 1),
    "list": lambda rng, n: rng.integers(0, 2, n).tolist(),
    "nothing": lambda rng, n: None,
    "a word": lambda rng, n: "label",
    "sparse": lambda rng, n: sparse.csr_matrix(rng.integers(0, 2, (n, 1))),
    "polars": lambda rng, n: _polars(pd.DataFrame({"y": rng.integers(0, 2, n)}))["y"],
    "masked": lambda rng, n: np.ma.masked_equal(rng.integers(0, 2, n), 1),
}


def _proba(rng: np.random.Generator, n: int, classes: int = 2) -> np.ndarray:
    return rng.dirichlet(np.full(classes, 0.4), n)


PROBABILITIES: dict[str, Maker] = {
    "scores": lambda rng, n: rng.beta(0.4, 0.4, n),
    "two columns": _proba,
    "three columns": lambda rng, n: _proba(rng, n, 3),
    "four columns": lambda rng, n: _proba(rng, n, 4),
    "one column": lambda rng, n: rng.random((n, 1)),
    "float32": lambda rng, n: _proba(rng, n).astype(np.float32),
    "float16": lambda rng, n: _proba(rng, n).astype(np.float16),
    "longdouble": lambda rng, n: rng.random(n).astype(np.longdouble),
    "integers": lambda rng, n: rng.integers(0, 2, n),
    "booleans": lambda rng, n: rng.random(n) < 0.5,
    "constant": _constant(0.95),
    "one half": _constant(0.5),
    "all one": _constant(1.0),
    "denormal": lambda rng, n: np.full(n, 5e-324),
    "above one": lambda rng, n: rng.random(n) * 1.5,
    "a rounding above": lambda rng, n: np.full(n, 1 + 1e-9),
    "percent": lambda rng, n: rng.random(n) * 100,
    "negative": lambda rng, n: -rng.random(n),
    "NaN": lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, 0.9),
    "infinite": _constant(np.inf),
    "sums": lambda rng, n: rng.random((n, 2)),
    "sums of three": lambda rng, n: rng.random((n, 3)),
    "texts": lambda rng, n: rng.random(n).astype(str),
    "percent texts": lambda rng, n: [f"{v:.0%}" for v in rng.random(n)],
    "objects": lambda rng, n: rng.random(n).astype(object),
    "Decimals": lambda rng, n: COLUMNS["Decimal"](rng, n),
    "None": lambda rng, n: np.array([None] * n, dtype=object),
    "nullable": lambda rng, n: pd.Series(rng.random(n), dtype="Float64"),
    "nullable, missing": lambda rng, n: pd.Series([pd.NA, *[0.9] * (n - 1)][:n], dtype="Float64"),
    "frame": lambda rng, n: pd.DataFrame(_proba(rng, n), columns=["no", "yes"]),
    "series": lambda rng, n: pd.Series(rng.random(n), index=range(n)[::-1]),
    "Arrow": lambda rng, n: pd.Series(rng.random(n), dtype="double[pyarrow]"),
    "polars": lambda rng, n: _polars(pd.DataFrame({"p": rng.random(n)}))["p"],
    "list": lambda rng, n: rng.random(n).tolist(),
    "ragged": lambda rng, n: [[0.5]] * (n - 1) + [[0.5, 0.5]],
    "masked": lambda rng, n: np.ma.masked_greater(rng.random(n), 0.5),
    "complex": lambda rng, n: rng.random(n) * 1j,
    "three dimensions": lambda rng, n: rng.random((n, 2, 1)),
    "one too few": lambda rng, n: rng.random(max(n - 1, 0)),
    "a number": lambda rng, n: 0.9,
    "nothing": lambda rng, n: None,
    "sparse": lambda rng, n: sparse.csr_matrix(_proba(rng, n)),
    "big-endian": lambda rng, n: rng.random(n).astype(">f8"),
    "moments": lambda rng, n: np.full(n, np.datetime64("2026-01-01")),
    "spans of time": lambda rng, n: np.full(n, np.timedelta64(0, "ns")),
}

# Weights and costs: one number for each row.
AMOUNTS: dict[str, Maker] = {
    "ones": _constant(1),
    "whole": lambda rng, n: rng.integers(1, 4, n),
    "fractions": lambda rng, n: rng.random(n) * 3,
    "some zero": lambda rng, n: rng.integers(0, 2, n),
    "all zero": _constant(0.0),
    "negative": lambda rng, n: rng.normal(size=n),
    "NaN": lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, 1.0),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.2, np.inf, 1.0),
    "huge": lambda rng, n: rng.random(n) * 1e300,
    "the largest": _constant(np.finfo(float).max),
    "tiny": lambda rng, n: rng.random(n) * 5e-324,
    "far apart": lambda rng, n: 10.0 ** rng.integers(-200, 200, n),
    "float16": lambda rng, n: rng.random(n).astype(np.float16),
    "uint8": lambda rng, n: rng.integers(1, 255, n).astype(np.uint8),
    "booleans": lambda rng, n: rng.random(n) < 0.7,
    "texts": lambda rng, n: rng.integers(1, 4, n).astype(str),
    "words": lambda rng, n: np.array(["heavy"] * n),
    "objects": lambda rng, n: np.array([1, 2.5, None] * n, dtype=object)[:n],
    "Decimals": lambda rng, n: COLUMNS["Decimal"](rng, n),
    "nullable": lambda rng, n: pd.Series(rng.integers(1, 4, n), dtype="Int64"),
    "nullable, missing": lambda rng, n: pd.Series([pd.NA, *[1] * (n - 1)][:n], dtype="Int64"),
    "Arrow": lambda rng, n: pd.Series(rng.random(n), dtype="double[pyarrow]"),
    "polars": lambda rng, n: _polars(pd.DataFrame({"w": rng.random(n)}))["w"],
    "categories": lambda rng, n: pd.Series(rng.integers(1, 3, n), dtype="category"),
    "moments": lambda rng, n: np.full(n, np.datetime64("2026-01-01")),
    "spans of time": lambda rng, n: np.full(n, np.timedelta64(3, "D")),
    "complex": lambda rng, n: rng.random(n) * 1j,
    "a column": lambda rng, n: rng.random((n, 1)),
    "two columns": lambda rng, n: rng.random((n, 2)),
    "frame": lambda rng, n: pd.DataFrame({"w": rng.random(n)}),
    "other order": lambda rng, n: pd.Series(rng.random(n), index=range(n)[::-1]),
    "one too many": lambda rng, n: rng.random(n + 1),
    "a number": lambda rng, n: 2.0,
    "list": lambda rng, n: rng.random(n).tolist(),
    "ragged": lambda rng, n: [[1.0]] * max(n - 1, 0) + [1.0],
    "big numbers": lambda rng, n: [10**400] * n,
    "masked": lambda rng, n: np.ma.masked_greater(rng.random(n), 0.5),
    "sparse": lambda rng, n: sparse.csr_matrix(rng.random((n, 1))),
    "name": lambda rng, n: "weight",
    "nothing": lambda rng, n: None,
}

GROUPS: dict[str, Maker] = {
    "numbers": lambda rng, n: rng.integers(0, max(n // 3, 1), n),
    "texts": lambda rng, n: rng.choice(["a", "b", "c", "d"], n),
    "all the same": _constant(7),
    "all different": lambda rng, n: np.arange(n),
    "two": lambda rng, n: rng.integers(0, 2, n),
    "NaN": lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, 1.0),
    "None": lambda rng, n: np.array([(None, 1, 2)[v] for v in rng.integers(0, 3, n)], object),
    "numbers and texts": lambda rng, n: np.array(
        [(1, "1", 1.0)[v] for v in rng.integers(0, 3, n)], object
    ),
    "lists": lambda rng, n: np.array([[1], *range(n)], dtype=object)[:n],
    "tuples": lambda rng, n: pd.Series([(0, int(v)) for v in rng.integers(0, 4, n)], dtype=object),
    "fractions": lambda rng, n: rng.random(n).round(1),
    "booleans": lambda rng, n: rng.random(n) < 0.5,
    "moments": lambda rng, n: pd.Series(
        pd.to_datetime(rng.choice(["2026-01-01", "2027-01-01"], n))
    ),
    "periods": lambda rng, n: pd.Series(
        pd.period_range("2026-01", periods=max(n, 1), freq="M")[:n]
    ),
    "categories": lambda rng, n: pd.Series(rng.choice(["a", "b", "c"], n), dtype="category"),
    "Arrow": lambda rng, n: pd.Series(rng.choice(["a", "b", "c"], n), dtype="string[pyarrow]"),
    "nullable": lambda rng, n: pd.Series(rng.integers(0, 4, n), dtype="Int64"),
    "frame": lambda rng, n: pd.DataFrame({"g": rng.integers(0, 4, n)}),
    "two columns": lambda rng, n: rng.integers(0, 4, (n, 2)),
    "other order": lambda rng, n: pd.Series(rng.integers(0, 4, n), index=range(n)[::-1]),
    "one too few": lambda rng, n: rng.integers(0, 4, max(n - 1, 0)),
    "a number": lambda rng, n: 3,
    "list": lambda rng, n: rng.integers(0, 4, n).tolist(),
    "bytes": lambda rng, n: rng.choice(np.array([b"a", b"b", b"c"]), n),
    "complex": lambda rng, n: rng.integers(0, 4, n) * 1j,
    "masked": lambda rng, n: np.ma.masked_equal(rng.integers(0, 4, n), 1),
    "polars": lambda rng, n: _polars(pd.DataFrame({"g": rng.integers(0, 4, n)}))["g"],
    "sparse": lambda rng, n: sparse.csr_matrix(rng.integers(0, 4, (n, 1))),
    "nothing": lambda rng, n: None,
}


def batches(makers: dict[str, Maker], size: int = 50) -> st.SearchStrategy[list[Given]]:
    """Many of the makers at once, for doors that answer faster than a case is drawn."""
    names = sorted(makers)

    def make(seed: int) -> list[Given]:
        rng = np.random.default_rng(seed)
        kinds, rows = rng.integers(0, len(names), size), rng.choice(FEW_ROWS, size)
        return [
            Given(makers[names[kind]](rng, int(n)), f"{names[kind]!r} of {n} rows", int(n))
            for kind, n in zip(kinds, rows, strict=True)
        ]

    return st.builds(make, SEEDS)


def made(
    makers: dict[str, Maker], rows: st.SearchStrategy[int] = ROWS, usual: tuple[str, ...] = ()
) -> st.SearchStrategy[Given]:
    """One of the makers; half of the cases are `usual` ones, where any are named."""
    names = sorted(makers)
    names += [usual[i % len(usual)] for i in range(len(names) if usual else 0)]

    def make(name: str, n: int, seed: int) -> Given:
        return Given(makers[name](np.random.default_rng(seed), n), f"{name!r} of {n} rows", n)

    return st.builds(make, st.sampled_from(names), rows, SEEDS)
