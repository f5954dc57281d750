"""The profile of calibration weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from falcon_discover.plots.style import EVENT_COLOUR, OTHER_COLOUR, canvas
from falcon_discover.runtime.types import BoolArray, FloatArray


def weight_profile(weights: FloatArray, events: BoolArray, axes: Any = None) -> Any:
    """Draw the paper's weighting profile, confident errors apart, and return the axes."""
    if axes is None:
        _, axes = canvas()
    bins = np.linspace(weights.min(), weights.max(), 40)
    axes.hist(weights[~events], bins, color=OTHER_COLOUR, label="other rows", log=True)
    axes.hist(weights[events], bins, color=EVENT_COLOUR, label="confident errors", log=True)
    axes.set(xlabel="calibration weight", ylabel="calibration rows")
    axes.legend(fontsize=7, frameon=False)
    return axes
