"""How sure the risk is: the same risk, learned again without one part of the rows at a time.

The spread of a sum of risks over these versions is that of the sum itself (the jackknife over
groups of rows). Where a batch holds rows unlike most of those audited, the versions differ more,
so an interval that carries their spread grows with the shift.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from falcon_discover.metrics.decisions import Tau
from falcon_discover.rankers import GatedRisk
from falcon_discover.rankers.evidence import EvidenceModel, Sample, dealt, inner_folds
from falcon_discover.rankers.inputs import doubt
from falcon_discover.rankers.risk import Calibration, calibrate
from falcon_discover.rankers.training import LabelledState
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.signals.state import State

PARTS = 10


@dataclass(frozen=True, eq=False)
class Replicates:
    """Versions of the risk, each learned without one part of the rows.

    Attributes
    ----------
    versions : a model of evidence and its calibration each; none where nothing was learned
    """

    versions: tuple[tuple[EvidenceModel, Calibration], ...] = ()

    @classmethod
    def of(cls, ranker: GatedRisk, rows: LabelledState, tau: Tau) -> Replicates:
        """Learn the risk again without one part of the rows at a time."""
        if not isinstance(ranker.model_, EvidenceModel):
            return cls()
        state, wrong = rows.state, rows.errors()
        eligible = state.eligible(tau)
        sample = Sample.of_errors(state, wrong, eligible)
        odds = ranker.held_out_odds(sample, inner_folds(sample, ranker.random_state))
        own = doubt(state)
        kind = wrong.astype(int) + (wrong & eligible)
        count = min(PARTS, int(wrong.sum()))
        part = dealt(kind, count, ranker.random_state + 1, state.group)
        versions = []
        for number in np.unique(part):
            kept = part != number
            version = _learned(ranker, state, wrong, eligible, odds, own, kept)
            if version is not None:
                versions.append(version)
        return cls(tuple(versions) if len(versions) > 1 else ())

    def risks(self, state: State) -> FloatArray:
        """Return the risk of eligible rows by each version, one column each."""
        if not self.versions or not len(state):
            return np.empty((len(state), len(self.versions)))
        own = doubt(state)
        inputs = self.versions[0][0].inputs(state)
        return np.column_stack(
            [
                calibration.risk(model.log_odds_of(inputs), own)
                for model, calibration in self.versions
            ]
        )

    def spread(self, sums: npt.ArrayLike) -> float:
        """Return the standard error of a sum, given it by each version; 0 if there are none."""
        values = np.asarray(sums, dtype=np.float64)
        if len(values) < 2:
            return 0.0
        apart = ((values - values.mean()) ** 2).mean()
        return float(np.sqrt((len(values) - 1) * apart))


def _learned(
    ranker: GatedRisk,
    state: State,
    wrong: BoolArray,
    eligible: BoolArray,
    odds: FloatArray,
    own: FloatArray,
    kept: BoolArray,
) -> tuple[EvidenceModel, Calibration] | None:
    rows = np.flatnonzero(kept)
    sample = Sample.of_errors(state.take(rows), wrong[rows], eligible[rows])
    if not sample.rarer or not sample.total(sample.eligible):
        return None
    model = EvidenceModel("error", ranker.leave_out, ranker.random_state).fit(sample)
    sure = kept & eligible
    design = None if state.design is None else state.design.take(sure)
    return model, calibrate(odds[sure], own[sure], wrong[sure], design).after(ranker.gain_)
