"""Regions: how often one is confirmed where there is none, and what new rows say of real ones.

Where there is nothing to find, scores have nothing to do with the columns, and labels follow the
scores: neither kind of region is there. Planted regions are those of `make_planted`, whose model is
calibrated everywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.claims.common import Measured, rate, simulated, times

from falcon_discover import datasets
from falcon_discover.data.table import Table
from falcon_discover.metrics import confidence, false_confidence
from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.regions.rules import Rule
from falcon_discover.regions.search import find_regions
from falcon_discover.signals.state import State

AREA = "regions"
TAU = 0.9
DRAWS = 1_000
# How often each row is there, and how many different ones there are.
COPIES = {1: 3_000, 2: 1_500, 3: 1_000, 5: 600}
# Shape, rows, share of rows in the region, share of errors in it: each hard to find.
HARD = (
    ("box", 3_000, 0.08, 0.20),
    ("box", 5_000, 0.04, 0.15),
    ("categorical", 3_000, 0.08, 0.12),
    ("missing", 2_000, 0.04, 0.20),
)
SAME = 0.5
# What is measured on new rows: whether the region is still there, how often each row is, the
# outcome that is counted, and how often it may be.
ON_NEW_ROWS = (
    ("harmless", 1, "held", True),
    ("harmless", 3, "held", True),
    ("lasting", 1, "did not hold", True),
    ("lasting", 3, "did not hold", True),
    ("harmless", 1, "did not hold", False),
    ("lasting", 1, "held", False),
)


def measure(share: float) -> Iterator[Measured]:
    """Yield false confirmations, what is said on new rows, and how often regions are found."""
    for copies, n_rows in COPIES.items():
        confirmed = simulated(partial(_false, n_rows, copies), int(share * DRAWS))
        rows = "independent rows" if copies == 1 else f"each row {times(copies)}"
        yield rate(
            AREA, f"a region is confirmed where there is none; {rows}", confirmed, at_most=0.05
        )
    confirmed = simulated(_beyond, int(share * DRAWS))
    claim = "an unexpected region is confirmed where there is none; confidence follows the columns"
    yield rate(AREA, claim, confirmed, at_most=0.05)
    told = {hard: simulated(partial(_planted, hard), int(share * DRAWS / 2)) for hard in HARD}
    found = [line for lines in told.values() for line in lines if line]
    for kind, copies, outcome, is_wrong in ON_NEW_ROWS:
        rows = "new rows" if copies == 1 else f"new rows, each {times(copies)}"
        said = [line[kind, copies] == outcome for line in found]
        limit = {"at_most": 0.05} if is_wrong else {"at_least": 0.0}
        yield rate(AREA, f"{kind} region called {outcome!r}; {rows}", said, **limit)
    for (shape, n_rows, mass, density), lines in told.items():
        where = f"{shape}, {n_rows:,} rows, {mass:.0%} inside, {density:.0%} wrong"
        yield rate(
            AREA, f"planted region found: {where}", [bool(line) for line in lines], at_least=0.0
        )


def _found(table: Table, p: Any, y: Any, seed: int) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """Return the regions that a fit on these rows would find."""
    events = false_confidence(np.asarray(y, dtype=np.int8), p, TAU)
    return find_regions(
        table.frame, table.kinds, confidence(p), events, n_fit=len(table), tau=TAU, seed=seed
    )


def _false(n_rows: int, copies: int, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 6)), columns=list("abcdef"))
    X["colour"] = rng.choice(["red", "green", "blue", "grey"], n_rows)
    sure = rng.uniform(0.85, 1.0, n_rows)
    p = np.where(rng.uniform(size=n_rows) < 0.5, sure, 1 - sure)
    y = rng.uniform(size=n_rows) < p
    again = np.tile(np.arange(n_rows), copies)
    table = Table.from_input(X.iloc[again].reset_index(drop=True))
    found = _found(table, p[again], y[again], seed)
    return any(rule.confirmed for rules in found for rule in rules)


def _beyond(seed: int) -> bool:
    planted = datasets.make_planted(3_000, shape="none", random_state=seed)
    rules, _ = _found(Table.from_input(planted.X), planted.proba, planted.y, seed)
    return any(rule.confirmed for rule in rules)


def _planted(hard: tuple[Any, ...], seed: int) -> dict[tuple[str, int], str | None]:
    """Return what new rows say of the planted region, where it is confirmed, or nothing."""
    shape, n_rows, mass, density = hard
    planted = datasets.make_planted(
        2 * n_rows, shape=shape, mass=mass, error_density=density, random_state=seed
    )
    fit, new = np.arange(n_rows), np.arange(n_rows, 2 * n_rows)
    table = Table.from_input(planted.X.iloc[fit])
    rules, expected = _found(table, planted.proba[fit], planted.y[fit], seed)
    regions = RegionSet(rules, expected, Clusters(None, (), np.arange(1), pd.DataFrame()))
    same = [_jaccard(rule, planted.region[fit]) >= SAME and rule.confirmed for rule in rules]
    if not any(same):
        return {}
    harmless = np.random.default_rng(seed).uniform(size=2 * n_rows) < planted.proba
    return {
        (kind, copies): _outcome(regions, planted, y, np.tile(new, copies), same.index(True))
        for kind, y in (("lasting", planted.y), ("harmless", harmless))
        for copies in (1, 3)
    }


def _jaccard(rule: Any, region: Any) -> float:
    inside = np.zeros(len(region), dtype=bool)
    inside[rule.rows] = True
    return float((inside & region).sum() / (inside | region).sum())


def _outcome(regions: RegionSet, planted: Any, y: Any, rows: Any, place: int) -> str | None:
    frame = Table.from_input(planted.X.iloc[rows].reset_index(drop=True)).frame
    p, labels = planted.proba[rows], np.asarray(y, dtype=np.int8)[rows]
    events = false_confidence(labels, p, TAU)
    here = regions.described(regions.clusters, frame, State.from_scores(p), TAU, events)
    # Before regions were tested again, all were printed as if they had held.
    return here.outcomes[place] if hasattr(here, "outcomes") else "held"
