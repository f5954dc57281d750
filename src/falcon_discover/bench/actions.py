"""Beyond the paper, third part: regions in words and calibrators, fitted on the stored states.

Both learn from the training rows (out-of-fold) and the validation rows, as an audit does, and are
judged on the test rows, by the tables at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from falcon_discover import datasets, metrics
from falcon_discover.bench import plan
from falcon_discover.bench.loading import Study
from falcon_discover.bench.run import Executor, Stopwatch
from falcon_discover.bench.scoring import Tables, split_scorer
from falcon_discover.bench.states import PARTS, load_state
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.calibration import (
    calibration_weights,
    discrepancy,
    fitted_calibrator,
    training_weights,
)
from falcon_discover.calibration.calibrators import CALIBRATORS
from falcon_discover.calibration.discrepancy import Discrepancy
from falcon_discover.data.table import Table
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import confidence, false_confidence
from falcon_discover.rankers.evidence import OWN_SCALE, TASKS
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.regions import bins, confirm, rules, scan
from falcon_discover.regions.confirm import halves
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

PLAIN = ("temperature", "platt", "isotonic", "beta")
SHOWN = ("p", *PLAIN, *(f"{name}_weighted" for name in PLAIN), "discrepancy", "discrepancy_auto")
CAUTIONS = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3)
KINDS: dict[confirm.Against, str] = {"confidence": "beyond", "all": "foreseen"}


def settings() -> dict[str, Any]:
    """Return everything that decides the stored results."""
    constants = {
        f"{module.__name__.rsplit('.', 1)[-1]}_{name}".lower(): value
        for module in (bins, scan, confirm, rules, discrepancy)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, int | float)
    }
    # By the names that stored runs know them by.
    task = TASKS["positive"]
    learned = {
        "discrepancy_own_scale": OWN_SCALE,
        "discrepancy_ridge_c": task.ridge_c,
        "discrepancy_trees_share": 0.5 * task.trees_weight,
        "discrepancy_trees_half_errors": task.trees_half,
    }
    return {**PAPER.to_dict(), **constants, **learned, "actions_version": 2}


def actor(states: Store) -> Executor:
    """Return what does one run."""
    return split_scorer(lambda key, features: act(key, states, features))


def act(key: RunKey, states: Store, features: dict[str, Any]) -> Tables:
    """Return recalibrated scores of the test rows and the regions with their figures there."""
    watch = Stopwatch()
    frames = {name: states.read(key, name) for name in PARTS}
    labelled = {
        name: LabelledState(load_state(frame, features[name]), frame["label"].to_numpy())
        for name, frame in frames.items()
    }
    test = frames["test"][["row", "label", "p"]].copy()
    report: dict[str, Any] = {}
    with watch.stage("calibration"):
        for name, p in _recalibrated(labelled, report).items():
            test[name] = p
    with watch.stage("regions"):
        regions = _regions(key, frames)
    report["seconds"] = watch.seconds
    return {"test": test, "regions": regions}, report


def _recalibrated(labelled: dict[str, LabelledState], report: dict[str, Any]) -> dict[str, Any]:
    known = TrainingRows(labelled["oof"], labelled["validation"]).source("all")
    later = labelled["test"].state
    weights = training_weights(calibration_weights(known.state, known.events(PAPER.tau)))
    scores = {}
    for method in CALIBRATORS:
        for suffix, weight in (("", None), ("_weighted", weights)):
            fitted = fitted_calibrator(method, known.state, known.codes, weight)
            scores[f"{method}{suffix}"] = fitted.predict(later)
    own = Discrepancy("auto").fit(known.state, known.codes)
    report["caution"], report["share"] = own.caution_, own.share_
    scores["discrepancy_auto"] = own.predict(later)
    # Before caution, so that any can be tried.
    scores["log_odds"] = own.log_odds(later)
    scores["discrepancy"] = expit(scores["log_odds"])
    return scores


def _regions(key: RunKey, frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    X, _ = datasets.load(key.dataset)
    table = Table.from_input(X)
    known = pd.concat([frames["oof"], frames["validation"]], ignore_index=True)
    here = table.frame.iloc[known["row"]].reset_index(drop=True)
    later = table.frame.iloc[frames["test"]["row"]].reset_index(drop=True)
    sure, events = _events(known)
    later_sure, later_events = _events(frames["test"])
    own = slice(len(frames["oof"]))
    kept = np.ones((2, len(known)), dtype=bool)
    kept[:, own] = halves(here.iloc[own], events[own], sure[own] >= PAPER.tau, key.seed)
    searches = dict.fromkeys(KINDS, rules.MAX_RULES)
    found = rules.find_together(here, table.kinds, sure, events, searches, confirmation=kept)
    rows = []
    for against, kind in KINDS.items():
        for rule in found[against]:
            figures = rules.figures(
                rule.holds(later), later_sure >= PAPER.tau, later_events, later_sure
            )
            there = {f"test_{name}": value for name, value in vars(figures).items()}
            rows.append({"kind": kind, "rule": rule.words, **rule.to_dict(), **there})
    return pd.DataFrame(rows, columns=None if rows else ["kind", "rule", "confirmed"])


def _events(frame: pd.DataFrame) -> tuple[Any, Any]:
    p = frame["p"].to_numpy()
    return confidence(p), false_confidence(frame["label"].to_numpy(), p, PAPER.tau)


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
            "the store has no regions and calibrators: make them with 'bench run --part actions'."
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
            lines.append({"dataset": key.dataset, "method": name, **_figures(test, name)})
    runs = pd.DataFrame(lines).groupby(["dataset", "method"], sort=False)
    means = runs.mean()
    means.insert(0, "seeds", runs.size())
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
            used = store.report(key)["caution"] if value == "auto" else value
            line = {"dataset": key.dataset, "caution": str(value), **_figures_of(test, p)}
            lines.append({**line, "before": before["fc_events"], "used": used})
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
