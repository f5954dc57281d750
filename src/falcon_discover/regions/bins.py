"""Columns as a small number of ordered cells, for scanning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from falcon_discover.data.table import Kind
from falcon_discover.regions.conditions import (
    Condition,
    IsMissing,
    OneOf,
    Range,
    simple_number,
    simple_time,
)
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray

# Cells of a number: few where all pairs of columns are tried, many where one rule is refined.
COARSE_CELLS = 16
FINE_CELLS = 128
# Categories that are told apart, the most frequent first; and how many a rule may name.
MAX_LEVELS = 60
MAX_NAMED = 6

CellMask = BoolArray


@dataclass(frozen=True, eq=False)
class Column:
    """One column in cells.

    Attributes
    ----------
    codes : the fine cell of each row
    n_cells : how many fine cells there are
    coarse : the coarse cell of each fine cell
    edges : for numbers, the smallest and largest value of each ordered cell
    levels : for categories, the value of each cell; rare ones share a last cell that has no name
    gap : the cell of missing numbers, or None
    """

    name: str
    kind: Kind
    codes: IntArray
    n_cells: int
    coarse: IntArray
    edges: FloatArray | None = None
    levels: tuple[str | None, ...] = ()
    gap: int | None = None

    @property
    def ordered(self) -> int:
        """How many cells have an order: all but the missing one, and none of a category's."""
        return 0 if self.edges is None else len(self.edges)

    def condition(self, mask: CellMask) -> Condition:
        """Return a choice of fine cells in the column's own units."""
        if self.edges is None:
            return self._category_condition(mask)
        if self.gap is not None and mask[self.gap]:
            return IsMissing(self.name)
        inside = np.flatnonzero(mask[: self.ordered])
        first, last = int(inside[0]), int(inside[-1])
        simple = simple_time if self.kind == "datetime" else simple_number
        low = high = None
        if first > 0:
            below, own = self.edges[first - 1, 1], self.edges[first, 0]
            low = simple(float(np.nextafter(below, np.inf)), float(own))
        if last < self.ordered - 1:
            own, above = self.edges[last, 1], self.edges[last + 1, 0]
            high = simple(float(own), float(np.nextafter(above, -np.inf)))
        return Range(self.name, low, high, self.kind)

    def _category_condition(self, mask: CellMask) -> OneOf:
        named = mask[: len(self.levels)]
        inside = [level for level, chosen in zip(self.levels, named, strict=True) if chosen]
        outside = [level for level, chosen in zip(self.levels, named, strict=True) if not chosen]
        # Rare categories share a cell without a name, so the other side is the one to name.
        rest = self.n_cells > len(self.levels)
        negated = bool(mask[-1]) if rest else len(inside) > max(len(outside), 2)
        return OneOf(self.name, tuple(outside if negated else inside), negated)


def columns(frame: pd.DataFrame, kinds: dict[str, Kind]) -> list[Column]:
    """Return the columns that tell rows apart, in cells."""
    made = (
        _categories(values) if kinds[name] == "categorical" else _numbers(values, kinds[name])
        for name, values in frame.items()
    )
    return [column for column in made if column is not None]


def _numbers(values: pd.Series, kind: Kind) -> Column | None:
    numbers = values.to_numpy(dtype=np.float64)
    missing = np.isnan(numbers)
    known = numbers[~missing]
    if not len(known):
        return None
    distinct = np.unique(known)
    cuts = distinct
    if len(distinct) > FINE_CELLS:
        shares = np.arange(1, FINE_CELLS) / FINE_CELLS
        cuts = np.unique(np.quantile(known, shares, method="inverted_cdf"))
        cuts = np.unique(np.append(cuts, distinct[-1]))
    # A cell holds the values above the cut before it, up to and including its own.
    codes = np.searchsorted(cuts, known, side="left")
    if len(cuts) + missing.any() < 2:
        return None
    low = np.full(len(cuts), np.inf)
    np.minimum.at(low, codes, known)
    cells = np.full(len(numbers), len(cuts), dtype=np.intp)
    cells[~missing] = codes
    size = np.bincount(codes, minlength=len(cuts))
    coarse = np.minimum((np.cumsum(size) - size / 2) * COARSE_CELLS // len(known), COARSE_CELLS - 1)
    _, coarse = np.unique(coarse, return_inverse=True)
    gap = None
    if missing.any():
        gap, coarse = len(cuts), np.append(coarse, coarse[-1] + 1)
    return Column(
        str(values.name), kind, cells, len(cuts) + missing.any(), coarse.astype(np.intp),
        edges=np.column_stack([low, cuts]), gap=gap,
    )  # fmt: skip


def _categories(values: pd.Series) -> Column | None:
    codes, seen = pd.factorize(values, use_na_sentinel=True)
    levels: list[str | None] = list(seen)
    if (codes < 0).any():
        codes = np.where(codes < 0, len(levels), codes)
        levels.append(None)
    if len(levels) < 2:
        return None
    size = np.bincount(codes, minlength=len(levels))
    kept = np.sort(np.argsort(-size, kind="stable")[:MAX_LEVELS])
    place = np.full(len(levels), len(kept))
    place[kept] = np.arange(len(kept))
    n_cells = len(kept) + (len(kept) < len(levels))
    return Column(
        str(values.name), "categorical", place[codes].astype(np.intp), n_cells,
        np.arange(n_cells), levels=tuple(levels[k] for k in kept),
    )  # fmt: skip
