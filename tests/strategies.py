"""Any table a user may hand in; what comes with it is in `tests/support/row_values.py`.

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

from support.columns import COLUMNS, ORDINARY, Maker, polars_frame

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


def _lazy(table: pd.DataFrame) -> Any:
    return polars_frame(table).lazy()


def _arrow(table: pd.DataFrame) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(table)


def _read_only(table: pd.DataFrame) -> np.ndarray:
    array = table.to_numpy(copy=True)
    array.flags.writeable = False
    return array


CONTAINERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda table: table,
    "polars": polars_frame,
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
