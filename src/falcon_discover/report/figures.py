"""The figures of a report's first screen: what was audited, how bad it is, what a review finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falcon_discover.audit.finding import Finding
from falcon_discover.data.times import times_of
from falcon_discover.evaluation.sides import plain_label
from falcon_discover.metrics import review_size
from falcon_discover.metrics.design import counted, rate_interval
from falcon_discover.runtime.records import plain, records
from falcon_discover.runtime.types import IntArray
from falcon_discover.runtime.versions import version_of

if TYPE_CHECKING:
    from falcon_discover.report.build import About

FIRST_ROWS = 10
# Packages by the name they are imported by, where that is another.
PACKAGES = {"sklearn": "scikit-learn"}


def data_figures(found: Finding, about: About) -> dict[str, Any]:
    """Return what was audited: rows, columns, labels, and when it is from."""
    frame, kinds = found.table.frame, list(found.table.kinds.values())
    return {
        "name": about.name,
        "rows": len(found.state) if about.rows is None else about.rows,
        "audited": len(found.state),
        "features": len(kinds),
        "kinds": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
        "missing": float(frame.isna().to_numpy().mean()) if frame.size else None,
        "target": about.target,
        "classes": [plain_label(label) for label in found.classes],
        "class_rows": None
        if found.codes is None
        else np.bincount(found.codes, minlength=len(found.classes)).tolist(),
        "period": None if about.times is None else _period(about.times),
        **_score_of(found),
    }


def _period(times: Any) -> dict[str, str] | None:
    moments = times_of(times)
    if not len(moments):
        return None
    if moments.dtype.kind != "M":
        return {"first": f"{moments.min():g}", "last": f"{moments.max():g}"}
    ends = (pd.Timestamp(moments.min()), pd.Timestamp(moments.max()))
    return dict(zip(("first", "last"), (f"{end:%Y-%m-%d}" for end in ends), strict=True))


def _score_of(found: Finding) -> dict[str, Any]:
    """Return which class scores are the probability of; of more than two, the predicted one."""
    if len(found.classes) > 2:
        return {"positive": None, "scored": None}
    return {
        "positive": plain_label(found.classes[1]),
        "scored": plain_label(found.classes[found.audit.scored]),
    }


def library_of(found: Finding) -> dict[str, str]:
    """Return the package that the model is made with, and its version; nothing without a model."""
    if found.audit.model is None:
        return {}
    module = type(found.audit.model.classifier).__module__.partition(".")[0]
    package = PACKAGES.get(module, module)
    version = version_of(package)
    return (
        {}
        if package == "falcon_discover" or version == "not installed"
        else {"library": f"{package} {version}"}
    )


def eligible_figures(found: Finding) -> dict[str, Any]:
    """Return how many predictions are confident, what they promise, and what was wrong."""
    inside = found.state.eligible(found.tau)
    design, risk = found.state.design, found.risk()
    everywhere, n = counted(design, np.ones(len(inside), bool), inside)
    sure = found.state.confidence[inside]
    weight = None if design is None else design.weight[inside]
    events, ends = None, (None, None)
    if found.codes is not None:
        (events,) = counted(design, found.events)
        ends = plain(rate_interval(design, found.events, inside)) if n else ends
    doubts = 1.0 - sure
    return {
        "rows": n,
        "share": n / everywhere if everywhere else None,
        "mean_confidence": float(np.average(sure, weights=weight)) if n else None,
        "promised_errors": float(doubts.sum() if weight is None else weight @ doubts),
        "expected_errors": None if risk is None else _total(risk[inside], weight),
        "errors": events,
        "rate": events / n if n and events is not None else None,
        "low": ends[0],
        "high": ends[1],
    }


def _total(values: Any, weight: Any) -> float:
    return float(values.sum() if weight is None else weight @ values)


def judgement(eligible: dict[str, Any], alerts: tuple[str, ...]) -> str:
    """Return in a word how confident errors compare with what the model's confidence implies.

    Examples
    --------
    >>> figures = {"rows": 900, "errors": 40, "promised_errors": 20.0, "low": 0.032, "high": 0.06}
    >>> judgement(figures, ())
    'more'
    """
    if eligible["errors"] is None:
        return "unlabelled"
    if not eligible["rows"]:
        return "never"
    if alerts:
        return "doubtful"
    if not eligible["errors"]:
        return "none"
    implied = eligible["promised_errors"] / eligible["rows"]
    if eligible["low"] > implied:
        return "more"
    return "fewer" if eligible["high"] < implied else "same"


def review_figures(
    found: Finding, budget: float, review: pd.DataFrame, positions: IntArray, shown: int
) -> dict[str, Any]:
    """Return what the review list holds; the rows are listed at these positions."""
    risk = found.risk()
    errors = None if found.codes is None else int(found.events[positions].sum())
    return {
        "budget": budget,
        "audited": len(found.state),
        "asked": review_size(len(found.state), budget),
        "listed": len(review),
        "shown": shown,
        "errors": errors,
        "reviews_per_error": len(review) / errors if errors else None,
        "expected_errors": None if risk is None else float(risk[positions].sum()),
        "expected_cost": float(review["expected_cost"].sum())
        if "expected_cost" in review
        else None,
        "captured_cost": _captured_cost(found, positions),
        "first": records(review.head(FIRST_ROWS).map(plain_label)),
    }


def _captured_cost(found: Finding, positions: IntArray) -> dict[str, float] | None:
    """Return what the confident errors cost in all, and how much of it is in the list."""
    if found.cost is None or found.codes is None:
        return None
    costs = np.where(found.events, found.cost, 0.0)
    return {"listed": float(costs[positions].sum()), "total": float(costs.sum())}
