"""A table as networks take it: scaled numbers, and one code per category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from falcon_discover.data.table import Kind, Table
from falcon_discover.runtime.types import Float32Array, FloatArray, IntArray

Scaling = Literal["quantile", "standard"]
# Equal values get different quantiles: without noise a column of few values has steps of no width.
NOISE = 1e-5


@dataclass(frozen=True, eq=False)
class Columns:
    """Medians, scales and categories of the rows of a fit.

    Missing numbers become the median. A category is a code from 1 on; 0 stands for a missing
    value and for one that was not there in the fit.

    Examples
    --------
    >>> table = Table.from_input(pd.DataFrame({"age": [20.0, 40.0, None], "job": ["a", "b", None]}))
    >>> columns = Columns.of(table, "standard")
    >>> columns.codes(table).ravel(), columns.sizes
    (array([1, 2, 0]), [3])
    """

    kinds: dict[str, Kind]
    medians: FloatArray
    scaler: Any
    categories: dict[str, pd.Index]

    @classmethod
    def of(cls, table: Table, scaling: Scaling, seed: int = 0) -> Self:
        """Learn them from the rows of a table."""
        values = {
            name: pd.Index(sorted(pd.unique(table.frame[name].dropna())))
            for name, kind in table.kinds.items()
            if kind == "categorical"
        }
        numbers = _raw(table, [name for name in table.kinds if name not in values])
        known = ~np.isnan(numbers)
        medians = np.array(
            [np.median(column[there]) if there.any() else 0.0
             for column, there in zip(numbers.T, known.T, strict=True)]
        )  # fmt: skip
        np.copyto(numbers, medians, where=~known)
        scaler = _scaler(scaling, numbers, seed) if numbers.shape[1] else None
        return cls(dict(table.kinds), medians, scaler, values)

    @property
    def sizes(self) -> list[int]:
        """How many codes each category has."""
        return [len(known) + 1 for known in self.categories.values()]

    def numbers(self, table: Table) -> Float32Array:
        """Return the scaled numbers of rows."""
        numbers = self.imputed(table)
        scaled = numbers if self.scaler is None else self.scaler.transform(numbers)
        return scaled.astype(np.float32)

    def imputed(self, table: Table) -> FloatArray:
        """Return the numbers of rows as they are, the missing ones filled."""
        numbers = _raw(table, [name for name in self.kinds if name not in self.categories])
        np.copyto(numbers, self.medians, where=np.isnan(numbers))
        return numbers

    def codes(self, table: Table) -> IntArray:
        """Return the codes of the categories of rows."""
        codes = np.zeros((len(table), len(self.categories)), dtype=np.int64)
        for place, (name, values) in enumerate(self.categories.items()):
            # Each text is looked up once, not once per row.
            own, texts = pd.factorize(table.frame[name])
            codes[:, place] = np.append(values.get_indexer(texts) + 1, 0)[own]
        return codes


def _raw(table: Table, names: list[str]) -> FloatArray:
    numbers = np.empty((len(table), len(names)))
    for place, name in enumerate(names):
        numbers[:, place] = table.frame[name].to_numpy(np.float64)
    return numbers


def _scaler(scaling: Scaling, numbers: npt.NDArray[np.float64], seed: int) -> Any:
    if scaling == "standard":
        return StandardScaler().fit(numbers)
    noise = np.random.default_rng(seed).normal(0.0, NOISE, numbers.shape)
    quantiles = QuantileTransformer(
        n_quantiles=min(max(min(len(numbers) // 30, 1000), 10), len(numbers)),
        output_distribution="normal",
        subsample=None,
        random_state=seed,
    )
    return quantiles.fit(numbers + noise * numbers.std(axis=0))
