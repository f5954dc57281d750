"""What regions and calibrators do on test rows: tables from the stored results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from falcon_discover import metrics
from falcon_discover.bench import plan
from falcon_discover.bench.loading import Study
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.exceptions import InputError
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

PLAIN = ("temperature", "platt", "isotonic", "beta")
SHOWN = ("p", *PLAIN, *(f"{name}_weighted" for name in PLAIN), "discrepancy", "discrepancy_auto")
CAUTIONS = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3)
FIGURES = (
    "nll",
    "brier",
    "ece",
    "cumulative_error",
    "auroc",
    "fc_events",
    "eligible",
    "errors_at_coverage",
    "accuracy",
)


def action_tables(study: Study) -> dict[str, pd.DataFrame]:
    """Return the tables by file name."""
    store = Store(study.store.folder / plan.ACTIONS)
    done = set(store.runs())
    keys = [
        key
        for name in study.datasets
        for seed in study.seeds
        if (key := RunKey(name, seed, study.selected(name, seed))) in done
    ]
    if not keys:
        raise InputError(
            "there are no regions and calibrators in the store: 'bench run --part actions' makes "
            "them."
        )
    return {
        "calibration": calibration(store, keys),
        "caution": caution(store, keys),
        "regions": regions(store, keys),
    }


def calibration(store: Store, keys: list[RunKey]) -> pd.DataFrame:
    """Return every calibrator on every data set, means over seeds; `p` is the model itself.

    `errors_at_coverage` counts errors among as many of the surest predictions as the model itself
    is sure of, whichever scores say which are the surest.
    """
    lines = []
    for key in keys:
        test = store.read(key, "test")
        for name in SHOWN:
            lines.append(
                {"dataset": key.dataset, "method": name, "seed": key.seed, **_figures(test, name)}
            )
    frame = pd.DataFrame(lines)
    means = frame.groupby(["dataset", "method"], sort=False)[list(FIGURES)].mean()
    means.insert(0, "seeds", frame.groupby(["dataset", "method"], sort=False).size())
    return means.reset_index()


def caution(store: Store, keys: list[RunKey]) -> pd.DataFrame:
    """Return the trade of log loss against confident errors, means over the data sets.

    The order of confidence does not depend on caution: `coverage_change`, of the errors at the
    model's own coverage, is the same in every row, and what `fc_change` has beyond it comes from
    fewer confident predictions. `auto` is the caution that each fit has chosen for itself.
    """
    lines = []
    for key in keys:
        test = store.read(key, "test")
        before = _figures(test, "p")
        scores: dict[float | str, Any] = {
            value: expit((1.0 - value) * test["log_odds"].to_numpy()) for value in CAUTIONS
        }
        scores["auto"] = test["discrepancy_auto"].to_numpy()
        for value, p in scores.items():
            figures = _figures_of(test, p)
            lines.append(
                {
                    "dataset": key.dataset,
                    "caution": str(value),
                    **figures,
                    "before": before["fc_events"],
                    "used": store.report(key)["caution"] if value == "auto" else value,
                }
            )
    frame = pd.DataFrame(lines)
    means = frame.groupby(["dataset", "caution"], sort=False).mean(numeric_only=True)
    means["fc_change"] = means["fc_events"] / means["before"] - 1.0
    means["coverage_change"] = means["errors_at_coverage"] / means["before"] - 1.0
    changes = ["fc_change", "eligible", "coverage_change"]
    wanted = ["used", "nll", "brier", "ece", "cumulative_error", *changes, "accuracy"]
    return means.groupby("caution", sort=False)[wanted].mean().reset_index()


def regions(store: Store, keys: list[RunKey]) -> pd.DataFrame:
    """Return the confirmed regions of every split, with their figures on the test rows.

    `holds` says whether the intervals of the rate on confirmation and on test rows overlap.
    """
    parts = []
    for key in keys:
        found = store.read(key, "regions")
        confirmed = found[found["confirmed"].astype(bool)].copy()
        confirmed.insert(0, "dataset", key.dataset)
        confirmed.insert(1, "seed", key.seed)
        parts.append(confirmed)
    frame = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    if len(frame):
        apart = (frame["test_low"] > frame["confirmation_high"]) | (
            frame["test_high"] < frame["confirmation_low"]
        )
        frame["holds"] = ~apart & (frame["test_eligible"] > 0)
    return frame


def _figures(test: pd.DataFrame, name: str) -> dict[str, float]:
    return _figures_of(test, test[name].to_numpy(dtype=np.float64))


def _figures_of(test: pd.DataFrame, p: FloatArray) -> dict[str, float]:
    y, before = test["label"].to_numpy(), test["p"].to_numpy(dtype=np.float64)
    covered = int((metrics.confidence(before) >= PAPER.tau).sum())
    return {
        "nll": metrics.nll(y, p),
        "brier": metrics.brier(y, p),
        "ece": metrics.ece(y, p),
        "cumulative_error": metrics.cumulative_calibration_error(y, p),
        "auroc": metrics.fc_auroc(y, p),
        "fc_events": float(metrics.false_confidence(y, p, PAPER.tau).sum()),
        "eligible": float((metrics.confidence(p) >= PAPER.tau).mean()),
        "errors_at_coverage": metrics.errors_among_surest(y, p, covered),
        "accuracy": float(((p >= PAPER.decision_threshold) == y).mean()),
    }
