"""Rows of weight 0 are judged like all others, and count and teach as if they were not there."""

from __future__ import annotations

import math

import numpy as np
import pytest

from falcon_discover import FalconDiscover, datasets, discover
from falcon_discover.data.labels import Labels
from falcon_discover.models.folds import make_folds
from support.refusals import refused

# What little is left to learn from is said elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")

ROWS = datasets.make_planted(300, random_state=0)
X = ROWS.X[["signal_a", "load", "colour"]]
Y, P = ROWS.y, ROWS.proba
SURE = np.maximum(P, 1 - P) >= 0.9
WRONG = (P >= 0.5) != Y
SMALL = {"cv": 3, "n_neighbors": 3, "n_regions": 2, "random_state": 0, "n_jobs": 1}
WEIGHTLESS = {
    "every second row": np.arange(300) % 2 == 0,
    "confident errors": SURE & WRONG,
    "errors": WRONG,
    "confident rows": SURE,
    "all but a few": np.arange(300) % 20 > 0,
}
QUESTIONS = {
    "text": str,
    "evaluate": lambda found: str(found.evaluate()),
    "dict": lambda found: found.to_dict(),
    "missed": lambda found: found.missed_bound(0.1),
    "band": lambda found: found.missed_bound(0.1, simultaneous=True),
    "budget": lambda found: found.review_budget(0.01),
    "noise": lambda found: str(found.label_noise()),
    "doubt": lambda found: found.label_doubt(),
    "periods": lambda found: found.by_period(np.arange(300)),
    "regions": lambda found: str(found.regions),
    "cost": lambda found: str(found.costing(np.arange(300)).evaluate()),
}


@pytest.mark.parametrize("ranker", ["auto", "gated_confidence", "learned_oof"])
@pytest.mark.parametrize("without", WEIGHTLESS)
def test_every_question_is_answered_whichever_rows_weigh_nothing(without, ranker):
    weight = np.where(WEIGHTLESS[without], 0.0, 1.0)
    found = discover(X, Y, P, sample_weight=weight, ranker=ranker, **SMALL)
    assert np.isfinite(found.suspicion()).all()
    assert found.label_doubt()["label_doubt"].between(0, 1).all()
    for ask in QUESTIONS.values():
        ask(found)


@pytest.mark.parametrize("without", ["confident errors", "confident rows"])
def test_a_model_is_audited_and_recalibrated_whichever_rows_weigh_nothing(without):
    weight = np.where(WEIGHTLESS[without], 0.0, 1.0)
    falcon = FalconDiscover("logistic_regression", **SMALL).fit(X, Y, sample_weight=weight)
    found = falcon.examine()
    assert np.isfinite(found.suspicion()).all()
    str(found.conflict())
    assert np.isfinite(falcon.calibrated("discrepancy").predict_proba(X)).all()
    assert np.isfinite(falcon.monitor(X).errors)


def test_a_fold_may_have_all_that_counts():
    few, weight = X[:120], np.arange(120) % 4
    falcon = FalconDiscover("logistic_regression", **{**SMALL, "cv": 2, "n_regions": 1})
    falcon.fit(few, Y[:120], groups=np.arange(120) // 3, sample_weight=weight)
    assert np.isfinite(falcon.examine().risk()).all()
    assert np.isfinite(falcon.monitor(X[120:]).errors_high)


def test_they_do_not_count():
    there = np.arange(300) % 3 > 0
    whole = discover(X, Y, P, sample_weight=there.astype(float), ranker="confidence", **SMALL)
    part = discover(X[there], Y[there], P[there], ranker="confidence", **SMALL)
    budgets = (0.05, 0.2)
    whole, part = (found.evaluate(budgets=budgets).frame() for found in (whole, part))
    # At random, the rows that do not count are dealt out too.
    whole, part = (table[table["ranker"] != "random"] for table in (whole, part))
    for name in ("rows", "eligible", "events", "captured", "captured_surprise"):
        assert whole[name].to_numpy(float) == pytest.approx(part[name].to_numpy(float)), name


def test_what_no_row_that_counts_has_is_not_defined():
    weight = np.where(SURE & WRONG, 0.0, 1.0)
    found = discover(X, Y, P, sample_weight=weight, ranker="confidence", **SMALL)
    table = found.evaluate(taus=(0.9, 0.95)).frame()
    assert (table["events"] == 0).all()
    assert all(math.isnan(value) for value in table["captured_surprise"])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("grouped", [False, True])
def test_something_to_learn_is_left_without_each_fold(seed, grouped):
    # Three rows of each class count, among sixty.
    codes = np.arange(60) % 2
    weight = np.where(np.arange(60) < 6, 1.0, 0.0)
    group = np.arange(60) // 2 if grouped else None
    folds = make_folds(3, Labels(np.array([0, 1]), codes.astype(np.int8)), seed, group, weight)
    assert len(folds) == 3
    for others, _ in folds:
        assert set(codes[others[weight[others] > 0]]) == {0, 1}


def test_a_class_without_weight_is_refused():
    with refused("class 1 has no sample with a weight above 0"):
        discover(X, Y, P, sample_weight=np.where(Y == 1, 0.0, 1.0), **SMALL)
    one = np.flatnonzero(Y == 1)[0]
    weight = np.where((Y == 1) & (np.arange(300) != one), 0.0, 1.0)
    with refused("class 1 occurs in only 1 group with a weight above 0"):
        discover(X, Y, P, sample_weight=weight, groups=np.arange(300) // 2, **SMALL)
