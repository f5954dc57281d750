"""When to worry: what a batch must show for each level of alarm."""

from __future__ import annotations

import math
from typing import Literal

from scipy.stats import binom, norm

from falcon_discover.monitoring.baseline import Baseline
from falcon_discover.monitoring.drift import RARE, Domain
from falcon_discover.monitoring.statistics import RISK, SQUARED, BatchStatistics
from falcon_discover.monitoring.sums import number

Alarm = Literal["as_audited", "more_errors_expected", "unlike_audited"]
ALARMS: tuple[Alarm, ...] = ("as_audited", "more_errors_expected", "unlike_audited")
# More errors are worth an alarm from so many times the audit's on, if it is sure that there are.
LEAST_RISE = 1.1
# Chance of taking as many as at the audit for more, or rows like the audited ones for others.
CHANCE = 0.01
# Rows of kinds that were rare at the audit: with so many of them the risk has little to go by.
MANY_NOVEL = 0.2
# How far its neighbours are says whether a row is like any audited one.
DISTANCE = "neighbour_distance"


def alarm_of(statistics: BatchStatistics, known: Baseline, domain: Domain) -> Alarm:
    """Return the level of alarm."""
    far, there, usual = far_rows(statistics, known)
    if _many(domain.novel * domain.rows, domain.rows, RARE) or _many(far, there, usual):
        return "unlike_audited"
    return "more_errors_expected" if _rises(statistics, known) else "as_audited"


def far_rows(statistics: BatchStatistics, known: Baseline) -> tuple[int, int, float]:
    """Return how many confident rows lie further out than almost all audited ones.

    Returns
    -------
    far rows; all rows whose distance is known; the share of far rows at the audit
    """
    for counted, counts in zip(known.counted, statistics.counts, strict=True):
        if counted.cells.name == DISTANCE and counted.what == "signal":
            # Beyond the last cut.
            usual = float(counted.counts[-1] / max(counted.counts.sum(), 1.0))
            return int(counts[-1]), int(counts.sum()), max(usual, 1.0 / (counted.rows + 1))
    return 0, 0, 1.0


def _many(novel: float, rows: int, usual: float) -> bool:
    """Return whether many rows, and surely more than usual, are unlike the audited ones."""
    if not rows or math.isnan(novel) or novel < MANY_NOVEL * rows:
        return False
    return bool(binom.sf(round(novel) - 1, rows, usual) <= CHANCE)


def _rises(statistics: BatchStatistics, known: Baseline) -> bool:
    """Return whether risks are surely higher than those of the audited rows, and by enough."""
    rows, sums = int(statistics.rows[0]), number(statistics.sums[0])
    mean = float(sums[RISK]) / rows
    # A few rows say little about their own spread.
    variance = max(float(sums[SQUARED]) / rows - mean**2, known.risk_spread**2) / rows
    reach = float(norm.isf(CHANCE)) * math.hypot(math.sqrt(variance), known.risk_error)
    return mean > LEAST_RISE * known.risk and mean - known.risk > reach
