"""Where confident errors gather: the map of conflict."""

from __future__ import annotations

from typing import Any

import numpy as np

from falcon_discover.plots.style import canvas
from falcon_discover.regions.conflict import Conflict

NAMES = {
    "support": "support",
    "label_agreement": "label agreement",
    "mean_drift": "mean drift",
    "label_inconsistency": "share of flips",
}


def conflict_map(
    conflict: Conflict,
    evidence: str = "support",
    instability: str = "mean_drift",
    axes: Any = None,
) -> Any:
    """Draw Gamma over the grid of thresholds and return the axes.

    A cell is the slice with evidence at most, and instability at least, the values at its sides;
    bold where the interval of Gamma is above 0, framed if it is the best slice of all.
    """
    if axes is None:
        _, axes = canvas()
    slices = [s for s in conflict.slices if (s.evidence, s.instability) == (evidence, instability)]
    across = sorted({s.evidence_at_most for s in slices})
    up = sorted({s.instability_at_least for s in slices})
    grid = np.full((len(up), len(across)), np.nan)
    for s in slices:
        grid[up.index(s.instability_at_least), across.index(s.evidence_at_most)] = s.gamma
    reach = float(np.nanmax(np.abs(grid))) if slices else 1.0
    image = axes.imshow(grid, origin="lower", aspect="auto", cmap="PuOr_r", vmin=-reach, vmax=reach)
    for s in slices:
        x, y = across.index(s.evidence_at_most), up.index(s.instability_at_least)
        axes.text(
            x, y, f"{s.gamma:+.2f}\n{s.events}/{s.rows}", ha="center", va="center", fontsize=6,
            color="white" if abs(s.gamma) > 0.7 * reach else "black",
            fontweight="bold" if s.low > 0 else "normal",
        )  # fmt: skip
        if s == conflict.best:
            axes.plot(x, y, "s", markersize=26, fillstyle="none", color="black")
    axes.set_xticks(range(len(across)), [f"{value:.2g}" for value in across])
    axes.set_yticks(range(len(up)), [f"{value:.2g}" for value in up])
    axes.set(xlabel=f"{NAMES[evidence]} at most", ylabel=f"{NAMES[instability]} at least")
    axes.figure.colorbar(image, ax=axes, label="Gamma: excess rate of confident errors")
    return axes
