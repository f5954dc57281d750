"""Regions in words of a fit: found on one half of the rows, confirmed on all others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from falcon_discover.data.table import Kind
from falcon_discover.metrics.design import Design
from falcon_discover.regions.confirm import Against, halves
from falcon_discover.regions.retest import FREQUENT_LIFT
from falcon_discover.regions.rules import MAX_RULES, Rule, find_together, told_already
from falcon_discover.runtime.types import BoolArray, FloatArray

# Expected regions that are told: how many.
MAX_EXPECTED = 3


def find_regions(
    frame: pd.DataFrame,
    kinds: Mapping[str, Kind],
    confidence: FloatArray,
    events: BoolArray,
    *,
    n_fit: int,
    tau: float | FloatArray,
    seed: int,
    design: Design | None = None,
) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """Return the regions with more confident errors than expected, and those expected.

    First those with more confident errors than rows of the same confidence hold, then those with
    more than all eligible rows hold, unless most of their confident errors lie in confirmed ones of
    the first kind: those would be told twice. `frame` holds the `n_fit` rows of the fit, then the
    validation rows, which only confirm; `design` the weights and groups of all these rows.
    """
    kept = np.ones((2, len(events)), dtype=bool)
    fit = slice(n_fit)
    group = design.unit[fit] if design is not None and design.grouped else None
    kept[:, fit] = halves(frame[fit], events[fit], np.asarray(confidence >= tau)[fit], seed, group)
    searches: dict[Against, int] = {"confidence": MAX_RULES, "all": MAX_EXPECTED}
    rules = find_together(
        frame,
        dict(kinds),
        confidence,
        events,
        searches,
        tau=tau,
        confirmation=kept,
        design=design,
    )
    told = np.zeros(len(events), dtype=bool)
    for rule in rules["confidence"]:
        if rule.confirmed:
            told[rule.rows] = True

    def tells_more(rule: Rule) -> bool:
        frequent = rule.confirmed and rule.confirmation.lift >= FREQUENT_LIFT
        return frequent and not told_already(rule, told, events)

    return tuple(rules["confidence"]), tuple(rule for rule in rules["all"] if tells_more(rule))
