"""Tables with a known false-confidence region, for tests, examples and tuning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.types import BoolArray, FloatArray

Shape = Literal["box", "categorical", "missing", "none"]
LEVELS = ("red", "green", "blue", "grey")


@dataclass(frozen=True, eq=False)
class Planted:
    """A table with a planted region and the truth about it.

    Attributes
    ----------
    X, y : the table and its 0/1 labels
    proba : positive-class scores of `model`
    model : a fitted classifier that is calibrated outside the region and wrong inside it
    region : which rows lie in the region
    rule : the region in words
    columns : the columns the rule is about
    error_density : the share of wrong predictions inside the region
    """

    X: pd.DataFrame
    y: npt.NDArray[np.int8]
    proba: FloatArray
    model: PlantedModel
    region: BoolArray
    rule: str
    columns: tuple[str, ...]
    error_density: float


class PlantedModel(ClassifierMixin, BaseEstimator):
    """A fixed confident classifier: a logistic curve over two numeric columns.

    It knows nothing of the region. `fit` changes nothing, so it may be frozen or cross-fitted.
    """

    def __init__(self, steepness: float = 4.0) -> None:
        self.steepness = steepness
        self.classes_ = np.array([0, 1])

    def fit(self, X: Any, y: Any) -> Self:
        """Do nothing: the curve is given."""
        return self

    def predict_proba(self, X: pd.DataFrame) -> FloatArray:
        """Return two columns of probabilities."""
        p = expit(self.steepness * (X["signal_a"].to_numpy() + X["signal_b"].to_numpy()))
        return np.column_stack([1.0 - p, p])

    def predict(self, X: pd.DataFrame) -> npt.NDArray[np.int64]:
        """Return the likelier class."""
        return (self.predict_proba(X)[:, 1] >= 0.5).astype(np.int64)


def make_planted(
    n_rows: int = 5_000,
    *,
    shape: Shape = "box",
    mass: float = 0.08,
    error_density: float = 0.5,
    n_noise: int = 4,
    random_state: int | None = None,
) -> Planted:
    """Return a table in which confident errors gather in one compact, describable region.

    Outside the region labels follow the model's own probabilities, so it is perfectly
    calibrated there. Inside, each prediction is wrong with probability `error_density`.

    Parameters
    ----------
    n_rows : rows to make
    shape : {"box", "categorical", "missing", "none"}
        "box": two numbers each within a range; "categorical": one category below a number;
        "missing": a number is missing; "none": no region at all
    mass : share of rows in the region, about
    error_density : share of wrong predictions inside the region
    n_noise : numeric columns without meaning
    random_state : seed

    Examples
    --------
    >>> planted = make_planted(2_000, shape="categorical", random_state=0)
    >>> planted.rule
    "colour is 'red' and load <= 0.32"
    >>> wrong = (planted.proba >= 0.5) != planted.y
    >>> bool(wrong[planted.region].mean() > 5 * wrong[~planted.region].mean())
    True
    """
    if shape not in _REGIONS:
        raise InputError(f"shape is {shape!r}: choose one of {', '.join(_REGIONS)}.")
    if not 0 < mass <= 0.25 or not 0 < error_density <= 1:
        raise InputError("mass must lie in (0, 0.25] and error_density in (0, 1].")
    rng = np.random.default_rng(random_state)
    X = pd.DataFrame(
        {
            "signal_a": rng.normal(size=n_rows),
            "signal_b": rng.normal(size=n_rows),
            "load": rng.uniform(size=n_rows),
            "height": rng.uniform(size=n_rows),
            "colour": pd.Categorical(rng.choice(LEVELS, size=n_rows), categories=list(LEVELS)),
        }
    )
    for i in range(n_noise):
        X[f"noise_{i}"] = rng.normal(size=n_rows)
    region, rule, columns = _REGIONS[shape](X, mass, rng)
    model = PlantedModel()
    p = model.predict_proba(X)[:, 1]
    draw = rng.uniform(size=n_rows)
    decision = p >= 0.5
    y = np.where(region, decision ^ (draw < error_density), draw < p).astype(np.int8)
    return Planted(X, y, p, model, region, rule, columns, error_density)


Region = tuple[BoolArray, str, tuple[str, ...]]


def _box(X: pd.DataFrame, mass: float, rng: np.random.Generator) -> Region:
    side = float(np.round(np.sqrt(mass), 2))
    low, left = (float(v) for v in rng.uniform(0, 1 - side, size=2).round(2))
    region = X["load"].between(low, low + side) & X["height"].between(left, left + side)
    rule = f"{low:g} <= load <= {low + side:g} and {left:g} <= height <= {left + side:g}"
    return region.to_numpy(), rule, ("load", "height")


def _categorical(X: pd.DataFrame, mass: float, rng: np.random.Generator) -> Region:
    cut = float(np.round(mass * len(LEVELS), 2))
    region = X["colour"].eq(LEVELS[0]) & X["load"].le(cut)
    return region.to_numpy(), f"colour is {LEVELS[0]!r} and load <= {cut:g}", ("colour", "load")


def _missing(X: pd.DataFrame, mass: float, rng: np.random.Generator) -> Region:
    region = rng.uniform(size=len(X)) < mass
    X.loc[region, "load"] = np.nan
    return region, "load is missing", ("load",)


def _none(X: pd.DataFrame, mass: float, rng: np.random.Generator) -> Region:
    return np.zeros(len(X), dtype=bool), "there is no region", ()


_REGIONS: dict[str, Callable[[pd.DataFrame, float, np.random.Generator], Region]] = {
    "box": _box,
    "categorical": _categorical,
    "missing": _missing,
    "none": _none,
}
