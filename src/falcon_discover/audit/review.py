"""A review list: the most suspicious rows with a reason in words for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from falcon_discover.audit.review_list import ReviewList
from falcon_discover.metrics import review_order, review_size
from falcon_discover.metrics.decisions import Tau
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.runtime.words import joined, odds, percent
from falcon_discover.signals.catalogue import OPINIONS
from falcon_discover.signals.state import State

# Below these a signal speaks against the prediction; they choose words, never ranks.
DOUBTFUL_SHARE = 0.60
NOTABLE_DRIFT = 0.10
THIN_SUPPORT = 0.20
HALF_SURE = 0.75
# Between what speaks against a prediction and what speaks for it.
FAVOUR = " In its favour: "


def review_list(
    state: State,
    suspicion: FloatArray,
    region: npt.NDArray[np.object_],
    region_id: IntArray,
    *,
    classes: npt.NDArray[Any],
    tau: Tau,
    budget: float,
    index: pd.Index,
    risk: FloatArray | None = None,
    interval: tuple[FloatArray, FloatArray] | None = None,
    ties: npt.NDArray[np.uint64] | None = None,
    cost: FloatArray | None = None,
    priority: FloatArray | None = None,
    places: IntArray | None = None,
) -> ReviewList:
    """Return the top `budget` of the rows, most suspicious first.

    `risk` is the probability that a row is a confident error, where the ranker knows it, with the
    ends of its interval; `ties` orders rows of equal suspicion; `places` are where the rows stand
    among those that were given; with `cost` rows are ordered by `priority`.
    """
    order = review_order(suspicion, ties)
    if cost is not None and priority is not None:
        # Of equal expected costs, such as none, the more suspicious comes first.
        order = order[np.argsort(-priority[order], kind="stable")]
    top = order[: review_size(len(state), budget)]
    chosen = state.take(top)
    signals = pd.concat([chosen.signals, chosen.evidence], axis=1)
    levels = np.broadcast_to(chosen.level(tau), len(chosen)).tolist()
    reasons = [
        _reason(row, level) for row, level in zip(signals.to_dict("records"), levels, strict=True)
    ]
    if risk is not None:
        known = [f"Risk about {odds(value)}" if value > 0 else "" for value in risk[top]]
        if interval is not None:
            ends = zip(*(end[top] for end in interval), strict=True)
            known = [
                f"{text} ({odds(low)} to {odds(high)})" if text else text
                for text, (low, high) in zip(known, ends, strict=True)
            ]
        reasons = [
            f"{chance}. {text}" if chance else text
            for chance, text in zip(known, reasons, strict=True)
        ]
    costs = {}
    if cost is not None:
        costs["cost"] = cost[top]
        if risk is not None:
            costs["expected_cost"] = risk[top] * cost[top]
    return ReviewList(
        {
            "row": top if places is None else places[top],
            "suspicion": suspicion[top],
            "p": chosen.own_score,
            "predicted": classes[chosen.decision],
            "confidence": chosen.confidence,
            **costs,
            "region": region[top],
            "region_id": region_id[top],
            "reason": reasons,
        },
        index=index[top],
    )


def _reason(signals: Mapping[str, float], tau: float) -> str:
    confidence = signals["confidence"]
    sure = f"{percent(confidence)} sure"
    if confidence < tau:
        return f"{sure}, below the {percent(tau)} threshold: it cannot be a confident error."
    clauses = [
        *_neighbour_clause(signals),
        *_support_clause(signals),
        *_opinion_clause(signals),
        *_stability_clause(signals),
    ]
    doubts = [text for against, text in clauses if against]
    comforts = [text for against, text in clauses if not against]
    if doubts:
        sure = f"{sure}, but{':' if len(doubts) > 1 else ''} {joined(doubts)}"
    elif confidence < (1 + tau) / 2:
        sure = f"{sure}, only just above the {percent(tau)} threshold"
    return f"{sure}.{FAVOUR}{joined(comforts)}." if comforts else f"{sure}."


Clauses = list[tuple[bool, str]]


def _neighbour_clause(signals: Mapping[str, float]) -> Clauses:
    if "neighbours" not in signals:
        return []
    share, k = signals["labelled_as_predicted"], int(signals["neighbours"])
    same = round(share * k)
    if same == k:
        return [(False, f"all of the {k} most similar cases agree")]
    if same == 0:
        return [(True, f"none of the {k} most similar cases agrees")]
    words = f"{same} of the {k} most similar cases {'agrees' if same == 1 else 'agree'}"
    return [(True, f"only {words}")] if share < DOUBTFUL_SHARE else [(False, words)]


def _stability_clause(signals: Mapping[str, float]) -> Clauses:
    if "max_drift" not in signals or "labelled_as_predicted" not in signals:
        return []
    flips, drift = 1.0 - signals["label_consistency"], signals["max_drift"]
    if flips > 0:
        return [(True, f"small changes flip the decision in {percent(flips)} of trials")]
    if drift >= NOTABLE_DRIFT:
        return [(True, f"small changes move the score by {drift:.2f}")]
    most = f" (by {drift:.2f} at most)" if drift >= 0.005 else ""
    return [(False, f"small changes hardly move the score{most}")]


def _support_clause(signals: Mapping[str, float]) -> Clauses:
    thin = "support" in signals and signals["support"] < THIN_SUPPORT
    return [(True, "there are few similar cases")] if thin else []


def _opinion_clause(signals: Mapping[str, float]) -> Clauses:
    views = [signals[name] for name in OPINIONS.values() if name in signals]
    if not views:
        return []
    against = sum(view < 0 for view in views)
    if against:
        verb = "disagrees" if against == 1 else "disagree"
        return [(True, f"{against} of {len(views)} other models {verb}")]
    least = float(expit(min(views)))
    return [(True, f"another model is only {percent(least)} sure")] if least < HALF_SURE else []
