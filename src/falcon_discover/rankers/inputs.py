"""What a model of evidence is told about a row: the state's signals, each with a direction.

Large values speak for what the model is to tell: an error, or the positive class. The row's own
transformed features have no direction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

import numpy as np

from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.runtime.types import Float32Array, FloatArray
from falcon_discover.signals.catalogue import INPUTS
from falcon_discover.signals.state import State

# More transformed columns than this cost a ranker more than they tell.
MAX_FEATURES = 400
SMALL_DRIFT = 1e-4
# What can be turned to speak for the positive class, family by family.
ABOUT_THE_CLASS = tuple(
    signal
    for family in ("neighbours", "opinions", "stability")
    for signal in INPUTS
    if signal.recalibrates and signal.family == family
)


@dataclass(frozen=True, eq=False)
class Inputs:
    """Signals and features of rows, as a model of evidence gets them.

    Attributes
    ----------
    has_own : whether the first signal is the audited model's own log-odds
    """

    signals: FloatArray
    features: Float32Array
    has_own: bool = True


def doubt(state: State) -> FloatArray:
    """Return the log-odds of the class that was not predicted, by the model itself.

    Examples
    --------
    >>> doubt(State.from_scores(np.array([0.9, 0.1]))).round(2)
    array([-2.2, -2.2])
    """
    return -clipped_logit(state.confidence)


def label_odds(state: State, *, as_predicted: bool) -> FloatArray:
    """Return the log-odds of neighbours that carry the predicted label, or the other one."""
    k = state.evidence["neighbours"].to_numpy(dtype=np.float64)
    alike = state.evidence["labelled_as_predicted"].to_numpy() * k
    these, others = (alike, k - alike) if as_predicted else (k - alike, alike)
    return np.asarray(np.log((these + 0.5) / (others + 0.5)))


# Signals that are learned from on another scale, by their names there.
RESCALED: dict[str, Callable[[State], FloatArray]] = {
    "doubt": doubt,
    "labelled_otherwise": partial(label_odds, as_predicted=False),
    "log_drift": lambda state: np.log(state.signals["mean_drift"].to_numpy() + SMALL_DRIFT),
}


def signal_columns(state: State, leave_out: Collection[str] = ()) -> dict[str, FloatArray]:
    """Return the signals that this state has, turned to speak against the prediction.

    The model's own doubt comes first, and its decision, which has no direction, beside it.
    """
    columns: dict[str, FloatArray] = {}
    for signal in INPUTS:
        values = state.column(signal.name)
        if values is None or signal.family in leave_out:
            continue
        if signal.rescaled:
            columns[signal.rescaled] = RESCALED[signal.rescaled](state)
        else:
            columns[signal.name] = signal.sign * values
        if signal.rescaled == "doubt":
            columns |= _decisions(state)
    return columns


def _decisions(state: State) -> dict[str, FloatArray]:
    """Return which class is decided: a column for each but the first."""
    decision = state.decision
    if state.n_classes == 2:
        return {"decision": decision.astype(np.float64)}
    codes = range(1, state.n_classes)
    return {f"decision_{code}": (decision == code).astype(np.float64) for code in codes}


def features(state: State, leave_out: Collection[str] = ()) -> Float32Array:
    """Return the rows' transformed features, or no columns where they are not to be used."""
    known = state.features
    if known is None or "features" in leave_out or known.shape[1] > MAX_FEATURES:
        return np.empty((len(state), 0), dtype=np.float32)
    return known


def against_the_prediction(state: State, leave_out: Collection[str] = ()) -> Inputs:
    """Return what speaks against each prediction; some families may be left out."""
    columns = list(signal_columns(state, leave_out).values())
    signals = np.column_stack(columns) if columns else np.zeros((len(state), 1))
    return Inputs(signals, features(state, leave_out), "confidence" not in leave_out)


def for_the_class(state: State) -> Inputs:
    """Return what speaks for the positive class of each row, the model's own log-odds first.

    Of more than two classes, what speaks for the decided one.
    """
    sign = np.where(state.decision, 1.0, -1.0) if state.p.ndim == 1 else np.ones(len(state))
    columns = [clipped_logit(state.own_score)]
    for signal in ABOUT_THE_CLASS:
        values = state.column(signal.name)
        if signal.rescaled == "labelled_otherwise" and values is not None:
            values = label_odds(state, as_predicted=True)
        if values is not None:
            columns.append(sign * values)
    known = state.features
    if known is None:
        known = np.empty((len(state), 0), dtype=np.float32)
    return Inputs(np.column_stack(columns), known)
