"""What a user hands in beside a table: labels, probabilities, amounts and groups of every type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from support.columns import COLUMNS, Maker, polars_frame


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
    "polars": lambda rng, n: polars_frame(pd.DataFrame({"y": rng.integers(0, 2, n)}))["y"],
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
    "polars": lambda rng, n: polars_frame(pd.DataFrame({"p": rng.random(n)}))["p"],
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
    "polars": lambda rng, n: polars_frame(pd.DataFrame({"w": rng.random(n)}))["w"],
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
    "polars": lambda rng, n: polars_frame(pd.DataFrame({"g": rng.integers(0, 4, n)}))["g"],
    "sparse": lambda rng, n: sparse.csr_matrix(rng.integers(0, 4, (n, 1))),
    "nothing": lambda rng, n: None,
}
