"""How sure the model is, and how often it is right when it is that sure."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.metrics.decisions import Tau, confidence, decided, least
from falcon_discover.metrics.design import Design, counted, rate_interval
from falcon_discover.settings import PAPER

# Confidence lies between 0.5 and 1: ten bins for rates, about 25 for counts.
RELIABILITY_BINS = 10
HISTOGRAM_WIDTH = 0.02


def reliability(
    codes: npt.ArrayLike,
    p: npt.ArrayLike,
    threshold: float = PAPER.decision_threshold,
    *,
    design: Design | None = None,
) -> pd.DataFrame:
    """Return per bin of confidence the mean confidence and the share of right predictions.

    Bins without a row are left out; the last one includes a confidence of 1.

    Examples
    --------
    >>> table = reliability([1, 0, 1, 1], [0.97, 0.98, 0.99, 0.52])
    >>> table[["rows", "right"]].values.tolist()
    [[1, 1], [3, 2]]
    """
    sure = confidence(p, threshold)
    right = decided(p, threshold) == np.asarray(codes)
    # Of more than two classes, or with a threshold, a decision may be less sure than one half.
    lowest = 0.5 if len(sure) == 0 or sure.min() >= 0.5 else 0.0
    edges = np.linspace(lowest, 1.0, RELIABILITY_BINS + 1).round(2)
    place = np.digitize(sure, edges[1:-1])
    lines = []
    for i in range(RELIABILITY_BINS):
        inside = place == i
        n, hits = counted(design, inside, right & inside)
        if n:
            low, high = rate_interval(design, right, inside)
            weight = None if design is None else design.weight[inside]
            lines.append(
                {
                    "from": float(edges[i]),
                    "to": float(edges[i + 1]),
                    "rows": n,
                    "confidence": float(np.average(sure[inside], weights=weight)),
                    "right": hits,
                    "accuracy": hits / n,
                    "low": low,
                    "high": high,
                }
            )
    return pd.DataFrame(lines)


def confidence_histogram(
    p: npt.ArrayLike,
    tau: Tau = PAPER.tau,
    codes: npt.ArrayLike | None = None,
    threshold: float = PAPER.decision_threshold,
    *,
    design: Design | None = None,
) -> pd.DataFrame:
    """Return how many rows lie in each bin of confidence, and which bins are eligible.

    The threshold is always the edge of a bin; where it differs by class, the lowest is. Without
    labels `wrong` is missing.

    Examples
    --------
    >>> table = confidence_histogram([0.95, 0.51, 0.05], tau=0.90, codes=[0, 1, 0])
    >>> table[table["eligible"]][["rows", "wrong"]].sum().tolist()
    [2, 1]
    """
    sure = confidence(p, threshold)
    tau = least(tau)
    lowest = 0.5 if len(sure) == 0 or sure.min() >= 0.5 else 0.0
    below, above = (
        np.linspace(low, high, max(1, math.ceil((high - low) / HISTOGRAM_WIDTH - 1e-9)) + 1)
        for low, high in ((lowest, tau), (tau, 1.0))
    )
    edges = np.unique(np.concatenate([below, above[above > tau]]))
    # Against the threshold itself, so that the bins hold exactly the eligible rows.
    place = np.digitize(sure, edges[1:-1])
    weight = None if design is None else design.weight
    counts = np.bincount(place, weight, minlength=len(edges) - 1)
    table = pd.DataFrame(
        {"from": edges[:-1], "to": edges[1:], "rows": counts, "eligible": edges[:-1] >= tau}
    )
    if codes is not None:
        wrong = decided(p, threshold) != np.asarray(codes)
        own = None if weight is None else weight[wrong]
        table["wrong"] = np.bincount(place[wrong], own, minlength=len(counts))
    return table
