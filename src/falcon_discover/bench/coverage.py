"""Whether promises hold on held-out rows: the review-budget guarantee and the calibrated risk."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from falcon_discover.bench.ranker_study import Beyond, Scored
from falcon_discover.evaluation.budget import review_budget
from falcon_discover.evaluation.risks import TOP_SHARE, slope_interval
from falcon_discover.metrics import review_size
from falcon_discover.metrics.intervals import share_interval
from falcon_discover.metrics.ordering import Ranking
from falcon_discover.settings import PAPER

ALL = "all"
SPLITS = 500
# Shares of the rows that set the budget: the protocol's own proportion of validation and test
# rows, and halves.
PROTOCOL_SHARE = 1 / 3
CALIBRATION_SHARES = (PROTOCOL_SHARE, 1 / 2)
# Targets as shares of the rate of confident errors among all rows.
TARGETS = (0.25, 0.5)
BINS = 10


def guarantee(beyond: Beyond, ranker: str = "auto") -> pd.DataFrame:
    """Return how often the guarantee fails over resampled calibration/test splits.

    The test rows of each seed are split at random, a third or a half to set the budget and the
    rest to see whether the rate among rows not reviewed exceeds the target. The guarantee is
    about the true rate; that of the later rows adds its own noise, the more the fewer they are.
    The rate over all test rows is shown too.
    """
    lines = []
    for dataset in beyond.study.datasets:
        runs = [run for run in beyond.all_seeds(dataset) if run.events().any()]
        for known, target in product(CALIBRATION_SHARES, TARGETS):
            outcomes = [
                outcome
                for i, run in enumerate(runs)
                for outcome in _outcomes(run, ranker, target, known, _splits_of(i, len(runs)))
            ]
            line = {"dataset": dataset, "calibration_share": round(known, 3), "target": target}
            lines.append({**line, **_summary(pd.DataFrame(outcomes))})
    return pd.DataFrame(lines)


def _splits_of(i: int, runs: int) -> int:
    return SPLITS // runs + (i < SPLITS % runs)


def _outcomes(
    run: Scored, ranker: str, target: float, calibration_share: float, splits: int
) -> list[dict[str, Any]]:
    events, score, eligible = run.events(), run.score(ranker), run.eligible()
    rate = target * float(events.mean())
    n = len(events)
    rng = np.random.default_rng(run.key.seed)
    outcomes = []
    for _ in range(splits):
        drawn = rng.permutation(n)
        known, later = np.split(drawn, [round(calibration_share * n)])
        known, later = np.sort(known), np.sort(later)
        found = review_budget(events[known], score[known], eligible[known], max_residual_rate=rate)
        outcomes.append(
            {
                "rate": rate,
                "budget": found.budget,
                "all_eligible": found.all_eligible,
                "later": _residual(events[later], score[later], eligible[later], found),
                "overall": _residual(events, score, eligible, found),
            }
        )
    return outcomes


def _residual(events: Any, score: Any, eligible: Any, found: Any) -> float:
    size = int(eligible.sum()) if found.all_eligible else review_size(len(events), found.budget)
    left = len(events) - size
    missed = int(events.sum()) - Ranking.of(score).top(events, size)
    return missed / left if left else 0.0


def _summary(frame: pd.DataFrame) -> dict[str, Any]:
    line: dict[str, Any] = {
        "splits": len(frame),
        "target_rate": float(frame["rate"].mean()),
        "mean_budget": float(frame["budget"].mean()),
        "all_eligible": float(frame["all_eligible"].mean()),
    }
    for against in ("later", "overall"):
        count = int((frame[against] > frame["rate"]).sum())
        low, high = share_interval(count, len(frame))
        line |= {
            f"exceeded_{against}": count / len(frame),
            f"exceeded_{against}_low": low,
            f"exceeded_{against}_high": high,
        }
    return line


def calibration(beyond: Beyond) -> pd.DataFrame:
    """Return predicted risk against observed rate in ten bins, pooled over data sets and seeds."""
    risk, events = [], []
    for dataset in beyond.study.datasets:
        for run in beyond.all_seeds(dataset):
            eligible = run.eligible()
            risk.append(run.score("auto")[eligible])
            events.append(run.events()[eligible])
    predicted, observed = np.concatenate(risk), np.concatenate(events)
    order = np.argsort(predicted, kind="stable")
    lines = []
    for rows in np.array_split(order, BINS):
        count = int(observed[rows].sum())
        low, high = share_interval(count, len(rows), PAPER.interval_level)
        mean = float(predicted[rows].mean())
        lines.append(
            {
                "rows": len(rows),
                "events": count,
                "predicted": mean,
                "observed": count / len(rows),
                "low": low,
                "high": high,
                "inside": bool(low <= mean <= high),
            }
        )
    return pd.DataFrame(lines)


def in_the_large(beyond: Beyond) -> pd.DataFrame:
    """Return observed per predicted confident error, and the slope, with intervals.

    A row that is a test row of several seeds counts as one row where intervals are concerned.
    """
    lines, parts = [], []
    for dataset in beyond.study.datasets:
        own = [_eligible(run) for run in beyond.all_seeds(dataset)]
        if own:
            parts.append(pd.concat(own, ignore_index=True))
            lines.append(_line(dataset, parts[-1]))
    if parts:
        lines.append(_line(ALL, pd.concat(parts, ignore_index=True)))
    return pd.DataFrame(lines)


def _eligible(run: Scored) -> pd.DataFrame:
    rows = pd.DataFrame(
        {
            "row": run.key.dataset + ":" + run.test["row"].astype(str),
            "risk": run.score("auto"),
            "event": run.events(),
        }
    )[run.eligible()]
    return rows.assign(top=rows["risk"] >= rows["risk"].quantile(1 - TOP_SHARE))


def _line(name: str, rows: pd.DataFrame) -> dict[str, Any]:
    line: dict[str, Any] = {"dataset": name, "rows": len(rows), **_ratio(rows, "")}
    risk, events = rows["risk"].to_numpy(), rows["event"].to_numpy()
    found = slope_interval(risk, events, rows["row"]) if events.any() else (math.nan,) * 3
    line |= dict(zip(("slope", "slope_low", "slope_high"), found, strict=True))
    return line | _ratio(rows[rows["top"]], "top_")


def _ratio(rows: pd.DataFrame, prefix: str) -> dict[str, float]:
    expected = float(rows["risk"].sum())
    gaps = (rows["event"] - rows["risk"]).groupby(rows["row"]).sum()
    reach = float(norm.ppf((1 + PAPER.interval_level) / 2)) * math.sqrt(float((gaps**2).sum()))
    count = int(rows["event"].sum())
    return {
        f"{prefix}predicted": expected,
        f"{prefix}observed": count,
        f"{prefix}ratio": count / expected if expected else np.nan,
        f"{prefix}low": (count - reach) / expected if expected else np.nan,
        f"{prefix}high": (count + reach) / expected if expected else np.nan,
    }
