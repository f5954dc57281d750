"""What became of an estimate when the labels arrived."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falcon_discover.evaluation.risks import RiskCalibration
from falcon_discover.exceptions import InputError, check_number
from falcon_discover.monitoring.calibration_watch import CalibrationWatch
from falcon_discover.monitoring.estimate import count_interval
from falcon_discover.monitoring.labelled import label_codes
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import plain, records
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.runtime.words import counted, percent

if TYPE_CHECKING:
    from falcon_discover.monitoring.batch import BatchReport


@dataclass(frozen=True, eq=False)
class Judged:
    """What was said of each row of a batch: its class, whether with confidence, and its risk."""

    decision: IntArray
    eligible: BoolArray
    risk: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """An estimate beside what was found; `BatchReport.compare(y)` returns one.

    Attributes
    ----------
    labelled, eligible : rows with labels, and the confident predictions among them
    expected, low, high : confident errors that were estimated among these, with their interval
    observed : confident errors that were found
    confidence_level : of the interval
    watch : the running check over batches, to be given to the next `compare`
    risks : whether the risks hold row by row; None where only the number of errors is known
    classes : frame, the same by predicted class; None where only the number is known
    """

    labelled: int
    eligible: int
    expected: float
    low: int
    high: int
    observed: int
    confidence_level: float
    watch: CalibrationWatch
    risks: RiskCalibration | None = None
    classes: pd.DataFrame | None = None

    @property
    def held(self) -> bool:
        """Whether the number that was found lies in the interval."""
        return self.low <= self.observed <= self.high

    @property
    def audit_again(self) -> bool:
        """Whether the batches so far show that the risks do not hold."""
        return self.watch.alarm

    @property
    def sentence(self) -> str:
        """Whether the estimate held, and what to do."""
        return f"{self._said()} {self.watch.sentence}"

    def _said(self) -> str:
        if not self.eligible:
            return "No prediction with a label was confident, so there was nothing to compare."
        said = "held" if self.held else "did not hold"
        was = "was" if self.observed == 1 else "were"
        level = percent(self.confidence_level)
        return (
            f"The estimate {said}: {self.observed:,} of {self.eligible:,} confident predictions "
            f"{was} wrong, against an estimate of {counted(self.expected)} ({level} interval "
            f"{self.low:,} to {self.high:,})."
        )

    def frame(self) -> pd.DataFrame:
        """Return one row for all labelled rows and one for each predicted class."""
        whole = {
            "predicted": "all",
            "eligible": self.eligible,
            "expected": self.expected,
            "observed": self.observed,
        }
        parts = [] if self.classes is None else self.classes.to_dict("records")
        return pd.DataFrame([whole, *parts])

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        names = ("labelled", "eligible", "expected", "low", "high", "observed", "confidence_level")
        return {
            **plain({name: getattr(self, name) for name in names}),
            "held": self.held,
            "audit_again": self.audit_again,
            "sentence": self.sentence,
            "risks": None if self.risks is None else self.risks.to_dict(),
            "classes": None if self.classes is None else records(self.classes),
            "watch": self.watch.to_dict(),
        }

    def text(self) -> str:
        """Return whether the estimate held, and whether the risks did row by row."""
        said = f"{self._said()} {self.watch}"
        return said if self.risks is None else f"{said}\n\n{self.risks}"

    def next_step(self) -> str:
        """Return what to do, in a sentence."""
        return self.watch.next_step()


def by_class(judged: Judged, known: BoolArray, wrong: BoolArray, names: list[Any]) -> pd.DataFrame:
    """Return estimated and found errors by predicted class, of the rows that are known."""
    lines = []
    for code, name in enumerate(names):
        inside = known & judged.eligible & (judged.decision == code)
        lines.append(
            {
                "predicted": name,
                "eligible": int(inside.sum()),
                "expected": float(judged.risk[inside].sum()),
                "observed": int(np.sum(wrong & inside)),
            }
        )
    return pd.DataFrame(lines)


def compared(
    report: BatchReport, y: Any, errors: int | None, watch: CalibrationWatch
) -> Comparison:
    """Return what became of an estimate; see `BatchReport.compare`."""
    if y is not None and errors is not None:
        raise InputError("give compare the labels of the rows or the number of errors, not both.")
    if errors is not None:
        most = report.eligible
        must = f"only {most:,} predictions are confident, so no more can be confident errors"
        check_number("errors", errors, lambda value: 0 <= value <= most, must)
        return _compared(report, report.rows, most, report.errors, int(errors), watch)
    if y is None:
        known = report.labelled
        if not known.rows:
            raise InputError("give compare the labels of the rows, or the number of errors.")
        return _compared(report, known.rows, known.eligible, known.expected, known.wrong, watch)
    judged = report.judged
    if judged is None:
        raise InputError(
            "this batch was read in parts, and its rows were not kept: give compare the number of "
            "confident errors found, as errors."
        )
    codes = label_codes(y, report.classes["predicted"].to_numpy())
    if len(codes) != len(judged.risk):
        raise InputError(
            f"y has {len(codes):,} labels, but the batch has {len(judged.risk):,} rows: give one "
            "each."
        )
    labelled = codes >= 0
    sure = labelled & judged.eligible
    wrong = sure & (judged.decision != codes)
    expected, found = float(judged.risk[sure].sum()), int(wrong.sum())
    made = _compared(report, int(labelled.sum()), int(sure.sum()), expected, found, watch)
    return replace(
        made,
        risks=RiskCalibration.of(judged.risk[sure], wrong[sure], report.confidence_level)
        if sure.any()
        else None,
        classes=by_class(judged, labelled, wrong, list(report.classes["predicted"])),
    )


def _compared(
    report: BatchReport,
    labelled: int,
    eligible: int,
    expected: float,
    observed: int,
    watch: CalibrationWatch,
) -> Comparison:
    # As unsure, in proportion, as the estimate for all rows.
    error = report.standard_error * expected / report.errors if report.errors else 0.0
    level, effect = report.confidence_level, report.design_effect
    low, high = count_interval(expected, error, level, eligible, effect)
    return Comparison(
        labelled=labelled,
        eligible=eligible,
        expected=expected,
        low=low,
        high=high,
        observed=observed,
        confidence_level=level,
        watch=watch.after(observed, expected, effect),
    )
