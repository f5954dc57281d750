"""Weighted rows: a down-sampled table with weights must tell the rates of the full one.

Of the rows of one class only a part is kept, and each of these stands for several. Scores are
given, so nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from benchmarks.claims.common import Measured, rate, simulated
from benchmarks.claims.worlds_ties import Rows, Truth

from falcon_discover.data.table import Table
from falcon_discover.evaluation.budget import GRID, missed_bound, review_budget
from falcon_discover.metrics import fc_auroc
from falcon_discover.metrics.clustered import area_interval
from falcon_discover.metrics.design import Design, rate_interval
from falcon_discover.regions.rules import find_rules

AREA = "weights"
DRAWS = 1_000
TESTED = 1_000
ROWS, POPULATION = 8_000, 1_000_000
# The share of the rows of the first class that is kept.
KEPT = (0.3, 0.1)
BUDGET = 0.1


def lopsided(n: int, seed: int) -> Rows:
    """Return rows of which most are of the first class, and errors mostly of the second."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.35, 1.0, n)
    truth = np.where(p < 0.5, 0.8 * p, 1 - 0.8 * (1 - p))
    return Rows(p, rng.uniform(size=n) < truth, rng.normal(size=n))


def down_sampled(kept: float, seed: int) -> tuple[Rows, Design]:
    """Return all rows of the second class and some of the first, with what they stand for."""
    rows = lopsided(ROWS, seed)
    rng = np.random.default_rng(10**7 + seed)
    chosen = np.flatnonzero(rows.label | (rng.uniform(size=ROWS) < kept))
    rows = rows.take(chosen)
    design = Design.of(len(chosen), np.where(rows.label, 1.0, 1 / kept), None)
    assert design is not None
    return rows, design


def measure(share: float) -> Iterator[Measured]:
    """Yield how often bounds fail and intervals hold what is true of the full table."""
    everything = lopsided(POPULATION, seed=10**6)
    truth = _Left.of(Truth(everything))
    sure = everything.eligible
    true_rate = float(everything.events[sure].mean())
    area = fc_auroc(everything.events[sure], everything.score[sure])
    for kept in KEPT:
        name = f"{kept:.0%} of one class kept"
        drawn = simulated(partial(_one, truth, true_rate, area, kept), round(DRAWS * share))
        claims = (
            "guaranteed budget leaves more than half the base rate",
            f"top {BUDGET:.0%} misses more than its bound",
        )
        for place, claim in enumerate(claims):
            failed = [line[place] for line in drawn]
            yield rate(AREA, f"{name}: the {claim}", failed, at_most=0.05)
        for place, what in ((2, "rate"), (3, "AUROC")):
            yield rate(
                AREA,
                f"{name}: interval of the {what} contains that of the full table",
                [line[place] for line in drawn],
                at_least=0.94,
            )
        yield rate(
            AREA,
            f"{name}: interval of the rate, ignoring the weights, contains it",
            [line[4] for line in drawn],
            at_least=0.0,
        )
    confirmed = simulated(_region, round(TESTED * share))
    yield rate(AREA, "a region is confirmed where there is none", confirmed, at_most=0.05)


@dataclass(frozen=True)
class _Left:
    """The rate that each budget leaves, and the base rate."""

    left: dict[float, float]
    rate: float

    @classmethod
    def of(cls, truth: Truth) -> _Left:
        return cls({budget: truth.left(budget) for budget in (*GRID, BUDGET)}, truth.rate)


def _one(truth: _Left, true_rate: float, area: float, kept: float, seed: int) -> tuple[bool, ...]:
    rows, design = down_sampled(kept, seed)
    sure, target = rows.eligible, truth.rate / 2
    found = review_budget(rows.events, rows.score, sure, max_residual_rate=target, design=design)
    bound = missed_bound(rows.events, rows.score, budget=BUDGET, design=design, eligible=sure)
    low, high = rate_interval(design, rows.events, sure)
    area_low, area_high = area_interval(rows.events[sure], rows.score[sure], design.take(sure))
    alone_low, alone_high = rate_interval(None, rows.events, sure)
    return (
        not found.all_eligible and truth.left[found.budget] > target,
        truth.left[BUDGET] > bound.upper,
        low <= true_rate <= high,
        area_low <= area <= area_high,
        alone_low <= true_rate <= alone_high,
    )


def _region(seed: int) -> bool:
    """Return whether a region is confirmed where columns mean nothing."""
    rows, design = down_sampled(KEPT[0], seed)
    rng = np.random.default_rng(2 * 10**7 + seed)
    frame = pd.DataFrame(rng.normal(size=(len(rows.p), 4)), columns=list("abcd"))
    frame["colour"] = rng.choice(["red", "green", "blue", "grey"], len(frame))
    table = Table.from_input(frame)
    rules = find_rules(
        table.frame, table.kinds, rows.confidence, rows.events, tau=0.85, seed=seed, design=design
    )
    return any(rule.confirmed for rule in rules)
