"""Charts as data (`charts.py`) and drawn with matplotlib, which is only needed for that."""

from typing import Any

from falcon_discover.plots.charts import conflict_chart
from falcon_discover.plots.matplotlib import draw
from falcon_discover.plots.weights import weight_profile
from falcon_discover.regions.conflict import Conflict

__all__ = ["conflict_map", "draw", "weight_profile"]


def conflict_map(
    conflict: Conflict,
    evidence: str = "support",
    instability: str = "mean_drift",
    axes: Any = None,
) -> Any:
    """Draw the excess of confident errors over a pair of signals, and return the axes."""
    slices = conflict.frame().to_dict("records")
    best = None if conflict.best is None else slices[conflict.slices.index(conflict.best)]
    return draw(conflict_chart(slices, best, (evidence, instability)), axes)
