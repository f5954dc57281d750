"""`falcon.plot.capture()` and the like: every figure of the report for matplotlib."""

from __future__ import annotations

from typing import Any

from falcon_discover.audit.curves import Curves
from falcon_discover.audit.finding import Finding
from falcon_discover.plots.calibration import calibration_plot
from falcon_discover.plots.confidence import confidence_plot, reliability_plot
from falcon_discover.plots.regions import conflict_map, region_plot
from falcon_discover.plots.review import capture_plot, guarantee_plot
from falcon_discover.plots.signals import contribution_plot, signal_plot
from falcon_discover.settings import PAPER

FIGURES = (
    "capture",
    "guarantee",
    "reliability",
    "confidence",
    "regions",
    "conflict",
    "signals",
    "contributions",
    "calibration",
)


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

    def capture(self, axes: Any = None) -> Any:
        """Draw confident errors found against the review budget, for all rankers."""
        return capture_plot(self._curves.capture(), self._curves.random_band(), axes)

    def guarantee(self, budget: float | None = PAPER.main_budget, axes: Any = None) -> Any:
        """Draw the rate of confident errors that budgets leave unread, with a band for all."""
        return guarantee_plot(self._curves.missed(), budget, axes)

    def reliability(self, axes: Any = None) -> Any:
        """Draw the share of right predictions against the confidence."""
        return reliability_plot(self._curves.reliability(), axes)

    def confidence(self, axes: Any = None) -> Any:
        """Draw the rows by confidence, the eligible part marked."""
        return confidence_plot(self._curves.confidence(), self._found.tau, axes)

    def regions(self, axes: Any = None) -> Any:
        """Draw the rate of confident errors in each confirmed region."""
        return region_plot(self._curves.regions(), axes)

    def conflict(
        self, evidence: str = "support", instability: str = "mean_drift", axes: Any = None
    ) -> Any:
        """Draw the excess of confident errors over evidence and instability."""
        return conflict_map(self._found.conflict(), evidence, instability, axes)

    def signals(self, axes: Any = None) -> Any:
        """Draw how well each signal alone tells confident errors apart."""
        return signal_plot(self._curves.signals(), axes)

    def contributions(self, axes: Any = None) -> Any:
        """Draw what the ranking loses without each family of signals; this refits the ranker."""
        return contribution_plot(self._found.contributions(), axes)

    def calibration(self, axes: Any = None) -> Any:
        """Draw calibration before and after, on rows that no calibrator has seen."""
        return calibration_plot(self._curves.recalibration(), axes)

    def __repr__(self) -> str:
        return f"figures of {len(self._found.state):,} rows: {', '.join(FIGURES)}"
