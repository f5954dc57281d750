"""Every ranker's and baseline's score of the validation and test rows of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from falcon_discover import rankers
from falcon_discover.bench import plan
from falcon_discover.calibration import calibration_weights, training_weights
from falcon_discover.calibration.calibrators import CALIBRATORS, Platt
from falcon_discover.metrics import confidence, false_confidence
from falcon_discover.rankers.failure import failure_scores
from falcon_discover.rankers.trust import trust_ratio
from falcon_discover.regions.clusters import Clusters
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import SIGNALS
from falcon_discover.signals.state import State


def score_columns(rows: pd.DataFrame, class_distances: FloatArray, seed: int) -> pd.DataFrame:
    """Return scores by name, one row per stored row.

    Learned scores of validation rows are cross-fitted, so that a ranker can be chosen there;
    those of test rows come from the ranker fitted on all validation rows.
    """
    validation = (rows["split"] == "validation").to_numpy()
    state = state_of(rows)
    y = rows["label"].to_numpy()
    columns: dict[str, npt.NDArray[Any]] = {
        "row": rows["row"].to_numpy(),
        "confidence": state.confidence,
        "s_stab": rankers.make("s_stab").score(state),
        "s_disc": rankers.make("s_disc").score(state),
        "trustscore": -trust_ratio(class_distances, state.decision),
    }
    for name, calibrator in CALIBRATORS.items():
        fitted = calibrator().fit(state.p[validation], y[validation])
        columns[f"p_{name}"] = fitted.predict(state.p)
        columns[name] = confidence(columns[f"p_{name}"])
    for tau in PAPER.taus:
        events = false_confidence(y, state.p, tau)
        columns[f"learned_{plan.at(tau)}"] = learned_scores(state, events, validation, tau, seed)
    events = false_confidence(y, state.p, PAPER.tau)
    columns |= _variants(rows, state, events, validation, seed)
    columns["failure"] = _failure(state, y, validation, seed)
    weights = calibration_weights(state, events)
    columns["w_cal"] = np.where(validation, weights, np.nan)
    weighted = Platt().fit(
        state.p[validation], y[validation], training_weights(weights[validation])
    )
    columns["p_platt_weighted"] = weighted.predict(state.p)
    columns["region"] = _regions(
        state, columns[f"learned_{plan.at(PAPER.tau)}"], events, y, validation, seed
    )
    return pd.DataFrame(columns)


def state_of(rows: pd.DataFrame, renamed: dict[str, str] | None = None) -> State:
    """Return the state in stored rows, with some signals taken from other columns."""
    names = {signal: (renamed or {}).get(signal, signal) for signal in SIGNALS}
    signals = pd.DataFrame({signal: rows[column] for signal, column in names.items()})
    return State(rows["p"].to_numpy(), signals, pd.DataFrame(index=rows.index))


def learned_scores(
    state: State,
    events: BoolArray,
    validation: BoolArray,
    tau: float,
    seed: int,
    signals: tuple[str, ...] | None = None,
) -> FloatArray:
    """Return the learned witness's scores; those of validation rows, where it learns, held out."""

    def score(fit: IntArray, new: IntArray) -> FloatArray:
        if not events[fit].any():
            # Nothing to learn from is a constant score here, not a better ranker in disguise.
            return np.zeros(len(new))
        witness = rankers.LearnedWitness(signals=signals).fit(state.take(fit), events[fit], tau)
        return witness.score(state.take(new))

    return _cross_fitted(score, events, validation, seed)


def _cross_fitted(
    score: Callable[[IntArray, IntArray], FloatArray],
    outcome: BoolArray,
    validation: BoolArray,
    seed: int,
) -> FloatArray:
    """Return scores of validation rows by others of them, and of test rows by all of them."""
    scores, places = np.empty(len(outcome)), np.flatnonzero(validation)
    splitter = StratifiedKFold(PAPER.n_folds, shuffle=True, random_state=seed)
    # Fewer events than folds: some folds have none, which the witness can bear.
    with notices.ignoring(UserWarning, "The least populated class"):
        folds = list(splitter.split(np.zeros(len(places)), outcome[validation]))
    for fit, held_out in folds:
        scores[places[held_out]] = score(places[fit], places[held_out])
    scores[~validation] = score(places, np.flatnonzero(~validation))
    return scores


def _variants(
    rows: pd.DataFrame, state: State, events: BoolArray, validation: BoolArray, seed: int
) -> dict[str, FloatArray]:
    """Return the ablations, and the family under other lambdas and neighbourhoods."""
    tau, columns = PAPER.tau, {}
    for name, signals in plan.ABLATIONS.items():
        columns[f"learned_{name}"] = learned_scores(state, events, validation, tau, seed, signals)
    # A lambda changes the stability signals, a neighbourhood the two of agreement.
    sweeps: dict[str, tuple[str, ...]] = dict.fromkeys(plan.LAMBDA_MARKS, plan.STABILITY)
    sweeps |= dict.fromkeys(plan.K_MARKS, plan.SUPPORT[1:])
    for suffix, changed in sweeps.items():
        variant = state_of(rows, {signal: f"{signal}_{suffix}" for signal in changed})
        columns[f"learned_{suffix}"] = learned_scores(variant, events, validation, tau, seed)
        for fixed in ("s_stab", "s_disc"):
            columns[f"{fixed}_{suffix}"] = rankers.make(fixed).score(variant)
    return columns


def _failure(state: State, y: npt.NDArray[np.int8], validation: BoolArray, seed: int) -> FloatArray:
    wrong = state.decision != y
    signals = state.signals.to_numpy()

    def score(fit: IntArray, new: IntArray) -> FloatArray:
        return failure_scores(signals[fit], wrong[fit], signals[new])

    return _cross_fitted(score, wrong, validation, seed)


def _regions(
    state: State,
    learned: FloatArray,
    events: BoolArray,
    y: npt.NDArray[np.int8],
    validation: BoolArray,
    seed: int,
) -> npt.NDArray[np.int8]:
    """Return the region of each test row; validation rows are not clustered and have 0."""
    test = ~validation
    held_out = state.take(test)
    found = Clusters.find(
        held_out, learned[test], events[test], held_out.decision == y[test], seed=seed
    )
    region = np.zeros(len(state), dtype=np.int8)
    region[test] = found.assign(held_out, learned[test])
    return region
