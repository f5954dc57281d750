"""The profile of calibration weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from falcon_discover.plots.matplotlib import canvas
from falcon_discover.plots.style import FILLS
from falcon_discover.runtime.types import BoolArray, FloatArray


def weight_profile(weights: FloatArray, events: BoolArray, axes: Any = None) -> Any:
    """Draw the paper's weighting profile, confident errors apart, and return the axes."""
    if axes is None:
        _, axes = canvas()
    bins = np.linspace(weights.min(), weights.max(), 40)
    for rows, style, name in (
        (~events, "fill1", "other rows"),
        (events, "fill0", "confident errors"),
    ):
        axes.hist(weights[rows], bins, color=FILLS[style].colour, label=name, log=True)
    axes.set(xlabel="calibration weight", ylabel="calibration rows")
    axes.legend(fontsize=7, frameon=False)
    return axes
