"""Audits of every kind on rows whose truth is known, and what they are asked."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from falcon_discover import FalconDiscover, load
from falcon_discover.calibration.calibrators import CALIBRATORS
from falcon_discover.storage import contents

METHODS = (*CALIBRATORS, "discrepancy")
TAU = 0.8
FIT_ROWS = 160
WORLDS = ("events", "no event", "nothing confident")
KINDS = (
    "library",
    "own model",
    "frozen",
    "predictions",
    "loaded predictions",
    "loaded full",
    "loaded sample",
    "loaded none",
)


@dataclass(frozen=True, eq=False)
class Rows:
    X: pd.DataFrame
    y: np.ndarray
    p: np.ndarray


def rows_of(world: str, seed: int, n: int = FIT_ROWS) -> Rows:
    """Labelled rows whose truth is known, with the scores of a model that knows part of it."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.integers(0, 3, n)})
    if world == "nothing confident":
        return Rows(X, rng.permutation(np.arange(n) % 2), np.full(n, 0.55))
    # Away from the boundary, so that a linear model is sure of every row and right.
    X["a"] += 2 * np.sign(X["a"])
    y = (X["a"] > 0).to_numpy().astype(int)
    p = np.where(y == 1, 0.95, 0.05) + rng.uniform(-0.04, 0.04, n)
    if world == "events":
        wrong = (X["c"] == 2).to_numpy() & (rng.random(n) < 0.4)
        y = np.where(wrong, 1 - y, y)
    return Rows(X, y, p)


def own_model() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression())


@functools.cache
def fitted(world: str, kind: str) -> FalconDiscover:
    rows = rows_of(world, seed=0)
    if kind == "predictions":
        falcon = FalconDiscover("precomputed", tau=TAU, cv=3, n_neighbors=5, random_state=0)
        return falcon.fit(rows.X, rows.y, proba=rows.p)
    elsewhere = rows_of(world, seed=2)
    estimator = {
        "library": lambda: "logistic_regression",
        "own model": own_model,
        "frozen": lambda: FrozenEstimator(own_model().fit(elsewhere.X, elsewhere.y)),
    }[kind]()
    return FalconDiscover(estimator, tau=TAU, cv=3, n_neighbors=5, random_state=0).fit(
        rows.X, rows.y
    )


@functools.cache
def audit(world: str, kind: str, folder: Any) -> FalconDiscover:
    if kind == "loaded predictions":
        return load(fitted(world, "predictions").save(folder / f"{world}-predictions.falcon"))
    if kind.startswith("loaded"):
        path = folder / f"{world}-{kind}.falcon"
        # So that a sample of these few rows leaves some out.
        with patch.object(contents, "SAMPLE_AT_LEAST", 80):
            fitted(world, "own model").save(path, reference=kind.removeprefix("loaded "))
        return load(path)
    return fitted(world, kind)


def scores_of(asked: FalconDiscover, new: Rows) -> dict[str, Any]:
    """What an audit without a model must be given with rows."""
    return {"proba": new.p} if asked.audit_.model is None else {}


NEED_A_MODEL = {"conflict", "calibration_weights", "calibrator weighted", "plot conflict"}


OF_A_FALCON: dict[str, Callable[[FalconDiscover, Rows, Any, dict[str, Any]], Any]] = {
    "transform": lambda f, new, _, p: f.transform(new.X, **p),
    "score_samples": lambda f, new, _, p: (f.score_samples(new.X, **p), f.score_samples()),
    "examine": lambda f, new, _, p: (
        f.examine(new.X, new.y, **p),
        f.examine(new.X, **p),
        f.examine(),
    ),
    "predict_proba": lambda f, new, _, p: f.predict_proba(new.X, **p),
    "predict": lambda f, new, _, p: f.predict(new.X, **p),
    "score": lambda f, new, _, p: None if p else f.score(new.X, new.y),
    "review": lambda f, new, _, p: (f.review(new.X, budget=0.1, **p), f.review(budget=0.1)),
    "evaluate": lambda f, new, _, p: (f.evaluate(new.X, new.y, **p), f.evaluate()),
    "review_budget": lambda f, new, _, p: f.review_budget(0.05, X=new.X, y=new.y, **p),
    "report": lambda f, new, folder, p: f.report(
        folder / "one.html", new.X, new.y, contributions=False, **p
    ),
    "contributions": lambda f, new, _, p: f.contributions(),
    "conflict": lambda f, new, _, p: (f.conflict(new.X, new.y, **p), f.conflict()),
    "calibration_weights": lambda f, new, _, p: f.calibration_weights(new.X, new.y, **p),
    "calibrated": lambda f, new, _, p: [
        f.calibrated(method).predict_proba(new.X, **p) for method in METHODS
    ],
    "monitor": lambda f, new, _, p: repr(f.monitor(new.X, **p).compare(new.y)),
    "learn": lambda f, new, _, p: f.learn(new.X, new.y, **p).learned_.words(),
    "learned_": lambda f, new, _, p: f.learned_,
    "save": lambda f, new, folder, p: f.save(folder / "again.falcon", reference="none"),
    "plot": lambda f, new, _, p: repr(f.plot),
    "get_feature_names_out": lambda f, new, _, p: f.get_feature_names_out(),
    "neighbour_recall_": lambda f, new, _, p: f.neighbour_recall_,
    "ranker_": lambda f, new, _, p: f.ranker_.score(f.examine(new.X, **p).state),
    "new_rows": lambda f, new, _, p: f.new_rows(new.X),
    "given_scores": lambda f, new, _, p: f.given_scores(
        new.X, f.new_rows(new.X), **p or {"proba": None}
    ),
}
