"""What a review budget finds and what it leaves, along a grid of budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from falcon_discover.data.twins import Content
from falcon_discover.evaluation.bounds import BUDGETS, Unread
from falcon_discover.metrics import review_size
from falcon_discover.metrics.ordering import Ranking
from falcon_discover.metrics.ranking import captures
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER


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
    return pd.DataFrame(
        [
            {"ranker": name, **line._asdict()}
            for name, score in scores.items()
            for line in captures(Ranking.of(score).found(events), budgets)
        ]
    )


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
    *,
    simultaneous: bool = False,
    content: Content | None = None,
) -> pd.DataFrame:
    """Return the rate of events among unread rows by budget, and its upper bound.

    Each `upper` holds by itself, for a budget named beforehand.

    Parameters
    ----------
    simultaneous : adds `band`, bounds that hold for all budgets at once: whatever budget is read
        off it, the statement holds
    content : what the rows hold, as in `guarantee.review_budget`

    Examples
    --------
    >>> events = np.arange(1_000) < 10
    >>> curve = missed_curve(events, events.astype(float), [0.01], simultaneous=True)
    >>> curve[["unreviewed", "missed"]].values.tolist()
    [[990, 0]]
    >>> bool((curve["band"] > curve["upper"]).all())
    True
    """
    rows = Unread.of(events, score, content)
    lines = []
    for budget in budgets:
        left = rows.left(budget, confidence)
        line = {
            "budget": budget,
            "reviewed": len(rows) - left.unreviewed,
            "unreviewed": left.unreviewed,
            "missed": left.missed,
            "rate": left.missed / left.unreviewed if left.unreviewed else 0.0,
            "upper": left.upper,
        }
        if simultaneous:
            line["band"] = rows.left(budget, confidence, simultaneous=True).upper
        lines.append(line)
    return pd.DataFrame(lines)
