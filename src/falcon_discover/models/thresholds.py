"""The threshold at which a model of scikit-learn decides, where it is not one half."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline

from falcon_discover.data.labels import label_repr
from falcon_discover.runtime import notices
from falcon_discover.settings import PAPER


def own_threshold(model: Any, classes: npt.NDArray[Any], asked: float) -> float:
    """Return the threshold of the positive class that decides: the one asked for, or the model's.

    A model that scikit-learn's `FixedThresholdClassifier` or `TunedThresholdClassifierCV` gave a
    threshold is audited at that one, unless another is asked for.

    Parameters
    ----------
    model : fitted
    classes : the labels, of two the positive one last
    asked : what the caller wants; one half leaves it to the model

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = FixedThresholdClassifier(LogisticRegression(), threshold=0.3)
    >>> with notices.collected():
    ...     own_threshold(model.fit([[0.0], [1.0]], [0, 1]), np.array([0, 1]), asked=0.5)
    0.3
    """
    level = threshold_of(model, classes, asked)
    if level != asked:
        notices.warn(
            f"{type(_unwrapped(model)).__name__} predicts {label_repr(classes[1])} from a "
            f"probability of {level:.3g}: the audit is about these decisions."
        )
    return level


def threshold_of(model: Any, classes: npt.NDArray[Any], asked: float) -> float:
    """Return the same without a word about it."""
    model = _unwrapped(model)
    known = _threshold(model)
    if known is None or len(classes) != 2 or asked != PAPER.decision_threshold:
        return asked
    positive = _positive(model)
    if positive is not None and positive != classes[1]:
        # Decided against the last class where the other's probability reaches the threshold.
        known = float(np.nextafter(1.0 - known, 1.0))
    return known


def _unwrapped(model: Any) -> Any:
    while isinstance(model, FrozenEstimator | Pipeline):
        model = model.estimator if isinstance(model, FrozenEstimator) else model.steps[-1][1]
    return model


def _positive(model: Any) -> Any:
    """Return the label that a threshold is for; None leaves it to be the last one."""
    if isinstance(model, FixedThresholdClassifier):
        return model.pos_label
    # Of a tuned threshold only the scorer knows, and scikit-learn has no public name for it.
    scorer = getattr(model, "_curve_scorer", None)
    return None if scorer is None else scorer._get_pos_label()


def _threshold(model: Any) -> float | None:
    """Return a threshold of probabilities; None where there is none, or one of other scores."""
    if not isinstance(model, FixedThresholdClassifier | TunedThresholdClassifierCV):
        return None
    inner = model.estimator_
    if model.response_method == "decision_function" or not hasattr(inner, "predict_proba"):
        return None
    if isinstance(model, TunedThresholdClassifierCV):
        level = model.best_threshold_
    else:
        level = model.threshold
    if level == "auto":
        return PAPER.decision_threshold
    return float(level) if 0 <= level <= 1 else None
