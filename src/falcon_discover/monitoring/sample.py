"""A sample of rows of bounded size, chosen by their content: parts may come in any order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from falcon_discover.metrics.ordering import scramble
from falcon_discover.runtime.types import UInt64Array

# Rows that a batch is compared with the audited rows by, as one number.
SAMPLE_ROWS = 1_000


@dataclass(frozen=True, eq=False)
class RowSample:
    """The rows with the smallest keys among all that were seen; a key is a hash of the content.

    Attributes
    ----------
    keys : in ascending order
    frame : the rows, in canonical form
    """

    keys: UInt64Array
    frame: pd.DataFrame

    @classmethod
    def of(cls, frame: pd.DataFrame, hashes: UInt64Array, part: int = 0) -> RowSample:
        """Return the sample of some rows.

        Parameters
        ----------
        hashes : one for each row, of its content
        part : the number of the part that the rows are of. Copies of a row within a part are
            drawn apart from each other; copies in parts of different numbers are too
        """
        copies = pd.Series(hashes).groupby(hashes).cumcount().to_numpy(dtype=np.uint64)
        drawn = scramble(np.array([part], dtype=np.uint64)) + copies
        keys = scramble(hashes ^ scramble(drawn))
        return cls._least(keys, frame)

    @classmethod
    def _least(cls, keys: UInt64Array, frame: pd.DataFrame) -> RowSample:
        order = np.argsort(keys, kind="stable")[:SAMPLE_ROWS]
        return cls(keys[order], frame.iloc[order].reset_index(drop=True))

    def __add__(self, other: RowSample) -> RowSample:
        keys = np.concatenate([self.keys, other.keys])
        return self._least(keys, pd.concat([self.frame, other.frame], ignore_index=True))

    def __len__(self) -> int:
        return len(self.keys)
