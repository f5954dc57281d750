"""What a batch is compared with: the audited rows, counted once for each audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from falcon_discover.audit.absent import LEFT_OUT
from falcon_discover.audit.fitted import FittedAudit
from falcon_discover.data.table import Table
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.design import kish
from falcon_discover.monitoring.cells import Cells
from falcon_discover.monitoring.replicates import Replicates
from falcon_discover.monitoring.sample import RowSample
from falcon_discover.rankers import GatedRisk
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.signals.catalogue import CATALOGUE
from falcon_discover.signals.state import State

# Known of all rows; the other signals only of eligible ones.
CONFIDENCE = "confidence"
PREDICTED = "predicted class"


@dataclass(frozen=True, eq=False)
class Counted:
    """A column or signal of the audited rows in cells.

    Attributes
    ----------
    what : "column", "signal" or "prediction"
    counts : how much of the audited rows is in each cell
    rows : how many rows these are; of weighted ones, as many as tell as much
    dates : whether the column holds dates or times
    """

    what: str
    cells: Cells
    counts: FloatArray
    rows: float
    dates: bool = False


@dataclass(frozen=True, eq=False)
class Baseline:
    """The audited rows, as far as a batch is compared with them.

    Attributes
    ----------
    ranker : what estimates the risk
    replicates : versions of it, for how sure it is
    counted : columns, signals and predictions in cells
    sample, sample_weight : rows of the audit, and how many rows each stands for
    rows, eligible, events : what the audited rows stand for, and how many were confident, and wrong
    risk, risk_spread, risk_error : the mean of the held-out risks over all audited rows, their
        standard deviation, and the standard error of the mean
    design_effect : how much more the errors of a batch vary than independent ones would, since
        rows come in groups; 1 if they do not
    share : how much of the audited rows is here; a saved audit may keep a sample
    """

    ranker: GatedRisk
    replicates: Replicates
    counted: tuple[Counted, ...]
    sample: RowSample
    sample_weight: FloatArray
    rows: float
    eligible: float
    events: float
    risk: float
    risk_spread: float
    risk_error: float
    design_effect: float
    share: float

    @classmethod
    def of(cls, audit: FittedAudit) -> Baseline:
        """Return the baseline of an audit, made once."""
        known = _made.get(audit)
        if known is None:
            known = _made[audit] = cls._of(audit)
        return known

    @classmethod
    def _of(cls, audit: FittedAudit) -> Baseline:
        if not audit.has_rows:
            raise InputError(f"monitor compares with {LEFT_OUT}")
        ranker = risk_ranker(audit)
        rows, state = audit.training.oof, audit.training.oof.state
        eligible, weight = state.eligible(audit.tau), state.weight
        ones = np.ones(len(state)) if weight is None else weight
        risk = ranker.held_out_risk_[: len(state)]
        mean = float(np.average(risk, weights=ones))
        spread = float(np.sqrt(np.average((risk - mean) ** 2, weights=ones)))
        learned_from = audit.training.source(ranker.labels)
        events = rows.events(audit.tau)
        effect = mean_effect = 1.0
        if state.group is not None:
            design = state.design
            assert design is not None
            effect = design.take(eligible).design_effect((events - risk)[eligible])
            mean_effect = design.design_effect(risk - mean)
        sample, sample_weight = _sampled(audit.table, ones)
        return cls(
            ranker=ranker,
            replicates=Replicates.of(ranker, learned_from, audit.tau),
            counted=_counted(audit, state, eligible),
            sample=sample,
            sample_weight=sample_weight,
            rows=float(ones.sum()),
            eligible=float(ones @ eligible),
            events=float(ones @ events),
            risk=mean,
            risk_spread=spread,
            risk_error=spread * float(np.sqrt(mean_effect * kish(ones) / ones.sum())),
            design_effect=effect,
            share=len(state) / max(audit.fitted_on, len(state)),
        )


_made: WeakKeyDictionary[FittedAudit, Baseline] = WeakKeyDictionary()


def _sampled(table: Table, weight: FloatArray) -> tuple[RowSample, FloatArray]:
    """Return a sample of rows, and how many rows each stands for."""
    marked = table.frame.copy(deep=False)
    # No column is called by a number: their names are texts.
    marked[0] = weight
    sample = RowSample.of(marked, table.row_hashes())
    kept = sample.frame.pop(0).to_numpy(dtype=np.float64)
    return sample, kept / kept.mean()


def risk_ranker(audit: FittedAudit) -> GatedRisk:
    """Return what estimates risks: the audit's own ranker or, where it does not, `auto`."""
    ranker = audit.ranker
    if not isinstance(ranker, GatedRisk):
        with notices.collected():
            ranker = audit.ranker_of("auto", audit.tau)
        assert isinstance(ranker, GatedRisk)
    return ranker


def signal_values(state: State, eligible: BoolArray) -> dict[str, FloatArray]:
    """Return the signals of the eligible rows, and the confidence of all."""
    found = {CONFIDENCE: state.confidence}
    for signal in CATALOGUE:
        values = state.column(signal.name)
        if values is not None and signal.suspicious is not None and signal.name != CONFIDENCE:
            found[signal.name] = values[eligible]
    return found


def _counted(audit: FittedAudit, state: State, eligible: BoolArray) -> tuple[Counted, ...]:
    weight = state.weight
    found = []

    def add(
        what: str, cells: Cells, values: npt.NDArray[Any], own: FloatArray | None, kind: str = ""
    ) -> None:
        effective = len(values) if own is None else float(own.sum()) / kish(own)
        counts = cells.weighed(values, own)
        found.append(Counted(what, cells, counts, effective, dates=kind == "datetime"))

    for name, kind in audit.kinds.items():
        values = audit.table.frame[name].to_numpy()
        add("column", Cells.of(name, values, kind), values, weight, kind)
    predicted = predictions(audit, state)
    add("prediction", Cells.of_categories(PREDICTED, predicted), predicted, weight)
    for name, values in signal_values(state, eligible).items():
        own = weight
        if own is not None and len(values) < len(own):
            own = own[eligible]
        if len(values):
            add("signal", Cells.of_numbers(name, values), values, own)
    return tuple(found)


def predictions(audit: FittedAudit, state: State) -> npt.NDArray[Any]:
    """Return the predicted classes of rows as texts."""
    names = np.array([str(label) for label in audit.classes], dtype=object)
    return names[state.decision]
