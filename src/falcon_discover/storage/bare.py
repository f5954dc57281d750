"""What is left of an audit that was saved without any row: the model and its own confidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.pipeline import make_pipeline

from falcon_discover import rankers
from falcon_discover.audit.finding import Discovery
from falcon_discover.calibration.discrepancy import Caution
from falcon_discover.calibration.model import StateCalibrator
from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from falcon_discover.evaluation.contributions import Contributions
from falcon_discover.exceptions import InputError
from falcon_discover.models.adapter import Probe
from falcon_discover.plots.accessor import Plots
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.conflict import Conflict
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import FloatArray
from falcon_discover.signals.state import State

RANKER = "gated_confidence"
ONLY_CONFIDENCE = (
    "this audit was saved without reference rows: rows are ranked by gated confidence, and all "
    "signals but the model's own certainty are missing. Save with reference='sample' or 'full' "
    "for more."
)
NO_FIT_ROWS = "the rows given to fit were left out when this audit was saved: give X (and y)."
LEFT_OUT = (
    "the rows of the fit, which were left out when this audit was saved: save it with "
    "reference='sample' or 'full'."
)
LEARNS = f"learns from {LEFT_OUT}"
COMPARES = f"compares with {LEFT_OUT}"


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
            state, evidence=pd.DataFrame({"nearest_distance": np.nan}, state.signals.index)
        )


@dataclass(frozen=True, repr=False, eq=False)
class NoRegions(RegionSet):
    """Regions need the signals of reference rows; without them there is none, and it says so."""

    @classmethod
    def empty(cls) -> NoRegions:
        """Return no rules and no clusters."""
        columns = ("region", "rows", "events", "fc_mass", "support", "instability", "correctness")
        summary = pd.DataFrame({name: [] for name in columns})
        clusters = Clusters(make_pipeline("passthrough"), (), np.empty(0, dtype=np.intp), summary)
        return cls((), (), clusters)

    def __repr__(self) -> str:
        return "none: the audit was saved without reference rows."


@dataclass(frozen=True, eq=False, repr=False)
class BareDiscovery(Discovery):
    """The finding on new rows by the model's own confidence alone."""

    @classmethod
    def empty(cls, classes: npt.NDArray[Any], tau: float, seed: int = 0) -> BareDiscovery:
        """Return the finding on the rows of the fit, of which none is left."""
        state = State.from_scores(np.empty(0))
        state = replace(state, evidence=pd.DataFrame({"nearest_distance": np.empty(0)}))
        codes = np.empty(0, dtype=np.int8)
        rows = TrainingRows(LabelledState(state, codes))
        index = pd.RangeIndex(0)
        table = Table(None, pd.DataFrame(), {}, index)
        regions = NoRegions.empty()
        found = cls(table, state, codes, index, classes, tau, RANKER, regions, state.p, rows, True)
        return replace(found, seed=seed)

    def of_new_rows(
        self, table: Table, state: State, codes: npt.NDArray[np.int8] | None
    ) -> BareDiscovery:
        """Return the finding on other rows; there is no region to describe on them."""
        regions = self.regions if codes is None else replace(self.regions, here=())
        return replace(
            self,
            table=table,
            state=state,
            codes=codes,
            index=table.index,
            regions=regions,
            learned=np.full(len(state), np.nan),
            own_rows=False,
        )._warned()

    @property
    def plot(self) -> Plots:
        """Figures for matplotlib, of new rows."""
        if self.own_rows:
            raise InputError(f"{NO_FIT_ROWS} For figures: examine(X, y).plot.")
        return super().plot

    def score(self, ranker: Any, tau: float) -> FloatArray:
        """Return the suspicion of each row, by a ranker that learns from no rows."""
        if self.own_rows:
            raise InputError(NO_FIT_ROWS)
        made = rankers.make(ranker)
        if getattr(made, "labels", None) is not None:
            raise InputError(f"the ranker {ranker!r} {LEARNS}")
        if not set(getattr(made, "needs", ())) <= set(self.state.signals.columns):
            raise InputError(f"the ranker {ranker!r} {COMPARES}")
        return super().score(ranker, tau)

    def contributions(self) -> Contributions:
        """Raise: there is no row to measure contributions on."""
        raise InputError(f"the measure of contributions {LEARNS}")

    def conflict(self) -> Conflict:
        """Raise: there is no row to compare others with."""
        raise InputError(f"conflict {COMPARES}")

    def calibration_weights(self) -> FloatArray:
        """Raise: there is no row to compare others with."""
        raise InputError(f"the measure of calibration weights {COMPARES}")

    def calibrator(
        self, method: str, *, weighted: bool = False, caution: Caution = 0.0
    ) -> StateCalibrator:
        """Raise: there is no row to learn from."""
        raise InputError(f"a calibrator {LEARNS}")

    def __repr__(self) -> str:
        if self.own_rows:
            return NO_FIT_ROWS
        if self.codes is None:
            return super().__repr__()
        return f"{self.evaluate(taus=())}\n\nRegions: {self.regions}"
