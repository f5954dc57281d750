"""What is counted of a batch: parts of it add up, in any order, to the same numbers.

A batch of any size is read in parts. Of each part sums and counts are kept, and a sample of rows
of bounded size; nothing grows with the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from falcon_discover.audit.fitted import FittedAudit
from falcon_discover.data.table import Table
from falcon_discover.exceptions import InputError
from falcon_discover.monitoring.baseline import Baseline, Counted, predictions, signal_values
from falcon_discover.monitoring.labelled import Labelled
from falcon_discover.monitoring.sample import RowSample
from falcon_discover.monitoring.sums import WholeArray, total
from falcon_discover.rankers.inputs import doubt
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.signals.state import State

# The sums of each group of rows, before those by versions of the risk.
RISK, SQUARED, PROMISED = range(3)
# How the sum of risks moves with the three numbers of their calibration.
MOVES = slice(3, 6)
VERSIONS = slice(6, None)


@dataclass(frozen=True, eq=False)
class BatchStatistics:
    """What is known of some rows, or of several parts of a batch together.

    Groups of rows are: all; then one for each predicted class; then one for each confirmed region,
    after the rows in none.

    Attributes
    ----------
    rows, eligible : how many rows each group holds, and how many of them are confident
    sums : of each group, in units: risks, their squares, what the model itself promises
        (1 - confidence), how risks move with their calibration, and risks by each version; all
        of eligible rows
    counts : by column, signal and prediction, the rows in each cell
    sample : rows of the batch
    labelled : what was found among rows whose labels are known

    Examples
    --------
    >>> from sklearn.frozen import FrozenEstimator
    >>> from falcon_discover import FalconDiscover, datasets
    >>> planted = datasets.make_planted(300, random_state=0)
    >>> frozen = FrozenEstimator(planted.model)
    >>> falcon = FalconDiscover(frozen, random_state=0).fit(planted.X, planted.y)
    >>> new = datasets.make_planted(200, random_state=1).X
    >>> parts = [
    ...     BatchStatistics.of(falcon.audit_, falcon.new_rows(new[rows]))
    ...     for rows in (slice(0, 50), slice(50, 200))
    ... ]
    >>> bool(((parts[0] + parts[1]).sums == (parts[1] + parts[0]).sums).all())
    True
    """

    rows: npt.NDArray[np.int64]
    eligible: npt.NDArray[np.int64]
    sums: WholeArray
    counts: tuple[npt.NDArray[np.int64], ...]
    sample: RowSample
    labelled: Labelled = field(default_factory=Labelled)

    @classmethod
    def of(
        cls, audit: FittedAudit, table: Table, p: FloatArray | None = None, *, part: int = 0
    ) -> BatchStatistics:
        """Measure some rows; of rows that are not confident, no more than is needed.

        Parameters
        ----------
        p : the scores of the rows, where there is no model to ask
        part : the number of the part, if the rows are one of many; see `RowSample.of`
        """
        Baseline.of(audit)
        return cls.of_state(audit, table, audit.state(table, p, only_eligible=True), part=part)

    @classmethod
    def of_state(
        cls,
        audit: FittedAudit,
        table: Table,
        state: State,
        *,
        part: int = 0,
        codes: IntArray | None = None,
    ) -> BatchStatistics:
        """Count rows whose state is known.

        Parameters
        ----------
        codes : their labels, as positions among the classes, -1 where there is none
        """
        known = Baseline.of(audit)
        eligible = state.eligible(audit.tau)
        sure = np.flatnonzero(eligible)
        confident = state.take(sure)
        own = doubt(confident)
        odds = known.ranker.model_.log_odds(confident) if len(sure) else own
        before = known.ranker.later.risk(odds, own)
        risk = known.ranker.moved(confident, before)
        versions = known.ranker.moved(confident, before, known.replicates.risks(confident))
        slack = risk * (1.0 - risk)
        values = np.column_stack(
            [risk, risk**2, 1.0 - confident.confidence, slack, slack * odds, slack * own,
             versions]
        )  # fmt: skip
        groups = _groups(audit, table, state)
        signals = signal_values(state, eligible)

        def values_of(counted: Counted) -> npt.NDArray[Any]:
            name = counted.cells.name
            if counted.what == "column":
                return table.frame[name].to_numpy()
            if counted.what == "prediction":
                return predictions(audit, state)
            return signals.get(name, np.empty(0))

        return cls(
            np.array([int(group.sum()) for group in groups]),
            np.array([int(group[sure].sum()) for group in groups]),
            np.vstack([total(values[group[sure]]) for group in groups]),
            tuple(one.cells.counts(values_of(one)) for one in known.counted),
            RowSample.of(table.frame, table.row_hashes(), part),
            Labelled() if codes is None else Labelled.of(codes, sure, confident.decision, risk),
        )

    def __add__(self, other: BatchStatistics) -> BatchStatistics:
        if self.sums.shape != other.sums.shape or len(self.counts) != len(other.counts):
            raise InputError("these parts were counted by different audits: they cannot be added.")
        return BatchStatistics(
            self.rows + other.rows,
            self.eligible + other.eligible,
            self.sums + other.sums,
            tuple(own + more for own, more in zip(self.counts, other.counts, strict=True)),
            self.sample + other.sample,
            self.labelled + other.labelled,
        )


def _groups(audit: FittedAudit, table: Table, state: State) -> list[BoolArray]:
    numbers = audit.regions.numbers(table.frame)
    decision = state.decision
    return [
        np.ones(len(state), dtype=np.bool_),
        *(decision == code for code in range(len(audit.classes))),
        *(numbers == number for number in region_numbers(audit)),
    ]


def region_numbers(audit: FittedAudit) -> list[int]:
    """Return the numbers of the confirmed regions, after 0 for rows in none."""
    rules = enumerate(audit.regions.numbered, start=1)
    return [0, *(number for number, rule in rules if rule.confirmed)]
