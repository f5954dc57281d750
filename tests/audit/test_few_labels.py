"""Tables with little to learn from: every public method answers, in words that say how little."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from falcon_discover import DataWarning, FalconDiscover, load
from falcon_discover.calibration.calibrators import CALIBRATORS
from falcon_discover.scoring.run import score_files

TAU = 0.9


@dataclass(frozen=True, eq=False)
class Rows:
    X: pd.DataFrame
    y: np.ndarray
    p: np.ndarray


def rows_of(world: str, seed: int, n: int | None = None) -> Rows:
    """Rows of a model that is almost always right, with as many labels as the name says."""
    rng = np.random.default_rng(seed)
    n = n or {"20 rows": 20, "12 rows, 2 of a class": 12}.get(world, 300)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.integers(0, 3, n)})
    X["a"] += 2 * np.sign(X["a"])
    if world == "class of five":
        X["a"] = np.where(np.arange(n) % 60 == 0, 4.0, -3.0) + rng.normal(0, 0.3, n)
    if world == "12 rows, 2 of a class":
        X["a"] = np.where(np.arange(n) % 6 == 0, 4.0, -3.0) + rng.normal(0, 0.3, n)
    y = (X["a"] > 0).to_numpy().astype(int)
    p = np.where(y == 1, 0.97, 0.03) + rng.uniform(-0.02, 0.02, n)
    wrong = {"seven events": 7, "one event": 1, "20 rows": 1, "all wrong": n}.get(world, 0)
    places = rng.permutation(n)[:wrong]
    y[places] = 1 - y[places]
    if world == "nothing confident":
        p = np.clip(p, 0.3, 0.7)
        X["a"] = rng.normal(size=n)
        y = rng.integers(0, 2, n)
    if world == "three classes":
        middle = np.arange(n) % 60 == 1
        y = np.where(middle, 2, y)
        p = np.column_stack([1 - p, p, np.zeros(n)])
        p[middle] = [0.02, 0.02, 0.96]
    return Rows(X, y, p)


WORLDS = (
    "seven events",
    "one event",
    "no event",
    "nothing confident",
    "20 rows",
    "class of five",
    "12 rows, 2 of a class",
    "all wrong",
    "three classes",
)
KINDS = ("predictions", "own model", "loaded")
CASES = [
    (world, kind)
    for world in WORLDS
    for kind in KINDS
    if kind != "loaded" or world in ("one event", "20 rows")
]
# Saved audits are of two classes.
SAVED = tuple(world for world in WORLDS if world != "three classes")


@functools.cache
def fitted(world: str, kind: str, folder: Any) -> FalconDiscover:
    rows = rows_of(world, 0)
    if kind == "loaded":
        path = folder / f"{world}.falcon"
        return load(fitted(world, "own model", folder).save(path))
    if kind == "predictions":
        falcon = FalconDiscover("precomputed", tau=TAU, cv=3, random_state=0)
        return falcon.fit(rows.X, rows.y, proba=rows.p)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    return FalconDiscover(model, tau=TAU, cv=3, random_state=0).fit(rows.X, rows.y)


CALLS: dict[str, Callable[[FalconDiscover, Rows, dict[str, Any], Any], Any]] = {
    "fit rows": lambda f, new, p, _: repr(f.examine()),
    "new rows": lambda f, new, p, _: repr(f.examine(new.X, new.y, **p)),
    "unlabelled": lambda f, new, p, _: repr(f.examine(new.X, **p)),
    "review": lambda f, new, p, _: f.review(new.X, 5, cost=np.ones(len(new.X)), **p),
    "evaluate": lambda f, new, p, _: (f.evaluate(new.X, new.y, **p).to_dict(), f.evaluate()),
    "evaluate counts": lambda f, new, p, _: repr(f.evaluate(budgets=[1, 5, 0.5])),
    "review_budget": lambda f, new, p, _: repr(f.review_budget(0.01)),
    "review_budget of a batch": lambda f, new, p, _: repr(f.review_budget(0.01, batch=10)),
    "missed_bound": lambda f, new, p, _: repr(f.examine().missed_bound(3, simultaneous=True)),
    "by_period": lambda f, new, p, _: repr(
        f.examine().by_period(np.arange(len(f.score_samples())))
    ),
    "regions": lambda f, new, p, _: (repr(f.regions_), f.regions_.frame()),
    "contributions": lambda f, new, p, _: repr(f.contributions()),
    "conflict": lambda f, new, p, _: None if p else (repr(f.conflict()), f.conflict(new.X, new.y)),
    **{
        f"calibrated {method}": lambda f, new, p, _, method=method: f.calibrated(
            method
        ).predict_proba(new.X, **p)
        for method in (*CALIBRATORS, "discrepancy")
    },
    "transform": lambda f, new, p, _: f.transform(new.X, **p),
    "report": lambda f, new, p, folder: f.report(folder / "fit.html", contributions=False),
    "report of new rows": lambda f, new, p, folder: f.report(
        folder / "new.html", new.X, new.y, contributions=False, **p
    ),
    "one row": lambda f, new, p, _: f.review(
        new.X[:1], 1, **{name: value[:1] for name, value in p.items()}
    ),
}


def score_a_file(falcon: FalconDiscover, new: Rows, folder: Any) -> pd.DataFrame:
    falcon.save(folder / "audit.falcon")
    columns, proba = {}, []
    if falcon.audit_.model is None:
        given = new.p[:, None] if new.p.ndim == 1 else new.p
        columns = {f"p{i}": given[:, i] for i in range(given.shape[1])}
        proba = list(columns)
    new.X.assign(**columns).to_parquet(folder / "new.parquet")
    score_files(folder / "audit.falcon", [folder / "new.parquet"], folder / "out", proba=proba)
    return pd.read_parquet(folder / "out")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("few")


@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
@pytest.mark.parametrize(("world", "kind"), CASES)
def test_every_method_answers(world, kind, folder, tmp_path):
    falcon = fitted(world, kind, folder)
    new = rows_of(world, 1)
    given = {"proba": new.p} if kind == "predictions" else {}
    for name, call in CALLS.items():
        try:
            call(falcon, new, given, tmp_path)
        except Exception as error:
            raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error
    if world in SAVED:
        scores = score_a_file(falcon, new, tmp_path)
        np.testing.assert_array_equal(scores["suspicion"], falcon.score_samples(new.X, **given))


def asked(world: str) -> FalconDiscover:
    rows = rows_of(world, 0)
    falcon = FalconDiscover("precomputed", tau=TAU, cv=3, random_state=0)
    return falcon.fit(rows.X, rows.y, proba=rows.p)


def test_too_few_errors_to_learn_from_are_said_to_be():
    with pytest.warns(DataWarning, match="7 of them confident: too few to learn from"):
        falcon = asked("seven events")
    suspicion, confidence = falcon.score_samples(), falcon.examine().state.confidence
    # Gated confidence: the least sure of the confident rows first.
    order = np.argsort(-suspicion, kind="stable")
    assert (np.diff(confidence[order]) >= 0).all()


@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
def test_no_event_is_a_result_with_a_bound():
    found = asked("no event").examine()
    words = repr(found.evaluate())
    assert "None of those was wrong" in words
    assert "With 95% confidence, fewer than" in words
    assert found.missed_bound(0.1).missed == 0
    # Of 300 rows without an event, at most so many are in the long run: 1 - 0.05 ** (1 / 270).
    assert found.missed_bound(0.1).upper == pytest.approx(1 - 0.05 ** (1 / 270))
    assert found.evaluate().captures["capture"].isna().all()


@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
def test_no_confident_prediction_is_a_result():
    found = asked("nothing confident").examine()
    for result in (found.evaluate(), found.review_budget(0.01), found.by_period(found.index)):
        assert re.search("(None of|[Nn]o prediction).* 90% confidence", repr(result))


@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
def test_one_event_has_no_interval_that_would_not_hold():
    found = asked("one event").examine()
    ranks = found.evaluate().rankings
    assert ranks["eligible_auroc_low"].isna().all()
    assert "not defined" in repr(found.evaluate())
