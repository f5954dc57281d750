"""Whether the risk of test rows holds in the large: per data set and over all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from falcon_discover.bench.beyond import Beyond, Scored
from falcon_discover.evaluation.risks import TOP_SHARE, slope_interval
from falcon_discover.settings import PAPER

ALL = "all"


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
