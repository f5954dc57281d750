"""Beyond the paper, third part: regions in words and calibrators, fitted on the stored states.

Both learn from the training rows (out-of-fold) and the validation rows, as an audit does, and are
judged on the test rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from falcon_discover import datasets
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
from falcon_discover.metrics import confidence, false_confidence
from falcon_discover.rankers.evidence import OWN_SCALE, TASKS
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.regions import bins, confirm, rules, scan
from falcon_discover.regions.halves import halves
from falcon_discover.settings import PAPER

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
            rows.append(
                {
                    "kind": kind,
                    "rule": rule.words,
                    **rule.to_dict(),
                    **{f"test_{name}": value for name, value in vars(figures).items()},
                }
            )
    return pd.DataFrame(rows, columns=None if rows else ["kind", "rule", "confirmed"])


def _events(frame: pd.DataFrame) -> tuple[Any, Any]:
    p = frame["p"].to_numpy()
    return confidence(p), false_confidence(frame["label"].to_numpy(), p, PAPER.tau)
