"""Charts of data that are hard to draw: nothing to see, a million rows, long names, far values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from falcon_discover.evaluation.curves import (
    capture_curve,
    confidence_histogram,
    missed_curve,
    random_band,
    reliability,
)
from falcon_discover.evaluation.periods import Periods
from falcon_discover.metrics import confidence, decided
from falcon_discover.plots import charts
from falcon_discover.plots.chart import Chart
from falcon_discover.runtime.records import records
from falcon_discover.signals.catalogue import INPUTS

LONG = "average_outstanding_balance_across_all_current_accounts_of_the_household"
BUDGETS = [round(0.025 * i, 3) for i in range(1, 41)]
RANKERS = ("auto", "gated_confidence", "s_disc", "s_stab", "confidence")


def scored(n: int, wrong: int | None, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and labels; of the predictions that are 90% sure, so many are wrong."""
    rng = np.random.default_rng(0)
    if classes == 2:
        p = rng.beta(0.3, 0.5, n)
        codes = (rng.uniform(size=n) < p).astype(np.int8)
    else:
        p = rng.dirichlet(np.full(classes, 0.25), n)
        codes = (p.cumsum(axis=1) < rng.uniform(size=(n, 1))).sum(axis=1).astype(np.int8)
    if wrong is not None:
        sure, own = confidence(p) >= 0.9, decided(p)
        codes[sure] = own[sure]
        few = np.flatnonzero(sure)[:wrong]
        codes[few] = (own[few] + 1) % classes
    return p, codes


def drawn(
    n: int = 6_000,
    *,
    wrong: int | None = None,
    classes: int = 2,
    tau: Any = 0.9,
    names: tuple[str, ...] = ("age >= 60", "job is driver and load < 3"),
    periods: int = 12,
    scale: int = 1,
) -> dict[str, Chart]:
    """Return every chart of made-up rows; `scale` multiplies counts."""
    p, codes = scored(n, wrong, classes)
    rng = np.random.default_rng(1)
    sure = confidence(p)
    level = min(tau.values()) if isinstance(tau, dict) else tau
    eligible = sure >= level
    events = eligible & (decided(p) != codes)
    scores = {name: rng.normal(size=n) + 4 / k * events for k, name in enumerate(RANKERS, start=1)}
    capture = capture_curve(events, scores, BUDGETS)
    missed = missed_curve(events, scores["auto"], BUDGETS, simultaneous=True)
    bins = records(confidence_histogram(p, level, codes))
    for line in bins:
        line["rows"] *= scale
        line["wrong"] *= scale
    spells = Periods.of(np.arange(n) % periods + 2000.0, eligible, events).table
    return {
        "capture": charts.capture_chart(
            records(capture), records(random_band(n, int(events.sum()), BUDGETS)), 0.2
        ),
        "missed": charts.missed_chart(records(missed), 0.2),
        "reliability": charts.reliability_chart(records(reliability(codes, p))),
        "confidence": charts.confidence_chart(bins, tau),
        "regions": _regions(names, int(eligible.sum()) * scale, int(events.sum()) * scale),
        "conflict": _conflict(scale),
        "signals": charts.signal_chart(_signals(not events.any())),
        "contributions": charts.contribution_chart(_families()),
        "calibration": charts.calibration_chart(_methods(int(events.sum()) * scale)),
        "periods": charts.period_chart(records(spells)),
    }


def _regions(names: tuple[str, ...], eligible: int, events: int) -> Chart:
    rate = events / eligible if eligible else np.nan
    lines = [
        {"kind": "all", "name": "all confident predictions", "rate": rate, "low": 0.9 * rate,
         "high": 1.1 * rate, "events": events, "eligible": eligible, "confirmed": False},
        *(
            {"kind": "unexpected", "name": name, "rate": 0.4 / (i + 1), "low": 0.3 / (i + 1),
             "high": 0.6 / (i + 1), "events": eligible // (20 * i + 20),
             "eligible": eligible // 10, "confirmed": True}
            for i, name in enumerate(names)
        ),
    ]  # fmt: skip
    return charts.region_chart(lines, lines)


def _conflict(scale: int) -> Chart:
    slices = [
        {"evidence": "support", "evidence_at_most": low, "instability": "mean_drift",
         "instability_at_least": high, "gamma": gamma, "rows": 900 * scale, "events": 120 * scale,
         "excess_low": gamma - 0.05}
        for low in (0.012345, 0.1, 0.2, 0.35, 0.5, 0.75)
        for high, gamma in ((0.00012, -0.02), (0.03, 0.0), (0.05, 0.04), (0.09, 0.2), (0.2, 0.9))
    ]  # fmt: skip
    return charts.conflict_chart(slices, slices[4], ("support", "mean_drift"))


def _signals(unknown: bool) -> list[dict[str, Any]]:
    value = np.nan if unknown else 1.0
    return [
        {"meaning": signal.doubt, "auroc": value * (0.9 - 0.02 * i),
         "low": value * (0.85 - 0.02 * i), "high": value * (0.95 - 0.02 * i)}
        for i, signal in enumerate(INPUTS)
    ]  # fmt: skip


def _families() -> list[dict[str, Any]]:
    return [
        {"family": "other models' opinions", "loss": 0.0312, "low": 0.01, "high": 0.05},
        {"family": "support", "loss": 0.00002, "low": -0.0001, "high": 0.0003},
        {"family": LONG, "loss": None, "low": None, "high": None},
    ]


def _methods(errors: int) -> list[dict[str, Any]]:
    return [
        {"method": name, "nll": 0.3 * k, "brier": 0.0869, "ece": 0.02 * k * k,
         "errors_at_coverage": errors * k}
        for name, k in (("before", 1.0), ("platt", 1.001), ("discrepancy", 0.9))
    ]  # fmt: skip


MANY = tuple(f"category is value number {i}" for i in range(12))
CASES: dict[str, Callable[[], dict[str, Chart]]] = {
    "a normal audit": drawn,
    "no confident error": lambda: drawn(wrong=0),
    "three confident errors": lambda: drawn(wrong=3),
    "nothing is confident": lambda: drawn(tau=1.0),
    "a million rows and more": lambda: drawn(scale=1_234),
    "ten classes": lambda: drawn(classes=10),
    "a threshold close to one": lambda: drawn(tau=0.9995),
    "a threshold for each class": lambda: drawn(tau={"no": 0.95, "yes": 0.8}),
    "long names": lambda: drawn(names=(f"{LONG} >= 9 and {LONG}_of_the_spouse < 3", LONG + LONG)),
    "many regions and periods": lambda: drawn(names=MANY, periods=24),
    "one row": lambda: drawn(1, periods=1),
}
