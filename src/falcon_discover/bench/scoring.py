"""Beyond the paper, second part: rankers fitted on the stored states, at every threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.bench import plan
from falcon_discover.bench.run import Executor, Stopwatch
from falcon_discover.bench.states import PARTS, load_state, split_features
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.metrics import gated_confidence
from falcon_discover.metrics.intervals import auroc_difference
from falcon_discover.rankers import evidence
from falcon_discover.rankers.fixed import StabilityRanker
from falcon_discover.rankers.gated import MIN_ERRORS, GatedRisk
from falcon_discover.rankers.risk import FEW_EVENTS, GATE_PRIOR, SLOPE_PRIOR
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import BoolArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import NO_FOLD

Tables = tuple[dict[str, pd.DataFrame], dict[str, Any]]


def settings() -> dict[str, Any]:
    """Return everything that decides the stored scores."""
    task = evidence.TASKS["error"]
    return {
        **PAPER.to_dict(),
        # By the names that stored runs know them by.
        "ranker": {
            "no_fold": NO_FOLD,
            "below_tau_weight": evidence.BELOW_TAU_WEIGHT,
            "ridge_c": task.ridge_c,
            "ridge_half_errors": task.ridge_half,
            "doubt_scale": evidence.OWN_SCALE,
            "trees_half_weight": task.trees_half,
            "enough_rows": evidence.ENOUGH_ROWS,
            "inner_folds": evidence.INNER_FOLDS,
            "slope_prior": SLOPE_PRIOR,
            "gate_prior": GATE_PRIOR,
            "few_events": FEW_EVENTS,
            "one_thread_cells": evidence.ONE_THREAD_CELLS,
        },
        "min_errors": MIN_ERRORS,
        "grid_taus": list(plan.GRID_TAUS),
        "scores_version": 3,
    }


def split_scorer(score: Callable[[RunKey, dict[str, Any]], Tables]) -> Executor:
    """Return what does one run; a split's features are made once for all backbones."""
    last: dict[tuple[str, int], dict[str, Any]] = {}

    def one(key: RunKey) -> Tables:
        where = (key.dataset, key.seed)
        if where not in last:
            last.clear()
            last[where] = split_features(*where)
        return score(key, last[where])

    return one


def scorer(states: Store) -> Executor:
    """Return what does one run."""
    return split_scorer(lambda key, features: score_run(key, states, features))


def score_run(key: RunKey, states: Store, features: dict[str, Any]) -> Tables:
    """Return the scores of the test rows, and the held-out ones of the rows learned from."""
    watch = Stopwatch()
    frames = {name: states.read(key, name) for name in PARTS}
    parts = {name: load_state(frame, features[name]) for name, frame in frames.items()}
    learned = {name: LabelledState(parts[name], frames[name]["label"].to_numpy()) for name in PARTS}
    known = TrainingRows(learned["oof"], learned["validation"])
    test = frames["test"][["row", "label", "p", "log_trust_1"]].copy()
    test["s_stab"] = StabilityRanker().score(parts["test"])
    own = pd.concat([frames["oof"], frames["validation"]], ignore_index=True)[["row", "label", "p"]]
    with notices.collected():
        for tau in plan.GRID_TAUS:
            with watch.stage("rankers"):
                ranker = known.ranker("auto", tau)
            assert isinstance(ranker, GatedRisk)
            test[f"auto_{plan.at(tau)}"] = ranker.risk(parts["test"])
            own[f"auto_{plan.at(tau)}"] = ranker.held_out_risk_
        permuted = permuted_gain(known.source("all"), learned["test"], key.seed)
    report = {
        "seconds": watch.seconds,
        "oof_auroc": states.report(key)["oof_auroc"],
        "permuted_gain": permuted,
    }
    return {"test": test, "train": own}, report


def permuted_gain(known: LabelledState, later: LabelledState, seed: int) -> list[float]:
    """Return the ranker's gain over gated confidence, and its interval, without any signal.

    Errors are dealt out anew among the eligible rows, those learned from and those judged, so
    that nothing tells them apart.
    """
    rng = np.random.default_rng(seed)
    wrong = [_dealt_out(rows, rng) for rows in (known, later)]
    risk = GatedRisk().fit(known.state, wrong[0], PAPER.tau).risk(later.state)
    gate = gated_confidence(later.state.confidence, PAPER.tau)
    eligible = later.state.eligible(PAPER.tau)
    return list(auroc_difference(wrong[1][eligible], risk[eligible], gate[eligible]))


def _dealt_out(rows: LabelledState, rng: np.random.Generator) -> BoolArray:
    wrong = rows.errors()
    eligible = np.flatnonzero(rows.state.eligible(PAPER.tau))
    wrong[eligible] = rng.permutation(wrong[eligible])
    return wrong
