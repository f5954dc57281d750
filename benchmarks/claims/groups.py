"""Rows that come in groups: whether bounds, intervals and tests hold, and what ignoring them costs.

A group is a customer or a device with several rows. In a few groups most confident predictions are
wrong; elsewhere hardly any is. Scores are given, so nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from benchmarks.claims.common import Measured, rate, simulated

from falcon_discover.data.table import Table
from falcon_discover.evaluation.budget import GRID, missed_bound, review_budget
from falcon_discover.evaluation.risks import RiskCalibration
from falcon_discover.metrics import fc_auroc, review_size
from falcon_discover.metrics.clustered import area_interval, difference_interval
from falcon_discover.metrics.design import Design, rate_interval
from falcon_discover.regions.conflict import best_slice, conflict_grid
from falcon_discover.regions.rules import find_rules

AREA = "groups"
TAU = 0.9
DRAWS = 1_000
TESTED = 1_000
GROUPS, POPULATION = 1_000, 150_000
# Share of groups that are mostly wrong, and of confident predictions that are wrong in them.
BAD, IN_BAD, ELSEWHERE = 0.02, 0.9, 0.003
# The target is the rate that this budget leaves in truth.
BUDGET = 0.02


@dataclass(frozen=True)
class World:
    """Labelled rows of groups.

    Attributes
    ----------
    chance : the average over all groups of the chance that such a row is a confident error
    """

    group: np.ndarray
    confidence: np.ndarray
    events: np.ndarray
    score: np.ndarray
    other: np.ndarray
    chance: np.ndarray

    @property
    def eligible(self) -> np.ndarray:
        """Which rows the model is sure of."""
        return self.confidence >= TAU

    @property
    def design(self) -> Design:
        """Their groups."""
        found = Design.of(len(self.group), None, self.group)
        assert found is not None
        return found


@dataclass(frozen=True)
class Truth:
    """What is true of groups without end.

    Attributes
    ----------
    left : the rate of confident errors among rows that each budget leaves
    rate : of confident errors among confident predictions
    areas : eligible AUROC of both scores
    """

    left: dict[float, float]
    rate: float
    areas: tuple[float, float]

    @classmethod
    def of(cls, rows: World) -> Truth:
        """Measure it on very many groups."""
        n, sure = len(rows.score), rows.eligible
        found = np.append(0, np.cumsum(rows.events[np.argsort(-rows.score, kind="stable")]))
        sizes = {budget: review_size(n, budget) if budget else 0 for budget in (*GRID, BUDGET)}
        return cls(
            {b: float((found[-1] - found[size]) / (n - size)) for b, size in sizes.items()},
            float(rows.events[sure].mean()),
            (
                fc_auroc(rows.events[sure], rows.score[sure]),
                fc_auroc(rows.events[sure], rows.other[sure]),
            ),
        )


def world(n_groups: int, varying: bool, seed: int) -> World:
    """Return groups of eight rows, or of four to twelve."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 13, n_groups) if varying else np.full(n_groups, 8)
    group = np.repeat(np.arange(n_groups), sizes)
    bad, taste = rng.uniform(size=n_groups) < BAD, rng.normal(size=n_groups)
    n = len(group)
    confidence = rng.uniform(0.8, 1.0, n)
    doubt = 2 * (1 - confidence) / (1 - TAU)
    chance = np.where(bad[group], IN_BAD, ELSEWHERE * doubt)
    mean = BAD * IN_BAD + (1 - BAD) * ELSEWHERE * doubt
    sure = confidence >= TAU
    events = sure & (rng.uniform(size=n) < chance)
    noise = 0.6 * taste[group] + 0.8 * rng.normal(size=n)
    score = np.where(sure, 10 + events + noise, confidence)
    other = np.where(sure, 10 + 0.7 * events + 0.6 * noise + 0.8 * rng.normal(size=n), confidence)
    return World(group, confidence, events, score, other, np.where(sure, mean, 0.0))


def measure(share: float) -> Iterator[Measured]:
    """Yield how often promises fail with groups, and where rows are taken as independent."""
    for varying, name in ((False, "groups of 8"), (True, "groups of 4 to 12")):
        truth = Truth.of(world(POPULATION, varying, seed=10**6))
        drawn = simulated(partial(_promised, truth, varying), round(DRAWS * share))
        yield from _failures(name, drawn)
        drawn = simulated(partial(_covered, truth, varying), round(DRAWS * share))
        for place, what in enumerate(("rate", "AUROC", "difference of AUROCs", "risk per error")):
            yield rate(
                AREA,
                f"{name}: interval of the {what} contains it",
                [line[place][0] for line in drawn],
                at_least=0.94,
            )
            yield rate(
                AREA,
                f"{name}: interval of the {what} contains it, treating rows as independent",
                [line[place][1] for line in drawn],
                at_least=0.0,
            )
    for grouped in (True, False):
        how = "" if grouped else ", treating rows as independent"
        at = {"at_most": 0.05} if grouped else {"at_least": 0.05}
        confirmed = simulated(partial(_region, grouped), round(TESTED * share))
        yield rate(AREA, f"a region is confirmed where there is none{how}", confirmed, **at)
        shown = simulated(partial(_slice, grouped), round(TESTED * share))
        yield rate(AREA, f"the best slice is shown as worse where none is{how}", shown, **at)


def _failures(name: str, drawn: list[tuple[bool, ...]]) -> Iterator[Measured]:
    what = (
        "guaranteed budget leaves more than promised",
        f"top {BUDGET:.0%} misses more than its bound",
    )
    for place, claim in enumerate(what):
        yield rate(AREA, f"{name}: the {claim}", [line[place] for line in drawn], at_most=0.05)
        yield rate(
            AREA,
            f"{name}: the {claim}, treating rows as independent",
            [line[3 + place] for line in drawn],
            at_least=0.05,
        )
    smaller = [line[2] for line in drawn]
    yield rate(
        AREA,
        f"{name}: the guaranteed budget leaves eligible rows unreviewed",
        smaller,
        at_least=0.0,
    )


def _promised(truth: Truth, varying: bool, seed: int) -> tuple[bool, ...]:
    rows, target = world(GROUPS, varying, seed), truth.left[BUDGET]
    failed = []
    for design in (rows.design, None):
        found = review_budget(
            rows.events, rows.score, rows.eligible, max_residual_rate=target, design=design
        )
        bound = missed_bound(
            rows.events, rows.score, budget=BUDGET, design=design, eligible=rows.eligible
        )
        failed.append(not found.all_eligible and truth.left[found.budget] > target)
        failed.append(target > bound.upper)
        failed.append(not found.all_eligible)
    return tuple(failed)


def _covered(truth: Truth, varying: bool, seed: int) -> list[tuple[bool, bool]]:
    rows = world(GROUPS, varying, seed)
    sure, areas = rows.eligible, truth.areas
    hits = rows.events[sure]
    held: list[list[bool]] = [[], [], [], []]
    for design in (rows.design, None):
        inside = None if design is None else design.take(sure)
        low, high = rate_interval(design, rows.events, sure)
        held[0].append(low <= truth.rate <= high)
        low, high = area_interval(hits, rows.score[sure], inside)
        held[1].append(low <= areas[0] <= high)
        _, low, high = difference_interval(hits, rows.score[sure], rows.other[sure], inside)
        held[2].append(low <= areas[0] - areas[1] <= high)
        risk = RiskCalibration.of(rows.chance[sure], hits, design=inside)
        held[3].append(risk.low <= 1 <= risk.high)
    return [(both[0], both[1]) for both in held]


def _region(grouped: bool, seed: int) -> bool:
    """Return whether a region is confirmed; columns that groups share mean nothing."""
    rows = world(GROUPS // 3, varying=True, seed=seed)
    rng = np.random.default_rng(10**7 + seed)
    places = rng.choice(list("abcdefgh"), rows.group.max() + 1)[rows.group]
    ages = rng.normal(size=rows.group.max() + 1)[rows.group]
    frame = pd.DataFrame({"place": places, "age": ages, "x": rng.normal(size=len(ages))})
    table = Table.from_input(frame)
    design = rows.design if grouped else None
    rules = find_rules(
        table.frame, table.kinds, rows.confidence, rows.events, tau=TAU, seed=seed, design=design
    )
    return any(rule.confirmed for rule in rules)


def _slice(grouped: bool, seed: int) -> bool:
    """Return whether the best slice is shown as worse; signals that groups share mean nothing."""
    rows = world(GROUPS, varying=True, seed=seed)
    rng = np.random.default_rng(10**7 + seed)
    names = ("support", "label_agreement", "mean_drift", "label_consistency")
    signals = {
        name: 0.8 * rng.random(rows.group.max() + 1)[rows.group] + 0.2 * rng.random(len(rows.group))
        for name in names
    }
    design = rows.design if grouped else None
    best = best_slice(conflict_grid(signals, rows.events, rows.confidence, TAU, design=design))
    return best is not None and best.excess_low > 0
