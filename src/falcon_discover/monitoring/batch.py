"""`BatchReport`: what to expect of rows without labels, and whether to trust that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from falcon_discover.audit.fitted import FittedAudit
from falcon_discover.data.table import Table
from falcon_discover.exceptions import check_number
from falcon_discover.metrics.decisions import Tau
from falcon_discover.monitoring import words
from falcon_discover.monitoring.baseline import Baseline
from falcon_discover.monitoring.drift import domain_auroc, drift
from falcon_discover.monitoring.estimate import count_interval
from falcon_discover.monitoring.statistics import (
    PROMISED,
    RISK,
    SQUARED,
    SUMS,
    BatchStatistics,
    region_numbers,
)
from falcon_discover.monitoring.sums import number
from falcon_discover.runtime.records import plain, records
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

Alarm = Literal["as_audited", "more_errors_expected", "unlike_audited"]
ALARMS: tuple[Alarm, ...] = ("as_audited", "more_errors_expected", "unlike_audited")
# From so many times the audit's rate on more errors are worth an alarm, if they are sure.
LEAST_RISE = 1.1
# Rows that are told from audited ones this well have little in common with them.
UNLIKE = 0.9


@dataclass(frozen=True, eq=False)
class BatchReport:
    """What to expect of rows without labels; `falcon.monitor(X)` returns one.

    Attributes
    ----------
    rows, eligible : rows of the batch, and those that the model is confident of
    errors, errors_low, errors_high : confident errors to expect, with the interval of their number
    rate, rate_low, rate_high : the same per eligible row
    promised : errors that the model's own confidence admits, the sum of 1 - confidence
    usual : errors that the audit's rate makes of as many rows
    eligible_share, audit_eligible_share : eligible rows per row, here and at the audit
    audit_rate : confident errors per eligible row at the audit
    classes, regions : frames, the same by predicted class and by confirmed region
    drift : frame, what changed since the audit: see `falcon_discover.monitoring.drift.drift`
    domain_auroc : how well rows of the batch are told from audited ones; 0.5 is not at all
    alarm : "as_audited", "more_errors_expected" or "unlike_audited"
    sentence : the same in words, and what to do
    tau, confidence_level : from which confidence an error counts; of the intervals
    """

    rows: int
    eligible: int
    errors: float
    errors_low: int
    errors_high: int
    rate: float
    rate_low: float
    rate_high: float
    promised: float
    usual: float
    eligible_share: float
    audit_eligible_share: float
    audit_rate: float
    classes: pd.DataFrame
    regions: pd.DataFrame
    drift: pd.DataFrame
    domain_auroc: float
    alarm: Alarm
    tau: Tau
    confidence_level: float

    @classmethod
    def of(
        cls,
        statistics: BatchStatistics,
        audit: FittedAudit,
        confidence_level: float = PAPER.interval_level,
    ) -> BatchReport:
        """Return what the counts of a batch say, or those of its parts added up."""
        known = Baseline.of(audit)
        lines = [
            _figures(statistics, known, group, confidence_level)
            for group in range(len(statistics.rows))
        ]
        whole, n_classes = lines[0], len(audit.classes)
        by_class = pd.DataFrame(lines[1 : n_classes + 1])
        by_class.insert(0, "predicted", list(audit.classes))
        names = ["elsewhere", *_region_names(audit)]
        by_region = pd.DataFrame(lines[n_classes + 1 :])
        by_region.insert(0, "region_id", region_numbers(audit))
        by_region.insert(1, "region", names)
        told_apart = domain_auroc(known.sample, statistics.sample, audit.kinds)
        return cls(
            **whole,
            usual=known.events / known.rows * whole["rows"],
            eligible_share=whole["eligible"] / whole["rows"],
            audit_eligible_share=known.eligible / known.rows,
            audit_rate=known.events / known.eligible if known.eligible else math.nan,
            classes=by_class,
            regions=by_region,
            drift=drift(statistics, known),
            domain_auroc=told_apart,
            alarm=_alarm(statistics, known, told_apart),
            tau=audit.tau,
            confidence_level=confidence_level,
        )

    @property
    def sentence(self) -> str:
        """What to expect and what to do, in words."""
        return words.sentence(self)

    def frame(self) -> pd.DataFrame:
        """Return one row with the figures of the whole batch."""
        return pd.DataFrame([self._figures()])

    def _figures(self) -> dict[str, Any]:
        frames = ("classes", "regions", "drift")
        return {name: value for name, value in vars(self).items() if name not in frames}

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words under the names of the attributes."""
        found = self._figures()
        found["tau"] = list(self.tau) if isinstance(self.tau, tuple) else self.tau
        found["sentence"] = self.sentence
        frames = {
            "classes": records(self.classes),
            "regions": records(self.regions),
            "drift": records(self.drift),
        }
        return {**plain(found), **frames}

    def __repr__(self) -> str:
        return words.told(self)

    def _repr_html_(self) -> str:
        return words.html(self)


def _figures(
    statistics: BatchStatistics, known: Baseline, group: int, confidence_level: float
) -> dict[str, Any]:
    sums = number(statistics.sums[group])
    errors, eligible = float(sums[RISK]), int(statistics.eligible[group])
    error = _standard_error(known, sums)
    low, high = count_interval(errors, error, confidence_level, eligible)
    return {
        "rows": int(statistics.rows[group]),
        "eligible": eligible,
        "errors": errors,
        "errors_low": low,
        "errors_high": high,
        "rate": errors / eligible if eligible else math.nan,
        "rate_low": low / eligible if eligible else math.nan,
        "rate_high": high / eligible if eligible else math.nan,
        "promised": float(sums[PROMISED]),
    }


def _standard_error(known: Baseline, sums: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return how far the expected number may be off because the risk itself is an estimate."""
    spread = known.replicates.spread(sums[SUMS:])
    if math.isnan(spread):
        # Nothing was learned but the level, from so many errors.
        return float(sums[RISK]) / math.sqrt(known.events + 1)
    return spread * math.sqrt(known.share)


def _alarm(statistics: BatchStatistics, known: Baseline, told_apart: float) -> Alarm:
    if told_apart >= UNLIKE:
        return "unlike_audited"
    rows, sums = int(statistics.rows[0]), number(statistics.sums[0])
    if not rows or not known.risk > 0:
        return "as_audited"
    mean = float(sums[RISK]) / rows
    variance = max(float(sums[SQUARED]) / rows - mean**2, 0.0) / rows
    reach = 1.96 * math.sqrt(variance + known.risk_error**2)
    if mean > LEAST_RISE * known.risk and mean - known.risk > reach:
        return "more_errors_expected"
    return "as_audited"


def _region_names(audit: FittedAudit) -> list[str]:
    names = audit.regions.names()
    return [names[number - 1] for number in region_numbers(audit)[1:]]


def monitored(
    audit: FittedAudit,
    table: Table,
    p: FloatArray | None = None,
    confidence_level: float = PAPER.interval_level,
) -> BatchReport:
    """Return the report on rows in memory; see `FalconDiscover.monitor`."""
    must = "a confidence level lies between 0 and 1"
    check_number("confidence_level", confidence_level, lambda value: 0 < value < 1, must)
    statistics = BatchStatistics.of(audit, table, p)
    return BatchReport.of(statistics, audit, confidence_level)
