"""The regime of a data set, decided from calibration rows before any test label is seen."""

from __future__ import annotations

from falcon_discover.bench import plan
from falcon_discover.bench.loading import Run, Study
from falcon_discover.regions.conflict import (
    Conflict,
    chosen_gain,
    conflict_grid,
    folds_by_confidence,
)
from falcon_discover.settings import PAPER


def regime_of(study: Study, run: Run) -> Conflict:
    """Return boundary, strong or mixed.

    Events to learn from are those of the validation rows and of the training rows out-of-fold.
    Slices and the gain are measured on validation rows.
    """
    validation = run.part("validation")
    events = run.events(PAPER.tau, "validation")
    known = int(events.sum()) + study.oof_events(run)
    confidence = validation["confidence"].to_numpy()
    slices = conflict_grid(
        {name: validation[name].to_numpy() for name in validation.columns if name != "split"},
        events,
        confidence,
        PAPER.tau,
    )
    family, priors = (
        [run.score(name, split="validation") for name in names]
        for names in (plan.FAMILY, plan.PRIORS)
    )
    gain = chosen_gain(events, family, priors, folds_by_confidence(confidence))
    return Conflict.judge(slices, known, gain)
