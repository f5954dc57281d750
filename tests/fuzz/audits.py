"""Whole audits of generated rows, and every question that can be asked of them."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.frozen import FrozenEstimator

from falcon_discover import FalconDiscover, Finding, datasets, discover, load
from falcon_discover.monitoring.batch import ALARMS, BatchReport
from fuzz.doors import ODD, right
from fuzz.models import WAYS, ModelError, Strange
from fuzz.outcome import outcome
from fuzz.parts import Part
from strategies import SEEDS, Given, frames, made, tables
from support.row_values import AMOUNTS, GROUPS, LABELS, PROBABILITIES

ROWS = st.shared(st.sampled_from((4, 12, 24, 40)), key="rows of an audit")
# Neighbours and folds are few: what is odd about rows shows with few of them.
SMALL: dict[str, Any] = {"cv": 2, "n_neighbors": 3, "n_regions": 2, "random_state": 0, "n_jobs": 1}


def check_finding(found: Finding, X: Any) -> None:
    """Hold a finding to what can be said of it without knowing how it was found."""
    n = len(found.state)
    suspicion, p = found.suspicion(), found.state.p
    right(suspicion.shape == (n,) and np.isfinite(suspicion).all(), "suspicion is not finite")
    right(((p >= 0) & (p <= 1)).all(), "a score is no probability")
    risk = found.risk()
    if risk is not None:
        right(((risk >= 0) & (risk <= 1)).all(), "a risk is no probability")
        right((risk[~found.state.eligible(found.tau)] == 0).all(), "risk where no error can be")
    frame = found.frame()
    right(len(frame) == n and not np.isinf(frame.to_numpy()).any(), "a signal is infinite")


def check_review(found: Finding, budget: Any, cost: Any = None) -> None:
    listed = found.review(budget, cost)
    rows = listed["row"].to_numpy()
    right(len(set(rows)) == len(rows) and set(rows) <= {*range(len(found.state))}, "other rows")
    right((listed["confidence"].to_numpy() == found.state.confidence[rows]).all(), "confidence")
    if cost is None:
        right((np.diff(listed["suspicion"]) <= 0).all(), "not the most suspicious first")
    str(listed)


def _strict(content: Any) -> None:
    json.dumps(content, allow_nan=False)


QUESTIONS: dict[str, Any] = {
    "review": lambda found, a, b, amounts, times: check_review(found, a),
    "review by cost": lambda found, a, b, amounts, times: check_review(found, 5, amounts),
    "evaluate": lambda found, a, b, amounts, times: _strict(
        found.evaluate(budgets=(a,), taus=(b,)).to_dict()
    ),
    "evaluate, as usual": lambda found, a, b, amounts, times: str(found.evaluate()),
    "review_budget": lambda found, a, b, amounts, times: _strict(
        found.review_budget(a, b).to_dict()
    ),
    "review_budget, as usual": lambda found, a, b, amounts, times: str(found.review_budget(0.01)),
    "missed_bound": lambda found, a, b, amounts, times: _strict(found.missed_bound(a, b).to_dict()),
    "missed_bound of a batch": lambda found, a, b, amounts, times: str(
        found.missed_bound(0.2, batch=a)
    ),
    "by_period": lambda found, a, b, amounts, times: _strict(found.by_period(times).to_dict()),
    "label_doubt": lambda found, a, b, amounts, times: right(
        found.label_doubt()["label_doubt"].between(0, 1).all(), "a doubt is no probability"
    ),
    "label_noise": lambda found, a, b, amounts, times: _strict(found.label_noise().to_dict()),
    "regions": lambda found, a, b, amounts, times: _strict(found.regions.to_dict()),
    "text": lambda found, a, b, amounts, times: (str(found), found._repr_html_()),
    "dict": lambda found, a, b, amounts, times: _strict(found.to_dict()),
}


# What is odd about rows, bit by bit: mostly nothing or one thing, so that some of it gets far.
ODDITIES = st.sampled_from((0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 3, 5, 24, 33, 48, 255))


@st.composite
def audited(draw: st.DrawFn) -> dict[str, Any]:
    """Rows to audit."""
    odd, drawn = draw(ODDITIES), draw(st.integers(0, 3))
    n = draw(ROWS)
    case: dict[str, Any] = {
        "X": draw(tables(n) if odd & 1 else frames(n, ordinary=True)),
        "y": draw(made(LABELS if odd & 2 else _some(LABELS, USUAL_Y), ROWS)),
        "proba": draw(made(PROBABILITIES if odd & 4 else _some(PROBABILITIES, USUAL_P), ROWS)),
        "options": {},
    }
    if drawn & 1 or odd & 8:
        case["sample_weight"] = draw(made(AMOUNTS if odd & 8 else _some(AMOUNTS, USUAL_W), ROWS))
    if drawn & 2 or odd & 16:
        case["groups"] = draw(made(GROUPS if odd & 16 else _some(GROUPS, USUAL_G), ROWS))
    if odd & 32:
        names = st.sampled_from(("tau", "threshold", "ranker", "severity", "n_neighbors", "cv"))
        case["options"] = draw(st.dictionaries(names, SETTING, max_size=2))
    return case


def _some(makers: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: makers[name] for name in names}


USUAL_Y = ("0 and 1", "texts", "booleans")
USUAL_W = ("whole", "fractions", "some zero", "nullable")
USUAL_G = ("numbers", "texts", "all different")
USUAL_P = ("scores", "two columns", "constant", "float32")
SETTING = st.one_of(
    ODD,
    st.sampled_from(["gated_confidence", "confidence", "random", "s_disc", "learned_oof", 0.05,
                     0.95, "surprise", 2, 3, {0: 0.9, 1: 0.7}, {"no": 0.6, "yes": 0.99}]),
)  # fmt: skip


def given_to(case: dict[str, Any]) -> dict[str, Any]:
    return {k: v.value if isinstance(v, Given) else v for k, v in case.items() if k != "options"}


def audit(case: tuple[dict[str, Any], str, Any, Any, Given, Given]) -> str:
    """Audit predictions, check the finding, and ask it one question."""
    rows, question, a, b, amounts, times = case
    given = given_to(rows)

    def call() -> None:
        # The ranker that learns costs ten times as much, and has a part of its own.
        options = {"ranker": "gated_confidence", **SMALL, **rows["options"]}
        found = discover(**given, **options)
        check_finding(found, given["X"])
        _check_events(found, given)
        QUESTIONS[question](found, a, b, amounts.value, times.value)

    return outcome(call, *given.values(), amounts.value, times.value)


def _check_events(found: Finding, given: dict[str, Any]) -> None:
    """Count the confident errors by hand, where the scores are plain ones of two classes."""
    p = np.asarray(given["proba"])
    if (
        p.ndim != 1
        or p.dtype != np.float64
        or found.audit.threshold != 0.5
        or found.cost is not None
    ):
        return
    if not isinstance(found.tau, float) or len(found.classes) != 2:
        return
    # As objects: an array of texts would lose a NUL at their end.
    y = _texts(np.asarray(given["y"], dtype=object).ravel())
    names = _texts(found.classes)
    decided = names[(p >= 0.5).astype(int)]
    events = (decided != y) & (np.where(p >= 0.5, p, 1 - p) >= found.tau)
    right((found.events == events).all(), "other rows are confident errors")


def _texts(labels: Any) -> Any:
    """Return labels as texts that are the same for one moment in any type."""
    moments = np.asarray(labels).dtype.kind == "M"
    return np.array([str(pd.Timestamp(v) if moments else v) for v in labels], dtype=object)


def learned_audit(case: tuple[dict[str, Any], str, Any, Any, Given, Given]) -> str:
    rows = {**case[0], "options": {"ranker": "auto", **case[0]["options"]}}
    return audit((rows, *case[1:]))


def odd_model(case: tuple[str, Given, int, str]) -> str:
    """Audit a model that misbehaves."""
    way, rows, seed, asked = case
    X = rows.value
    rng = np.random.default_rng(seed)
    classes = ("no", "yes") if seed % 3 else ("a", "b", "c")
    y = rng.choice(classes, len(X))
    model = Strange(way, classes)
    options = {**SMALL, "ranker": "gated_confidence", "mix": (0.2,), "n_mix_neighbors": 2}

    def call() -> None:
        falcon = FalconDiscover(FrozenEstimator(model), **options).fit(X, y)
        found = falcon.examine() if asked == "fit" else falcon.examine(X.iloc[::-1], y[::-1])
        check_finding(found, X)
        check_review(found, 0.2)
        if way in ("none", "float32", "one buffer", "classes turned", "frame", "list"):
            expected = Strange("none", classes).predict_proba(X if asked == "fit" else X.iloc[::-1])
            order = [classes.index(label) for label in found.classes]
            shown = expected[:, order[1]] if len(classes) == 2 else expected[:, order]
            right(np.allclose(found.state.p, shown, atol=1e-6), "other scores than the model's")

    return outcome(call, X, y, allowed=(ModelError,))


@cache
def standing(kind: str) -> FalconDiscover:
    """Return an audit that stands while rows come in."""
    rows = datasets.make_planted(120, random_state=0)
    X = rows.X[["signal_a", "load", "colour"]]
    options = {**SMALL, "n_regions": 1}
    if kind == "predictions":
        return FalconDiscover("precomputed", **options).fit(X, rows.y, proba=rows.proba)
    if kind == "grouped":
        falcon = FalconDiscover("logistic_regression", **options)
        return falcon.fit(X, rows.y, groups=np.arange(120) // 3, sample_weight=np.arange(120) % 4)
    if kind == "costly":
        falcon = FalconDiscover("logistic_regression", ranker="gated_confidence", **options)
        return falcon.fit(X, rows.y)
    falcon = FalconDiscover("logistic_regression", **options).fit(X, rows.y)
    if kind == "model":
        return falcon
    with tempfile.TemporaryDirectory() as folder:
        keep = "none" if kind == "without rows" else "full"
        return load(falcon.save(Path(folder, "a.falcon"), keep))


KINDS = ("model", "predictions", "grouped", "costly", "without rows", "loaded")


def _later(falcon: FalconDiscover, asked: str, given: dict[str, Any], level: Any) -> None:
    X, y, proba = given["X"], given["y"], given["proba"]
    if asked == "score_samples":
        found = (
            falcon.score_samples(X) if proba is None else falcon.examine(X, proba=proba).suspicion()
        )
        right(np.isfinite(found).all(), "suspicion is not finite")
    elif asked == "monitor":
        report = (
            falcon.monitor(X, proba=proba)
            if level is None
            else falcon.monitor(X, proba=proba, confidence_level=level)
        )
        check_batch(report)
    elif asked == "compare":
        compared = falcon.monitor(X, proba=proba).compare(y)
        _strict(compared.to_dict())
    elif asked == "learn":
        wiser = falcon.learn(X, y, proba=proba, sample_weight=given["weight"])
        right(wiser.learned_ is not None, "nothing was learned")
    elif asked == "evaluate":
        falcon.evaluate(X, y, proba=proba, sample_weight=given["weight"], groups=given["groups"])
    elif asked == "transform":
        right(not np.isinf(np.asarray(falcon.transform(X))).any(), "a signal is infinite")
    else:
        check_review(falcon.examine(X, y, proba=proba), 0.2)


def check_batch(report: BatchReport) -> None:
    right(0 <= report.errors_low <= report.errors_high <= report.rows, "no interval of a number")
    right(report.errors_low <= np.ceil(report.errors) and np.isfinite(report.errors), "no estimate")
    right(report.alarm in ALARMS, "no alarm")
    _strict(report.to_dict())
    str(report)


ASKED = ("score_samples", "monitor", "compare", "learn", "evaluate", "transform", "review")


CHANGES: dict[str, Any] = {
    "turned": lambda X: X.iloc[:, ::-1],
    "fewer": lambda X: X.iloc[:, :2],
    "more": lambda X: X.assign(more=1),
    "array": lambda X: X.to_numpy(),
    "none": lambda X: X.iloc[:0],
    "renamed": lambda X: X.rename(columns=str.upper),
    "objects": lambda X: X.astype(object),
    "one row again and again": lambda X: X.iloc[[0] * len(X)],
}


@st.composite
def or_odd(draw: st.DrawFn, *usual: Any) -> Any:
    return draw(ODD) if draw(st.integers(0, 3)) == 0 else draw(st.sampled_from(usual))


@st.composite
def later_rows(draw: st.DrawFn) -> tuple[str, str, dict[str, Any], Any]:
    kind, asked = draw(st.sampled_from(KINDS)), draw(st.sampled_from(ASKED))
    n, odd = draw(ROWS), draw(ODDITIES)
    rng = np.random.default_rng(draw(SEEDS))
    new = datasets.make_planted(n, random_state=int(rng.integers(2**31)))
    X: Any = new.X[["signal_a", "load", "colour"]]
    if odd & 1:
        column = draw(frames(n)).value
        if column.shape[1]:
            X = X.assign(**{draw(st.sampled_from(list(X))): column.iloc[:, 0].array})
    if odd & 2:
        X = CHANGES[draw(st.sampled_from(sorted(CHANGES)))](X)
    elif odd & 4:
        X = draw(tables(n)).value
    given: dict[str, Any] = {"X": X, "y": new.y, "proba": None, "weight": None, "groups": None}
    if odd & 8:
        given["y"] = draw(made(LABELS, ROWS)).value
        given["weight"] = draw(made(AMOUNTS, ROWS)).value
        given["groups"] = draw(made(GROUPS, ROWS)).value
    if kind == "predictions" or odd & 16:
        given["proba"] = draw(made(PROBABILITIES, ROWS, ("scores",))).value
    return kind, asked, given, draw(st.one_of(st.none(), ODD))


def later(case: tuple[str, str, dict[str, Any], Any]) -> str:
    kind, asked, given, level = case
    falcon = standing(kind)
    return outcome(lambda: _later(falcon, asked, given, level), *given.values())


_TIMES = {"numbers": lambda rng, n: rng.integers(0, 9, n), **GROUPS}
_CASE = st.tuples(
    audited(),
    st.sampled_from(sorted(QUESTIONS)),
    or_odd(0.2, 5, 0.01),
    or_odd(0.9, 0.95, 0.8),
    made(AMOUNTS, ROWS, USUAL_W),
    made(_TIMES, ROWS, ("numbers", "moments")),
)

PARTS = (
    Part("audits of predictions, and a question", _CASE, audit, 2_000),
    Part("the same with the ranker that learns", _CASE, learned_audit, 400),
    Part(
        "models that misbehave",
        st.tuples(
            st.sampled_from(sorted(WAYS)),
            frames(24, ordinary=True),
            SEEDS,
            st.sampled_from(("fit", "new rows")),
        ),
        odd_model,
        1_000,
    ),
    Part("later rows: scored, monitored, compared, learned from", later_rows(), later, 2_000),
)
