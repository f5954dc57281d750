"""`falcon.plot.capture()` and the like: every figure of the report for matplotlib."""

from __future__ import annotations

from typing import Any

import pandas as pd

from falcon_discover.audit.curves import Curves
from falcon_discover.audit.finding import Finding
from falcon_discover.evaluation.recalibration import CAUTIOUS
from falcon_discover.metrics.decisions import by_name
from falcon_discover.plots import charts, conflict_map
from falcon_discover.plots.matplotlib import draw
from falcon_discover.settings import PAPER

FIGURES = (
    "capture", "guarantee", "reliability", "confidence", "regions", "conflict", "signals",
    "contributions", "calibration",
)  # fmt: skip


class Plots:
    """The figures of a finding; each method draws one and returns its matplotlib axes.

    Every method takes `axes` to draw into; without it a new figure is made.

    Examples
    --------
    >>> from falcon_discover import datasets, discover
    >>> planted = datasets.make_planted(400, random_state=0)
    >>> found = discover(planted.X, planted.y, planted.proba, random_state=0)
    >>> axes = found.plot.reliability()
    >>> axes.get_xlabel()
    'mean confidence'
    """

    def __init__(self, found: Finding) -> None:
        self._found = found
        self._curves = Curves(found)
        self._tau = by_name(found.tau, found.classes)

    def capture(self, budget: float | None = PAPER.main_budget, axes: Any = None) -> Any:
        """Draw the share of confident errors found against the share of predictions reviewed.

        `budget` is the share that the title speaks of.
        """
        capture, band = self._curves.capture(), self._curves.random_band()
        return draw(charts.capture_chart(_lines(capture), _lines(band), budget), axes)

    def guarantee(self, budget: float | None = PAPER.main_budget, axes: Any = None) -> Any:
        """Draw the rate of confident errors among unreviewed predictions, with an upper bound."""
        return draw(charts.missed_chart(_lines(self._curves.missed()), budget), axes)

    def reliability(self, axes: Any = None) -> Any:
        """Draw how often the model is right against how sure it is."""
        return draw(charts.reliability_chart(_lines(self._curves.reliability())), axes)

    def confidence(self, axes: Any = None) -> Any:
        """Draw the number of predictions by confidence, and how many of them are wrong."""
        bins = _lines(self._curves.confidence())
        return draw(charts.confidence_chart(bins, self._tau), axes)

    def periods(self, times: Any, axes: Any = None) -> Any:
        """Draw the rate of confident errors by period; `times` is when each row is from."""
        return draw(charts.period_chart(_lines(self._found.by_period(times).frame())), axes)

    def regions(self, axes: Any = None) -> Any:
        """Draw the rate of confident errors in each confirmed region."""
        shown = [r for r in charts.told(_lines(self._curves.regions())) if r["eligible"]]
        return draw(charts.region_chart(shown, shown), axes)

    def conflict(
        self, evidence: str = "support", instability: str = "mean_drift", axes: Any = None
    ) -> Any:
        """Draw where weak evidence and unstable scores meet more confident errors."""
        return conflict_map(self._found.conflict(), evidence, instability, axes)

    def signals(self, axes: Any = None) -> Any:
        """Draw how well each signal on its own finds confident errors."""
        return draw(charts.signal_chart(_lines(self._curves.signals())), axes)

    def contributions(self, axes: Any = None) -> Any:
        """Draw what the ranking loses without each family of signals; refits the ranker."""
        return draw(charts.contribution_chart(_lines(self._found.contributions().families)), axes)

    def calibration(self, axes: Any = None) -> Any:
        """Draw calibration before and after recalibration, on rows no calibrator has seen."""
        found = self._curves.recalibration()
        methods = _lines(found.table[found.table["method"] != CAUTIOUS])
        return draw(charts.calibration_chart(methods), axes)

    def __repr__(self) -> str:
        names = ", ".join(f"{name}()" for name in FIGURES)
        return f"Figures of {len(self._found.state):,} predictions: {names}, periods(times)."


def _lines(frame: pd.DataFrame) -> charts.Records:
    return frame.to_dict("records")
