"""What the paper's own numbers imply about each other, without any of ours."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import hypergeom

from falcon_discover import datasets
from falcon_discover.bench.check import paper_values
from falcon_discover.bench.loading import Study
from falcon_discover.bench.tables import Cell, Table
from falcon_discover.metrics import review_size
from falcon_discover.settings import PAPER

NULL = "tab:null_concentration"
MOST_EVENTS = 600


def rows_of_test_split(dataset: str) -> int:
    """Return the rows of a test split of the full data set."""
    return math.ceil(PAPER.test_share * datasets.entry(dataset).rows)


def events_of_interval(rows: int, low: float, high: float) -> list[int]:
    """Return the numbers of events whose exact null interval has these bounds.

    Both bounds may be off by half an event, since the printed ones are means over seeds.

    Examples
    --------
    >>> found = events_of_interval(9_769, 0.132, 0.274)
    >>> 117 in found, 60 in found
    (True, False)
    """
    size = review_size(rows, PAPER.main_budget)
    events = np.arange(1, min(rows, MOST_EVENTS))
    possible = np.ones(len(events), dtype=bool)
    for bound, q in ((low, 0.025), (high, 0.975)):
        # The nearest whole number of events is the quantile of the null.
        count = np.floor(bound * events + 0.5)
        possible &= hypergeom.cdf(count, rows, events, size) >= q
        possible &= hypergeom.cdf(count - 1, rows, events, size) < q
    return events[possible].tolist()


def events_of_chance(rows: int, capture: float, chance: float) -> list[int]:
    """Return the numbers of events for which a capture has this exact p, to half an event."""
    size = review_size(rows, PAPER.main_budget)
    events = np.arange(1, min(rows, MOST_EVENTS))
    tails = [
        hypergeom.sf(np.ceil(capture * events + off) - 1, rows, events, size) for off in (-0.5, 0.5)
    ]
    return events[(tails[1] <= chance) & (chance <= tails[0])].tolist()


def implied_events(study: Study) -> Table:
    """Return the numbers of events that the printed null test implies, beside printed and ours."""
    values = paper_values()
    cells = []
    for name, null in values[NULL].items():
        rows = rows_of_test_split(name)
        printed = values["tab:operational_robustness"].get(name, {}).get("events")
        interval = events_of_interval(rows, null["null_low"], null["null_high"])
        # A p below what the draws can show is a bound and implies nothing.
        chance = null["p_simulated_pooled"]
        by_chance = (
            events_of_chance(rows, null["observed"], chance)
            if chance > 1 / PAPER.null_draws
            else []
        )
        cells += [
            Cell(name, "test_rows", text=f"{rows:,}"),
            Cell(name, "printed_interval", text=f"[{null['null_low']}, {null['null_high']}]"),
            Cell(name, "events_by_interval", text=_range(interval)),
            Cell(name, "printed_p", text=f"{chance:g}" if by_chance else f"< {chance:g}"),
            Cell(name, "events_by_p", text=_range(by_chance)),
            Cell(name, "events_printed", text="" if printed is None else f"{printed:g}"),
        ]
        if name in study.datasets:
            runs = study.runs(name)
            cells += [
                Cell(name, "events_here", tuple(float(run.events().sum()) for run in runs)),
                Cell(name, "all_errors_here", tuple(float(run.wrong.sum()) for run in runs)),
            ]
    return cells


def _range(events: list[int]) -> str:
    return f"{min(events)} to {max(events)}" if events else ""
