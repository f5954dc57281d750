"""What is left of an audit that was saved without any row: the model and its own confidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover import notices
from falcon_discover.contributions import Contributions
from falcon_discover.discovery import Discovery
from falcon_discover.exceptions import InputError
from falcon_discover.mixing import Probe
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.signals.state import State
from falcon_discover.tables import FloatArray, IntArray, Table
from falcon_discover.view import TransformedView

RANKER = "gated_confidence"
ONLY_CONFIDENCE = (
    "this audit was saved without reference rows: rows are ranked by gated confidence, and all "
    "signals but the model's own certainty are missing. Save with reference='sample' or 'full' "
    "for more."
)
NO_FIT_ROWS = "the rows given to fit were left out when this audit was saved: give X (and y)."


@dataclass(frozen=True, eq=False)
class BareReference:
    """A reference without rows."""

    view: TransformedView
    probe: Probe


@dataclass(frozen=True)
class BareMeasure:
    """Measures what needs no reference row: the model's certainty."""

    def state(
        self,
        table: Table,
        reference: BareReference,
        p: FloatArray | None = None,
        *,
        extended: bool = True,
    ) -> State:
        """Return the state of rows, and warn about what is missing in it."""
        notices.warn(ONLY_CONFIDENCE)
        state = State.from_scores(reference.probe.score(table) if p is None else p)
        return replace(
            state, evidence=pd.DataFrame({"nearest_distance": np.inf}, state.signals.index)
        )


class NoRegions:
    """Regions need the signals of reference rows; without them no row is in one."""

    @property
    def clusters(self) -> NoRegions:
        """The paper's regions: none either."""
        return self

    here = None
    numbered = ()

    def numbers(self, frame: pd.DataFrame) -> IntArray:
        """Return 0 for each row: it is in no region."""
        return np.zeros(len(frame), dtype=np.intp)

    def words(self, numbers: IntArray) -> npt.NDArray[np.object_]:
        """Return no words for each row."""
        return np.full(len(numbers), "", dtype=object)

    def names(self) -> list[str]:
        """Return no names."""
        return []

    def described(self, *rows: Any) -> NoRegions:
        """Return itself: there is nothing to describe."""
        return self

    def frame(self) -> pd.DataFrame:
        """Return a frame without rows."""
        return pd.DataFrame({"region": [], "rows": [], "events": []})

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "none: the audit was saved without reference rows."


@dataclass(frozen=True, eq=False, repr=False)
class BareDiscovery(Discovery):
    """The finding on new rows by the model's own confidence alone."""

    @classmethod
    def empty(cls, classes: npt.NDArray[Any], tau: float) -> BareDiscovery:
        """Return the finding on the rows of the fit, of which none is left."""
        state = State.from_scores(np.empty(0))
        state = replace(state, evidence=pd.DataFrame({"nearest_distance": np.empty(0)}))
        codes = np.empty(0, dtype=np.int8)
        rows = TrainingRows(LabelledState(state, codes))
        regions: Any = NoRegions()
        index = pd.RangeIndex(0)
        table = Table(None, pd.DataFrame(), {}, index)
        return cls(table, state, codes, index, classes, tau, RANKER, regions, state.p, rows, True)

    def score(self, ranker: Any, tau: float) -> FloatArray:
        """Return the suspicion of each row."""
        if self.own_rows:
            raise InputError(NO_FIT_ROWS)
        return super().score(ranker, tau)

    def contributions(self) -> Contributions:
        """Raise: there is no row to measure contributions on."""
        raise InputError(NO_FIT_ROWS)

    def __repr__(self) -> str:
        return NO_FIT_ROWS if self.own_rows else super().__repr__()
