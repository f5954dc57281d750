"""How a model is told that rows count by weight."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

from sklearn import get_config
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.types import FloatArray

WEIGHT = "sample_weight"


def weight_arguments(model: Any, weight: FloatArray | None) -> dict[str, Any]:
    """Return what `fit` is to be given so that rows count by weight; an error if it takes none.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> import numpy as np
    >>> list(weight_arguments(make_pipeline(LogisticRegression()), np.ones(3)))
    ['logisticregression__sample_weight']
    """
    if weight is None:
        return {}
    name = weight_name(model)
    if name is None:
        raise InputError(takes_none(model))
    return {name: weight}


def weight_name(model: Any) -> str | None:
    """Return by what name `fit` takes weights; None where it takes none."""
    if get_config()["enable_metadata_routing"]:
        return _routed(model)
    if isinstance(model, Pipeline):
        step, last = model.steps[-1]
        inner = weight_name(last)
        return None if inner is None else f"{step}__{inner}"
    if has_fit_parameter(model, WEIGHT):
        return WEIGHT
    # A search hands what it is given on to the model it searches for.
    passes_on = any(
        p.kind is Parameter.VAR_KEYWORD for p in signature(model.fit).parameters.values()
    )
    inner = getattr(model, "estimator", None)
    return weight_name(inner) if passes_on and hasattr(inner, "fit") else None


def _routed(model: Any) -> str | None:
    """Return the name under which weights are routed, if the model or a part asks for them."""
    if has_fit_parameter(model, WEIGHT):
        return WEIGHT
    try:
        asked = get_routing_for_object(model).consumes("fit", [WEIGHT])
    except (AttributeError, UnsetMetadataPassedError):
        return None
    return WEIGHT if WEIGHT in asked else None


def takes_none(model: Any) -> str:
    """Return what to do with a model that takes no weights, in a sentence."""
    name = type(model).__name__
    ask = ""
    if get_config()["enable_metadata_routing"]:
        ask = "ask for them with set_fit_request(sample_weight=True) on the part that takes them, "
    return (
        f"{name} takes no sample_weight in fit: {ask}choose a model that does, freeze a fitted one "
        "(FrozenEstimator), or set weigh_model=False to fit it without weights."
    )
