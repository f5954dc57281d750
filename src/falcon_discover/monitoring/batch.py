"""`BatchReport`: what to expect of rows without labels, and whether to trust that."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from falcon_discover.audit.finding import Finding
from falcon_discover.audit.fitted import FittedAudit
from falcon_discover.data.table import Table
from falcon_discover.exceptions import InputError, check_number
from falcon_discover.metrics.decisions import Tau
from falcon_discover.monitoring import words
from falcon_discover.monitoring.alarm import ALARMS as ALARMS
from falcon_discover.monitoring.alarm import Alarm, alarm_of
from falcon_discover.monitoring.baseline import Baseline
from falcon_discover.monitoring.calibration_watch import CalibrationWatch
from falcon_discover.monitoring.comparison import Comparison, Judged, compared
from falcon_discover.monitoring.drift import Domain, drift
from falcon_discover.monitoring.estimate import figures_of
from falcon_discover.monitoring.labelled import Labelled
from falcon_discover.monitoring.statistics import BatchStatistics, region_numbers
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import plain, records
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import State

if TYPE_CHECKING:
    from falcon_discover.plots.batches import BatchPlots


# A notebook shows so many lines of what changed; `drift` has them all.
MOST_CHANGES = 10


@dataclass(frozen=True, eq=False, repr=False)
class BatchReport(Result):
    """What to expect of rows without labels; `falcon.monitor(X)` returns one.

    Attributes
    ----------
    rows, eligible : rows of the batch, and those that the model is confident of
    errors, errors_low, errors_high : confident errors to expect, with the interval of their number
    standard_error : how far `errors` may be off because the risk itself is an estimate
    rate, rate_low, rate_high : the same per eligible row
    promised : errors that the model's own confidence implies, the sum of 1 - confidence
    usual : errors that as many rows would have at the audit's rate
    eligible_share, audit_eligible_share : share of the rows that are eligible, here and at the
        audit
    audit_rate : confident errors per eligible row at the audit
    classes, regions : frames, the same by predicted class and by confirmed region
    drift : frame, what changed since the audit: see `falcon_discover.monitoring.drift.drift`
    domain_auroc : how well a classifier can tell rows of the batch from audited ones; 0.5 is no
        better than chance
    novel_share : share of the batch that is of a rare kind: only 1 in 100 audited rows is like that
    alarm : "as_audited", "more_errors_expected" or "unlike_audited"
    sentence : the same in words, and what to do
    tau, confidence_level : the confidence from which an error counts; the level of the intervals
    design_effect : the variance of the number of errors, as a multiple of what it would be if rows
        were independent: rows of a group go wrong together; 1 where rows have no groups
    labelled : what was found among the rows that came with labels
    judged : what was said of each row; None if the batch was read in parts
    """

    rows: int
    eligible: int
    errors: float
    errors_low: int
    errors_high: int
    standard_error: float
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
    novel_share: float
    alarm: Alarm
    tau: Tau
    confidence_level: float
    design_effect: float = 1.0
    labelled: Labelled = field(default_factory=Labelled)
    judged: Judged | None = None

    @classmethod
    def of(
        cls,
        statistics: BatchStatistics,
        audit: FittedAudit,
        confidence_level: float = PAPER.interval_level,
        judged: Judged | None = None,
    ) -> BatchReport:
        """Return what the counts of a batch say, or those of its parts added up.

        Parameters
        ----------
        judged : what was said of each row, to be compared with labels later
        """
        must = "a confidence level lies between 0 and 1"
        check_number("confidence_level", confidence_level, lambda value: 0 < value < 1, must)
        known = Baseline.of(audit)
        lines = [
            figures_of(statistics, known, group, confidence_level)
            for group in range(len(statistics.rows))
        ]
        whole, n_classes = lines[0], len(audit.classes)
        by_class = pd.DataFrame(lines[1 : n_classes + 1])
        by_class.insert(0, "predicted", list(audit.classes))
        names = ["elsewhere", *_region_names(audit)]
        by_region = pd.DataFrame(lines[n_classes + 1 :])
        by_region.insert(0, "region_id", region_numbers(audit))
        by_region.insert(1, "region", names)
        domain = Domain.of(known, statistics.sample)
        return cls(
            **whole,
            usual=known.events / known.rows * whole["rows"],
            eligible_share=whole["eligible"] / whole["rows"],
            audit_eligible_share=known.eligible / known.rows,
            audit_rate=known.events / known.eligible if known.eligible else math.nan,
            classes=by_class,
            regions=by_region,
            drift=drift(statistics, known),
            domain_auroc=domain.auroc,
            novel_share=domain.novel,
            alarm=alarm_of(statistics, known, domain),
            tau=audit.tau,
            confidence_level=confidence_level,
            design_effect=known.design_effect,
            labelled=statistics.labelled,
            judged=judged,
        )

    @property
    def sentence(self) -> str:
        """What to expect and what to do, in words."""
        return words.sentence(self)

    def frame(self) -> pd.DataFrame:
        """Return one row with the figures of the whole batch."""
        return pd.DataFrame([self._figures()])

    def _figures(self) -> dict[str, Any]:
        apart = ("classes", "regions", "drift", "labelled", "judged")
        return {name: value for name, value in vars(self).items() if name not in apart}

    def compare(
        self, y: Any = None, *, errors: int | None = None, watch: CalibrationWatch | None = None
    ) -> Comparison:
        """Return whether the estimate held, now that labels are known.

        Parameters
        ----------
        y : the labels of the rows, in their order; missing ones (NaN, None) are left out. Without
            `y` and `errors`, the labels that the files of the batch had
        errors : in place of `y`, how many confident errors were found in the whole batch
        watch : the running check after the last batch, `last.watch`; a new one begins without it

        Examples
        --------
        >>> from sklearn.frozen import FrozenEstimator
        >>> from falcon_discover import FalconDiscover, datasets
        >>> planted = datasets.make_planted(300, random_state=0)
        >>> frozen = FrozenEstimator(planted.model)
        >>> falcon = FalconDiscover(frozen, random_state=0).fit(planted.X, planted.y)
        >>> later = datasets.make_planted(200, random_state=1)
        >>> found = falcon.monitor(later.X).compare(later.y)
        >>> found.held, found.watch.batches
        (True, 1)
        """
        return compared(self, y, errors, CalibrationWatch() if watch is None else watch)

    @property
    def plot(self) -> BatchPlots:
        """Figures for matplotlib: `plot.errors()` and `plot.drift()`."""
        from falcon_discover.plots.batches import BatchPlots

        return BatchPlots(self)

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

    def text(self) -> str:
        """Return what to expect of the batch and what changed, in words."""
        return words.told(self)

    def headline(self) -> str:
        """Return what to expect of the batch, without what changed."""
        return words.headline(self)

    def next_step(self) -> str:
        """Return what to do, in a sentence or two."""
        return words.next_step(self)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return what a notebook shows: errors by predicted class, and what changed most."""
        return {"By predicted class": self.classes, "What changed": self.drift.head(MOST_CHANGES)}


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
    # Before the rows are measured: what is missing is said at once.
    Baseline.of(audit)
    return _reported(audit, table, audit.state(table, p, only_eligible=True), confidence_level)


def _reported(
    audit: FittedAudit, table: Table, state: State, confidence_level: float
) -> BatchReport:
    risk = Baseline.of(audit).ranker.risk(state)
    judged = Judged(state.decision, state.eligible(audit.tau), risk)
    statistics = BatchStatistics.of_state(audit, table, state)
    return BatchReport.of(statistics, audit, confidence_level, judged)


def of_finding(found: Finding, confidence_level: float = PAPER.interval_level) -> BatchReport:
    """Return the report on rows that were examined already; they are not measured again.

    Parameters
    ----------
    found : the finding of new rows, `falcon.examine(X)`
    """
    if found.is_fit_rows:
        raise InputError("these are the rows of the fit, which batches are compared with: give X.")
    return _reported(found.audit, found.table, found.state, confidence_level)
