"""Whether promises about the next batch hold, and those for a budget that was chosen by looking."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from benchmarks.claims.common import Measured, rate, simulated, times
from benchmarks.claims.worlds_ties import Rows, Truth, content, smooth

from falcon_discover.evaluation.budget import missed_bound, review_budget
from falcon_discover.evaluation.curves import missed_curve
from falcon_discover.metrics import review_size

AREA = "batches"
ROWS, POPULATION = 3_000, 1_000_000
BATCHES = (300, 1_000, 5_000)
SHARES = (0.5, 0.25)
COPIES = (2, 3)
# Versions that know batches and bands; the first release is measured by what it has.
BATCH = "batch" in inspect.signature(review_budget).parameters
BAND = "simultaneous" in inspect.signature(missed_curve).parameters


def _left(rows: Rows, budget: float) -> tuple[int, int]:
    """Return the rows of a batch that are not reviewed, and confident errors among them."""
    order = np.argsort(-rows.score, kind="stable")
    left = order[review_size(len(order), budget) if budget else 0 :]
    return len(left), int(rows.events[left].sum())


def _promised(rows: Rows, target: float, **asked: Any) -> Any:
    return review_budget(
        rows.events, rows.score, rows.eligible, max_residual_rate=target, **content(rows), **asked
    )


def _batch(base: float, seed: int) -> dict[tuple[int, float], tuple[bool, bool]]:
    known = smooth(ROWS, seed)
    out = {}
    for size in BATCHES:
        later = smooth(size, 10**7 + 10 * seed + BATCHES.index(size))
        asked = {"batch": size} if BATCH else {}
        for share in SHARES:
            found = _promised(known, share * base, **asked)
            n, wrong = _left(later, found.budget)
            above = not found.all_eligible and wrong > share * base * n + 1e-9
            bound = missed_bound(known.events, known.score, budget=0.1, **content(known), **asked)
            n, wrong = _left(later, 0.1)
            out[size, share] = above, wrong > bound.upper * n + 1e-9
    return out


def _looked(truth: Truth, seed: int) -> tuple[bool, bool]:
    rows = smooth(ROWS, seed)
    asked = {"simultaneous": True} if BAND else {}
    curve = missed_curve(rows.events, rows.score, **asked, **content(rows))
    upper = curve["band" if BAND else "upper"].to_numpy()
    true = np.array([truth.left(budget) for budget in curve["budget"]])
    # Looking for a bargain: the bound has fallen furthest for what the review costs.
    budget = curve["budget"].to_numpy()
    fallen = (truth.rate - upper) / np.sqrt(budget)
    picked = int(np.argmax(np.where(budget <= 0.5, fallen, -np.inf)))
    return bool((true > upper).any()), bool(true[picked] > upper[picked])


def _copied(truth: Truth, copies: int, seed: int) -> tuple[bool, bool]:
    rows = smooth(ROWS // copies, seed)
    rows = rows.take(np.repeat(np.arange(len(rows.p)), copies))
    found = _promised(rows, truth.rate / 2)
    bound = missed_bound(rows.events, rows.score, budget=0.1, **content(rows))
    return truth.after(found) > truth.rate / 2, truth.left(0.1) > bound.upper


def measure(share: float) -> Iterator[Measured]:
    """Yield how often batches, bands and bounds with copies fail."""
    truth = Truth(smooth(POPULATION, seed=10**6))
    drawn = simulated(partial(_batch, truth.rate), round(1_000 * share))
    for size in BATCHES:
        for part in SHARES:
            yield rate(
                AREA,
                f"The next {size:,} rows exceed {part:g} times the base rate after the budget "
                "for it",
                [line[size, part][0] for line in drawn],
                at_most=0.05,
            )
        yield rate(
            AREA,
            f"The next {size:,} rows exceed the bound on what the top 10% misses",
            [line[size, SHARES[0]][1] for line in drawn],
            at_most=0.05,
        )
    looked = simulated(partial(_looked, truth), round(1_000 * share))
    for i, what in enumerate(("at any budget of the curve", "at a budget chosen by looking")):
        yield rate(
            AREA,
            f"The rate left unreviewed exceeds the drawn bound {what}",
            [line[i] for line in looked],
            at_most=0.05,
        )
    for copies in COPIES:
        copied = simulated(partial(_copied, truth, copies), round(1_000 * share))
        claims = (
            "guaranteed budget leaves more than half the base rate",
            "top 10% misses more than its bound",
        )
        for i, what in enumerate(claims):
            yield rate(
                AREA,
                f"Every row {times(copies)}: the {what}",
                [line[i] for line in copied],
                at_most=0.05,
            )
