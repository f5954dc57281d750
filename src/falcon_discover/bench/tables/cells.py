"""Cells of a table, and the figures that several tables share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from falcon_discover import metrics
from falcon_discover.bench.loading import Run
from falcon_discover.settings import PAPER


@dataclass(frozen=True)
class Cell:
    """One entry of a table: a text, or numbers whose mean is shown.

    `numbers` holds one number per seed, or a single one for figures that are not per seed. A cell
    that is not `shown` is only in the list of all numbers.
    """

    row: str
    column: str
    numbers: tuple[float, ...] = ()
    text: str = ""
    shown: bool = True

    @property
    def mean(self) -> float:
        """The mean over the seeds in which the figure is defined."""
        known = [number for number in self.numbers if np.isfinite(number)]
        return float(np.mean(known)) if known else float("nan")


Table = list[Cell]


def per_seed(
    row: str, column: str, runs: Sequence[Run], figure: Callable[..., float], *args: Any
) -> Cell:
    """Return a cell of one figure per seed: `figure(run, *args)`."""
    return Cell(row, column, tuple(float(figure(run, *args)) for run in runs))


def chosen_names(row: str, column: str, runs: Sequence[Run], name: Callable[[Run], str]) -> Cell:
    """Return the names chosen over the seeds, most frequent first, with how often."""
    chosen = [name(run) for run in runs]
    ordered = sorted(set(chosen), key=lambda c: (-chosen.count(c), c))
    text = ", ".join(c if len(ordered) == 1 else f"{c} ({chosen.count(c)})" for c in ordered)
    return Cell(row, column, text=text)


def gain(run: Run, tau: float = PAPER.tau, variant: str = "") -> float:
    """Return Capture@20 of the chosen family member minus that of the chosen prior."""
    family, prior = run.family(tau, variant), run.prior(tau)
    return run.capture(family, tau, variant=variant) - run.capture(prior, tau)


def auroc_gain(run: Run) -> float:
    """Return FalseConf-AUROC of the chosen family member minus that of the chosen prior."""
    return run.auroc(run.family()) - run.auroc(run.prior())


def found(run: Run, ranker: str) -> float:
    """Return how many events a ranker finds in the top 20%."""
    return metrics.fc_count_at(run.events(), run.score(ranker), PAPER.main_budget)
