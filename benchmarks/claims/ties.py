"""Whether the order of a file changes a figure, or breaks the guarantee, where scores are equal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from benchmarks.claims.common import Measured, rate, simulated
from benchmarks.claims.worlds_ties import Rows, Truth, content, leaves

from falcon_discover.evaluation.budget import missed_bound, review_budget
from falcon_discover.metrics import capture_at

AREA = "ties"
ROWS, POPULATION = 3_000, 400_000
TARGETS = (0.006, 0.010, 0.015)
ORDERS = ("shuffled", "negatives first", "positives first")
BUDGETS = (0.05, 0.10, 0.20)


def _sorted(rows: Rows, order: str) -> Rows:
    if order == "shuffled":
        return rows
    sign = 1 if order == "negatives first" else -1
    return rows.take(np.argsort(sign * rows.label.astype(int), kind="stable"))


def measure(share: float) -> Iterator[Measured]:
    """Yield how often figures differ between orders, and how often the guarantee fails."""
    truth = Truth(leaves(POPULATION, seed=10**6))

    def one(seed: int) -> dict[str, list[float]]:
        rows = leaves(ROWS, seed)
        out: dict[str, list[float]] = {"captures": [], "missed": [], "left": [], "budgets": []}
        for order in ORDERS:
            own = _sorted(rows, order)
            out["captures"].append([capture_at(own.events, own.score, b) for b in BUDGETS])
            bound = missed_bound(own.events, own.score, budget=0.10, **content(own))
            out["missed"].append(bound.upper)
            found = [
                review_budget(
                    own.events, own.score, own.eligible, max_residual_rate=target, **content(own)
                )
                for target in TARGETS
            ]
            out["left"].append([truth.after(budget) for budget in found])
            out["budgets"].append([budget.budget for budget in found])
        return out

    drawn = simulated(one, round(1_000 * share))

    def differs(name: str) -> list[bool]:
        return [any(value != line[name][0] for value in line[name]) for line in drawn]

    for what, name in (
        ("Captures at 5, 10 and 20% differ", "captures"),
        ("The bound on what the top 10% misses differs", "missed"),
        ("A guaranteed budget differs", "budgets"),
    ):
        yield rate(AREA, f"{what} between three orders of one file", differs(name), at_most=0)
    for i, order in enumerate(ORDERS):
        yield rate(
            AREA,
            f"What the top 10% misses exceeds its bound; eight scores, {order}",
            [truth.left(0.10) > line["missed"][i] for line in drawn],
            at_most=0.05,
        )
        for j, target in enumerate(TARGETS):
            yield rate(
                AREA,
                f"The guaranteed budget leaves more than {100 * target:g}%; eight scores, {order}",
                [line["left"][i][j] > target for line in drawn],
                at_most=0.05,
            )
