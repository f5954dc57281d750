"""What a review budget finds and what it leaves, along a grid of budgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import hypergeom, norm

from falcon_discover.data.twins import Content
from falcon_discover.evaluation.bounds import BUDGETS, Unread
from falcon_discover.metrics import review_size
from falcon_discover.metrics.design import Design, kish
from falcon_discover.metrics.ordering import Ranking
from falcon_discover.metrics.ranking import Captured, captures, drawn_captures, review_weight
from falcon_discover.metrics.weighted import WeightedRanking
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER


def capture_curve(
    events: BoolArray,
    scores: Mapping[str, FloatArray],
    budgets: Sequence[float] = BUDGETS,
    *,
    design: Design | None = None,
) -> pd.DataFrame:
    """Return the share of events that each ranker finds within each budget, with its interval.

    Parameters
    ----------
    events : which rows are confident errors
    scores : the suspicion of the rows, by the ranker's name
    design : weights and groups of the rows

    Examples
    --------
    >>> events = np.array([True, False, False, True])
    >>> curve = capture_curve(events, {"mine": np.array([4.0, 3.0, 2.0, 1.0])}, [0.25, 1.0])
    >>> curve["captured"].tolist()
    [1, 2]
    """

    def found(score: FloatArray) -> Iterator[Captured]:
        if design is None:
            return captures(Ranking.of(score).found(events), budgets)
        return drawn_captures(events, WeightedRanking.of(score, design.weight), design, budgets)

    return pd.DataFrame(
        [
            {"ranker": name, **line._asdict()}
            for name, score in scores.items()
            for line in found(score)
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


def weighted_band(
    events: BoolArray,
    weight: FloatArray,
    budgets: Sequence[float] = BUDGETS,
    level: float = PAPER.interval_level,
) -> pd.DataFrame:
    """Return the same of weighted rows: about normal, with the spread of the events' weights."""
    share = np.asarray(budgets, dtype=np.float64)
    reviewed = [review_weight(weight, budget) for budget in budgets]
    own = weight[events]
    count = float(own.sum()) / kish(own) if events.any() else np.nan
    reach = float(norm.ppf((1 + level) / 2)) * np.sqrt(share * (1 - share) / count)
    return pd.DataFrame(
        {
            "budget": budgets,
            "reviewed": reviewed,
            "low": np.maximum(share - reach, 0.0),
            "mean": np.array(reviewed) / weight.sum(),
            "high": np.minimum(share + reach, 1.0),
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
    design: Design | None = None,
    eligible: BoolArray | None = None,
) -> pd.DataFrame:
    """Return the rate of events among unread rows by budget, and its upper bound.

    Each `upper` holds by itself, for a budget named beforehand.

    Parameters
    ----------
    simultaneous : adds `band`, bounds that hold for all budgets at once: whatever budget is read
        off it, the statement holds
    content, design, eligible : as in `evaluation.budget.missed_bound`

    Examples
    --------
    >>> events = np.arange(1_000) < 10
    >>> curve = missed_curve(events, events.astype(float), [0.01], simultaneous=True)
    >>> curve[["unreviewed", "missed"]].values.tolist()
    [[990, 0]]
    >>> bool((curve["band"] > curve["upper"]).all())
    True
    """
    rows = Unread.of(events, score, content, design, eligible)
    total = len(rows) if design is None else design.total()
    lines = []
    for budget in budgets:
        left = rows.left(budget, confidence)
        line = {
            "budget": budget,
            "reviewed": total - left.unreviewed,
            "unreviewed": left.unreviewed,
            "missed": left.missed,
            "rate": left.missed / left.unreviewed if left.unreviewed else 0.0,
            "upper": left.upper,
        }
        if simultaneous:
            line["band"] = rows.left(budget, confidence, simultaneous=True).upper
        lines.append(line)
    return pd.DataFrame(lines)
