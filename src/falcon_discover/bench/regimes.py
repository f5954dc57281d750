"""The regime of a data set, decided from calibration rows before any test label is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from falcon_discover.bench.loading import Run, Study
from falcon_discover.regions.conflict import best_slice, conflict_grid
from falcon_discover.settings import PAPER


@dataclass(frozen=True)
class Regime:
    """A verdict and the figures that decided it."""

    regime: str
    events: int
    gamma: float
    gamma_low: float
    mass: float
    gain: float


def regime_of(study: Study, run: Run) -> Regime:
    """Return boundary, strong or mixed.

    Events to learn from are those of the validation rows and of the training rows out-of-fold.
    Gamma and the gain are measured on validation rows.
    """
    validation = run.part("validation")
    events = run.events(PAPER.tau, "validation")
    known = int(events.sum()) + study.oof_events(run)
    best = best_slice(
        conflict_grid(
            {name: validation[name].to_numpy() for name in validation.columns if name != "split"},
            events,
            validation["confidence"].to_numpy(),
            PAPER.tau,
        )
    )
    gain = run.capture(run.family(), split="validation") - run.capture(
        run.prior(), split="validation"
    )
    gamma, low, mass = (best.gamma, best.low, best.mass) if best else (np.nan,) * 3
    if known < PAPER.boundary_events:
        regime = "boundary"
    elif low > 0 and gain >= PAPER.strong_gain:
        regime = "strong"
    else:
        regime = "mixed"
    return Regime(regime, known, gamma, low, mass, gain)
