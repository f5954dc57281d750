"""What a learned ranker is told about a row: the state's signals by family, each with a direction.

Large values speak against the prediction in every column but the last family, the row's own
transformed features, which have no direction.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
from scipy.special import logit

from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import State

FAMILIES = {
    "confidence": "the model's own confidence and decision",
    "support": "how far the row lies from the reference rows",
    "neighbours": "how its neighbours are labelled, and how near each class is",
    "stability": "how the score moves when the row is mixed with its neighbours",
    "opinions": "what other models say",
    "features": "the row's own values",
}
# More transformed columns than this cost more than they tell.
MAX_FEATURES = 400
SMALL_DRIFT = 1e-4


def doubt(state: State) -> FloatArray:
    """Return the log-odds of the class that was not predicted, by the model itself.

    Examples
    --------
    >>> doubt(State.from_scores(np.array([0.9, 0.1]))).round(2)
    array([-2.2, -2.2])
    """
    return np.asarray(-logit(np.minimum(state.confidence, 1.0 - PAPER.logit_clip)))


def signal_columns(state: State, leave_out: Collection[str] = ()) -> dict[str, FloatArray]:
    """Return the directed signals that this state has; the model's own doubt comes first."""
    families = {
        "confidence": _confidence,
        "support": _support,
        "neighbours": _neighbours,
        "stability": _stability,
        "opinions": _opinions,
    }
    columns: dict[str, FloatArray] = {}
    for name, make in families.items():
        if name not in leave_out:
            columns |= make(state)
    return columns


def features(state: State, leave_out: Collection[str] = ()) -> npt.NDArray[np.float32]:
    """Return the rows' transformed features, or no columns where they are not to be used."""
    known = state.features
    if known is None or "features" in leave_out or known.shape[1] > MAX_FEATURES:
        return np.empty((len(state), 0), dtype=np.float32)
    return known


def _confidence(state: State) -> dict[str, FloatArray]:
    return {"doubt": doubt(state), "decision": state.decision.astype(np.float64)}


def _support(state: State) -> dict[str, FloatArray]:
    columns = {}
    if "support" in state.signals:
        columns["support"] = -state.signals["support"].to_numpy()
    if "neighbour_distance" in state.evidence:
        columns["neighbour_distance"] = state.evidence["neighbour_distance"].to_numpy()
    return columns


def _neighbours(state: State) -> dict[str, FloatArray]:
    known = state.evidence
    if "labelled_as_predicted" not in known:
        return {}
    k = known["neighbours"].to_numpy(dtype=np.float64)
    alike = known["labelled_as_predicted"].to_numpy() * k
    columns = {"labelled_otherwise": np.log((k - alike + 0.5) / (alike + 0.5))}
    trust = [name for name in known.columns if name.startswith("log_trust")]
    return columns | {name: -known[name].to_numpy() for name in trust}


def _stability(state: State) -> dict[str, FloatArray]:
    if not state.has_stability:
        return {}
    columns = {"log_drift": np.log(state.signals["mean_drift"].to_numpy() + SMALL_DRIFT)}
    for name in ("signed_drift", "worst_drift"):
        if name in state.evidence:
            columns[name] = -state.evidence[name].to_numpy()
    return columns


def _opinions(state: State) -> dict[str, FloatArray]:
    names = [name for name in state.evidence.columns if name.startswith("opinion_")]
    signs = {"opinion_spread": 1.0}
    return {name: signs.get(name, -1.0) * state.evidence[name].to_numpy() for name in names}
