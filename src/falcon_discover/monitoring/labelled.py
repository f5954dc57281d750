"""Rows of a batch whose labels are known by now, counted: parts of a batch add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.data.labels import Labels
from falcon_discover.monitoring.sums import number, total
from falcon_discover.runtime.types import FloatArray, IntArray


@dataclass(frozen=True)
class Labelled:
    """How many rows have a label, and what was expected and found among them.

    Attributes
    ----------
    rows, eligible : rows with labels, and the confident predictions among them
    wrong : confident predictions that their label contradicts
    risk : the sum of the risks of these predictions, in units

    Examples
    --------
    >>> codes, confident = np.array([1, 0, -1, 1]), np.array([0, 2, 3])
    >>> found = Labelled.of(codes, confident, np.array([0, 1, 1]), np.array([0.1, 0.2, 0.4]))
    >>> found.rows, found.eligible, found.wrong, round(found.expected, 3)
    (3, 2, 1, 0.5)
    """

    rows: int = 0
    eligible: int = 0
    wrong: int = 0
    risk: int = 0

    @classmethod
    def of(
        cls, codes: IntArray, confident: IntArray, decision: IntArray, risk: FloatArray
    ) -> Labelled:
        """Count rows.

        Parameters
        ----------
        codes : the labels of all rows, as positions among the classes; -1 where there is none
        confident : which rows are predicted with confidence
        decision, risk : of these rows, what is predicted and the risk of an error
        """
        own = codes[confident]
        known = own >= 0
        return cls(
            int((codes >= 0).sum()),
            int(known.sum()),
            int((known & (decision != own)).sum()),
            int(total(risk[known])),
        )

    @property
    def expected(self) -> float:
        """How many confident errors were expected among the labelled rows."""
        return float(number(np.array(self.risk)))

    def __add__(self, other: Labelled) -> Labelled:
        return Labelled(
            self.rows + other.rows,
            self.eligible + other.eligible,
            self.wrong + other.wrong,
            self.risk + other.risk,
        )


def label_codes(y: Any, classes: npt.NDArray[Any]) -> IntArray:
    """Return labels as positions among the classes, -1 where there is none.

    Examples
    --------
    >>> label_codes(["yes", None, "no"], np.array(["no", "yes"])).tolist()
    [1, -1, 0]
    """
    values = pd.Series(np.asarray(y, dtype=object).ravel())
    known = values.notna().to_numpy()
    codes = np.full(len(values), -1, dtype=np.intp)
    if known.any():
        codes[known] = Labels.from_input(values[known].to_numpy(), classes).codes
    return codes
