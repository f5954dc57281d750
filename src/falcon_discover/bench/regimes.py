"""The regime of a data set, decided from calibration rows before any test label is seen."""

from __future__ import annotations

from falcon_discover.bench.loading import Run, Study
from falcon_discover.regions.conflict import Conflict, conflict_grid
from falcon_discover.settings import PAPER


def regime_of(study: Study, run: Run) -> Conflict:
    """Return boundary, strong or mixed.

    Events to learn from are those of the validation rows and of the training rows out-of-fold.
    Gamma and the gain are measured on validation rows.
    """
    validation = run.part("validation")
    events = run.events(PAPER.tau, "validation")
    known = int(events.sum()) + study.oof_events(run)
    slices = conflict_grid(
        {name: validation[name].to_numpy() for name in validation.columns if name != "split"},
        events,
        validation["confidence"].to_numpy(),
        PAPER.tau,
    )
    gain = run.capture(run.family(), split="validation") - run.capture(
        run.prior(), split="validation"
    )
    return Conflict.judge(slices, known, gain)
