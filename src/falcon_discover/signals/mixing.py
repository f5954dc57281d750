"""Small moves of a row towards its neighbours.

Numbers are mixed as `x + lambda * (neighbour - x)`, which leaves equal coordinates untouched
to the last bit, so a tree's threshold at that value is not crossed by rounding. What cannot be
mixed (categories, dates, a number against a missing value) takes the neighbour's value
when `lambda` exceeds a uniform number drawn from a hash of row, neighbour and column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from falcon_discover.data.table import Kind, Table, kinds_of, take_rows
from falcon_discover.metrics.ordering import scramble
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray, UInt64Array

# Mixes written at once: the block stays in the processor's cache until it is complete.
BLOCK_CELLS = 32_768


def stacked_mixes(
    rows: Any,
    neighbours: Any,
    mix: tuple[float, ...],
    row_hashes: UInt64Array,
    neighbour_hashes: UInt64Array,
    seed: int,
    kinds: Mapping[str, Kind] | None = None,
) -> Any:
    """Return every mix of every row with every of its neighbours as one stack.

    Parameters
    ----------
    rows : n encoded rows
    neighbours : n * m encoded rows, the m neighbours of each row one after the other
    mix : the lambdas
    row_hashes, neighbour_hashes : content hashes, of lengths n and n * m
    seed : seed of the draws for values that cannot be mixed
    kinds : the columns' kinds, for rows in a table or an array of objects; without them, those of
        the neighbours

    Returns
    -------
    n * m * len(mix) rows of the same type; lambda varies fastest, then the neighbour
    """
    n, m = len(row_hashes), len(neighbour_hashes) // max(len(row_hashes), 1)
    lambdas = np.asarray(mix, dtype=np.float64)
    switch = _Switch(np.repeat(row_hashes, m), neighbour_hashes, lambdas, seed)
    if sp.issparse(rows):
        pairs = np.repeat(np.arange(n * m), len(mix))
        left = sp.csr_array(rows)[pairs // m]
        step = (sp.csr_array(neighbours)[pairs] - left).multiply(np.tile(lambdas, n * m)[:, None])
        return sp.csr_array(left + step)
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "biuf":
        return _mix_array(rows, neighbours, lambdas, switch)
    return _mix_frame(rows, neighbours, lambdas, switch, kinds or kinds_of(neighbours))


def _mix_array(
    rows: npt.NDArray[Any], neighbours: npt.NDArray[Any], lambdas: FloatArray, switch: _Switch
) -> npt.NDArray[Any]:
    dtype = np.float32 if rows.dtype == np.float32 else np.float64
    n, width = rows.shape
    m = len(neighbours) // max(n, 1)
    start: Any = rows.astype(dtype, copy=False)[:, None, None, :]
    there: Any = neighbours.astype(dtype, copy=False).reshape(n, m, 1, width)
    mixed = np.empty((n, m, len(lambdas), width), dtype=dtype)
    weights = lambdas.astype(dtype)[:, None]
    block = max(1, BLOCK_CELLS // max(mixed[:1].size, 1))
    for first in range(0, n, block):
        part = slice(first, first + block)
        np.multiply(there[part] - start[part], weights, out=mixed[part])
        mixed[part] += start[part]
    stack = mixed.reshape(-1, width)
    # A mix with a missing value is missing; one that is missing on one side only must switch.
    half_missing = np.isnan(rows).any(axis=0) | np.isnan(neighbours).any(axis=0)
    for column in np.flatnonzero(half_missing):
        stack[:, column] = _switch_missing(
            stack[:, column],
            np.repeat(rows[:, column], m * len(lambdas)),
            np.repeat(neighbours[:, column], len(lambdas)),
            switch.draw(int(column)),
        )
    return stack


def _switch_missing(
    mixed: npt.NDArray[Any],
    left: npt.NDArray[Any],
    right: npt.NDArray[Any],
    moved: npt.NDArray[Any],
) -> npt.NDArray[Any]:
    one_sided = np.isnan(left) != np.isnan(right)
    return np.where(one_sided, np.where(moved, right, left), mixed)


def _mix_frame(
    rows: Any, neighbours: Any, lambdas: FloatArray, switch: _Switch, kinds: Mapping[str, Kind]
) -> Any:
    """Mix tables column by column; columns keep their library and, if not numbers, their type."""
    if isinstance(rows, np.ndarray):
        left, right = (pd.DataFrame(part, columns=list(kinds)) for part in (rows, neighbours))
        mixed = _mix_frame(left.infer_objects(), right.infer_objects(), lambdas, switch, kinds)
        return mixed.to_numpy(dtype=object)
    per_row = len(switch.weights) // max(len(rows), 1)
    pairs = np.arange(len(switch.weights))
    left = nw.from_native(take_rows(rows, pairs // per_row), eager_only=True)
    right = nw.from_native(take_rows(neighbours, pairs // len(lambdas)), eager_only=True)
    columns = []
    for position, (a, b) in enumerate(zip(left.iter_columns(), right.iter_columns(), strict=True)):
        a, b, name = _reindexed(a), _reindexed(b), a.name
        # Spans of time keep their type.
        if kinds[str(name)] == "numeric" and not isinstance(a.dtype, nw.Duration):
            here, there = _numbers(a), _numbers(b)
            values = here + switch.weights * (there - here)
            if np.isnan(values).any():
                values = _switch_missing(values, here, there, switch.draw(position))
            columns.append(nw.new_series(name, values, nw.Float64, backend=left.implementation))
        else:
            moved = nw.new_series(
                "moved", switch.draw(position), nw.Boolean, backend=left.implementation
            )
            columns.append(_common_type(b, a).zip_with(moved, a).alias(name))
    mixed = {column.name: column.to_native() for column in columns}
    # pandas takes any column name, narwhals only text.
    if isinstance(rows, pd.DataFrame):
        return pd.DataFrame(mixed)
    return nw.from_dict(mixed, backend=left.implementation).to_native()


def _numbers(column: Any) -> FloatArray:
    table = Table.from_input(column.to_frame().to_native(), {str(column.name): "numeric"})
    return table.frame.iloc[:, 0].to_numpy(np.float64)


def _reindexed(column: Any) -> Any:
    native = column.to_native()
    if isinstance(native, pd.Series):
        native = native.reset_index(drop=True)
    return nw.from_native(native, series_only=True)


def _common_type(column: Any, like: Any) -> Any:
    """Return `column` with the type of `like`, where pandas categories differ."""
    native, wanted = column.to_native(), like.to_native()
    if isinstance(native, pd.Series) and native.dtype != wanted.dtype:
        native = native.astype(wanted.dtype)
    return nw.from_native(native, series_only=True)


class _Switch:
    """Reproducible draws for values that cannot be mixed, one per pair, lambda and column."""

    def __init__(
        self, rows: UInt64Array, neighbours: UInt64Array, lambdas: FloatArray, seed: int
    ) -> None:
        self.weights = np.tile(lambdas, len(rows))
        self._pairs = scramble(scramble(rows + np.uint64(seed)) ^ neighbours)
        self._repeat = len(lambdas)

    def draw(self, column: int) -> BoolArray:
        """Return, for each mix, whether this column takes the neighbour's value.

        The uniform number belongs to (row, neighbour, column): a larger lambda moves
        every column that a smaller one moved.
        """
        bits = scramble(self._pairs + scramble(np.array([column], np.uint64)))
        uniform = (bits >> np.uint64(11)).astype(np.float64) / 2.0**53
        return self.weights > np.repeat(uniform, self._repeat)


def neighbour_rows(encoded: Any, positions: IntArray) -> Any:
    """Return the encoded neighbours of each row, one row's after another's."""
    return take_rows(encoded, positions.ravel())
