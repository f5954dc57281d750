"""Charts as data (`charts.py`) and drawn with matplotlib, which is only needed for that."""

from typing import Any

import pandas as pd

from falcon_discover.plots import charts
from falcon_discover.plots.charts import conflict_chart
from falcon_discover.plots.matplotlib import draw, weight_profile
from falcon_discover.regions.conflict import Conflict
from falcon_discover.runtime import notices
from falcon_discover.runtime.records import records

__all__ = ["conflict_map", "draw", "weight_profile"]


def conflict_map(
    conflict: Conflict, evidence: str = "support", instability: str = "mean_drift", axes: Any = None
) -> Any:
    """Draw the excess of confident errors over a pair of signals, and return the axes."""
    slices = conflict.frame().to_dict("records")
    best = None if conflict.best is None else slices[conflict.slices.index(conflict.best)]
    return draw(conflict_chart(slices, best, (evidence, instability)), axes)


# Functions of 0.1.0 that drew a frame, by the chart that is drawn now.
_OLD = {
    "capture_plot": "capture_chart",
    "confidence_plot": "confidence_chart",
    "guarantee_plot": "missed_chart",
    "reliability_plot": "reliability_chart",
}


def __getattr__(name: str) -> Any:
    if name not in _OLD:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    notices.deprecated(
        f"falcon_discover.plots.{name}", f"falcon_discover.plots.charts.{_OLD[name]}"
    )

    def drawn(*given: Any, axes: Any = None) -> Any:
        frames = [records(part) if isinstance(part, pd.DataFrame) else part for part in given]
        return draw(getattr(charts, _OLD[name])(*frames), axes)

    return drawn
