"""Columns cut into cells, so that rows of any number are counted exactly and parts add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.data.table import Kind
from falcon_discover.runtime.types import FloatArray, IntArray

# A column of numbers is cut at so many quantiles of the audited rows; one with no more different
# values than this, at each of them.
CUTS = 40
# So many categories are told apart, and no rarer ones: a category that few audited rows have is
# missing from many batches, and others of its kind are new in them, by chance.
MAX_CATEGORIES = 100
LEAST_ROWS = 5


@dataclass(frozen=True, eq=False)
class Cells:
    """How the values of one column are counted.

    Attributes
    ----------
    name : of the column or signal
    cuts : where numbers are cut, ascending; each cut is a cell of its own, for numbers that repeat
    categories : those that are told apart; empty for numbers

    Cell 0 holds missing values. Of categories the last cell holds all that are not named.

    Examples
    --------
    >>> cells = Cells.of_numbers("age", np.array([20.0, 30.0, np.nan]))
    >>> cells.counts(np.array([19.0, 20.0, 25.0, 30.0, 31.0, np.nan])).tolist()
    [1, 1, 1, 1, 1, 1]
    """

    name: str
    cuts: FloatArray
    categories: tuple[str, ...] = ()
    numeric: bool = True

    @classmethod
    def of_numbers(cls, name: str, values: FloatArray) -> Cells:
        """Cut at quantiles of the values, or at each value where they are few."""
        known = np.unique(values[~np.isnan(values)])
        if len(known) > CUTS:
            present = values[~np.isnan(values)]
            steps = (np.arange(CUTS) + 0.5) / CUTS
            known = np.unique(np.quantile(present, steps, method="inverted_cdf"))
        return cls(name, known)

    @classmethod
    def of_categories(cls, name: str, values: npt.NDArray[Any]) -> Cells:
        """Tell the most frequent categories apart."""
        # Among equally frequent ones the texts decide, not the order of the rows.
        counts = pd.Series(values).value_counts().sort_index()
        counts = counts.sort_values(ascending=False, kind="stable")
        frequent = counts.index[counts >= LEAST_ROWS]
        return cls(name, np.empty(0), tuple(frequent[:MAX_CATEGORIES]), numeric=False)

    @classmethod
    def of(cls, name: str, values: npt.NDArray[Any], kind: Kind) -> Cells:
        """Cut a column of a canonical table."""
        if kind == "categorical":
            return cls.of_categories(name, values)
        return cls.of_numbers(name, values.astype(np.float64))

    @property
    def size(self) -> int:
        """How many cells there are."""
        return 2 + 2 * len(self.cuts) if self.numeric else 2 + len(self.categories)

    def codes(self, values: npt.NDArray[Any]) -> IntArray:
        """Return the cell of each value."""
        if not self.numeric:
            places = {value: place for place, value in enumerate(self.categories, start=1)}
            codes, known = pd.factorize(values)
            # The last place belongs to missing values, whose code is -1.
            where = np.array([*(places.get(value, self.size - 1) for value in known), 0])
            return where[codes].astype(np.intp)
        numbers = values.astype(np.float64)
        below = np.searchsorted(self.cuts, numbers, side="left")
        above = np.searchsorted(self.cuts, numbers, side="right")
        return np.where(np.isnan(numbers), 0, 1 + below + above)

    def counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return how many values are in each cell."""
        return np.bincount(self.codes(values), minlength=self.size).astype(np.int64)

    def weighed(self, values: npt.NDArray[Any], weight: FloatArray | None) -> FloatArray:
        """Return how many values, each with its weight, are in each cell."""
        return np.bincount(self.codes(values), weight, self.size).astype(np.float64)
