"""The numbers behind every figure, as frames; plots and reports draw them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import hypergeom, norm

from falcon_discover.data.twins import Content
from falcon_discover.evaluation.bounds import BUDGETS, Unread
from falcon_discover.metrics import confidence, decided, fc_auroc, review_size
from falcon_discover.metrics.clustered import area_interval
from falcon_discover.metrics.decisions import Tau, least
from falcon_discover.metrics.design import Design, counted, kish, rate_interval
from falcon_discover.metrics.ordering import Ranking
from falcon_discover.metrics.ranking import Captured, captures, drawn_captures, review_weight
from falcon_discover.metrics.weighted import WeightedRanking
from falcon_discover.rankers.inputs import signal_columns
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import INPUTS
from falcon_discover.signals.state import State

# Confidence lies between 0.5 and 1: ten bins for rates, about 25 for counts.
RELIABILITY_BINS = 10
HISTOGRAM_WIDTH = 0.02


def capture_curve(
    events: BoolArray,
    scores: Mapping[str, FloatArray],
    budgets: Sequence[float] = BUDGETS,
    *,
    design: Design | None = None,
) -> pd.DataFrame:
    """Return the share of events that each ranker finds within each budget, with its interval.

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

    Each `upper` is valid on its own, for a budget chosen in advance. With `simultaneous` there is
    also `band`, whose bounds hold for all budgets at once.

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
    edges = np.linspace(_lowest(sure), 1.0, RELIABILITY_BINS + 1).round(2)
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


def _lowest(sure: FloatArray) -> float:
    """Return where bins of confidence begin: of more than two classes it may be below one half."""
    return 0.5 if not len(sure) or sure.min() >= 0.5 else 0.0


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
    sure, tau = confidence(p, threshold), least(tau)
    below, above = (
        np.linspace(low, high, max(1, math.ceil((high - low) / HISTOGRAM_WIDTH - 1e-9)) + 1)
        for low, high in ((_lowest(sure), tau), (tau, 1.0))
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


def signal_strength(state: State, events: BoolArray, tau: Tau) -> pd.DataFrame:
    """Return the eligible AUROC of each signal alone with its interval, best first.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([0.91, 0.92, 0.97, 0.99, 0.6])
    >>> events = np.array([True, True, False, False, False])
    >>> signal_strength(State.from_scores(p), events, 0.9)[["signal", "auroc"]].values.tolist()
    [['doubt', 1.0]]
    """
    eligible = state.eligible(tau)
    hits = events[eligible]
    design = None if state.design is None else state.design.take(eligible)
    weight = None if design is None else design.weight
    lines = []
    columns = signal_columns(state)
    for signal in INPUTS:
        if signal.input in columns:
            values = columns[signal.input][eligible]
            low, high = area_interval(hits, values, design)
            lines.append(
                {
                    "signal": signal.input,
                    "family": signal.family,
                    "meaning": signal.doubt,
                    "auroc": fc_auroc(hits, values, sample_weight=weight),
                    "low": low,
                    "high": high,
                }
            )
    frame = pd.DataFrame(lines)
    return frame.sort_values("auroc", ascending=False, ignore_index=True)
