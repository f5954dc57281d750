"""What a review budget finds and what it leaves, along a grid of budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import hypergeom

from falcon_discover.guarantee import upper_bound
from falcon_discover.inference import share_interval
from falcon_discover.metrics import review_order, review_size
from falcon_discover.settings import PAPER
from falcon_discover.tables import BoolArray, FloatArray

# Fine where reviews are planned, coarse beyond.
BUDGETS = tuple(
    round(step / 1000, 3) for step in (*range(5, 50, 5), *range(50, 300, 10), *range(300, 1001, 25))
)


def capture_curve(
    events: BoolArray, scores: Mapping[str, FloatArray], budgets: Sequence[float] = BUDGETS
) -> pd.DataFrame:
    """Return the share of events that each ranker finds within each budget, with its interval.

    Parameters
    ----------
    events : which rows are confident errors
    scores : the suspicion of the rows, by the ranker's name

    Examples
    --------
    >>> events = np.array([True, False, False, True])
    >>> curve = capture_curve(events, {"mine": np.array([4.0, 3.0, 2.0, 1.0])}, [0.25, 1.0])
    >>> curve["captured"].tolist()
    [1, 2]
    """
    n, total = len(events), int(events.sum())
    lines = []
    for name, score in scores.items():
        found = _found(events, score)
        for budget in budgets:
            reviewed = review_size(n, budget)
            low, high = share_interval(int(found[reviewed]), total)
            lines.append(
                {
                    "ranker": name,
                    "budget": budget,
                    "reviewed": reviewed,
                    "events": total,
                    "captured": int(found[reviewed]),
                    "capture": found[reviewed] / total if total else np.nan,
                    "low": low,
                    "high": high,
                }
            )
    return pd.DataFrame(lines)


def random_band(
    rows: int, events: int, budgets: Sequence[float] = BUDGETS, level: float = PAPER.interval_level
) -> pd.DataFrame:
    """Return the share of events that a random review finds: its mean and where it mostly lies.

    Reviewing rows at random finds a hypergeometric number of events; the band is exact.

    Examples
    --------
    >>> random_band(1_000, 50, [0.2])[["low", "mean", "high"]].round(2).values.tolist()
    [[0.1, 0.2, 0.32]]
    """
    reviewed = np.array([review_size(rows, budget) for budget in budgets])
    tails = (1 - level) / 2, (1 + level) / 2
    low, high = (hypergeom.ppf(tail, rows, events, reviewed) for tail in tails)
    share = events if events else np.nan
    return pd.DataFrame(
        {
            "budget": budgets,
            "reviewed": reviewed,
            "low": np.maximum(low, 0.0) / share,
            "mean": reviewed / rows,
            "high": high / share,
        }
    )


def missed_curve(
    events: BoolArray,
    score: FloatArray,
    budgets: Sequence[float] = BUDGETS,
    confidence: float = PAPER.interval_level,
) -> pd.DataFrame:
    """Return the rate of events among unread rows by budget, and its exact upper bound.

    Each bound holds by itself; for a budget chosen by looking at them see `review_budget`.

    Examples
    --------
    >>> events = np.arange(1_000) < 10
    >>> missed_curve(events, events.astype(float), [0.01])[["unreviewed", "missed"]].values.tolist()
    [[990, 0]]
    """
    n = len(events)
    found = _found(events, score)
    lines = []
    for budget in budgets:
        reviewed = review_size(n, budget)
        unreviewed, missed = n - reviewed, int(found[-1] - found[reviewed])
        lines.append(
            {
                "budget": budget,
                "reviewed": reviewed,
                "unreviewed": unreviewed,
                "missed": missed,
                "rate": missed / unreviewed if unreviewed else 0.0,
                "upper": upper_bound(missed, unreviewed, confidence),
            }
        )
    return pd.DataFrame(lines)


def _found(events: BoolArray, score: FloatArray) -> npt.NDArray[np.intp]:
    """Return how many events the first 0, 1, 2 ... rows of the ranking hold."""
    return np.concatenate([[0], np.cumsum(np.asarray(events)[review_order(score)])])
