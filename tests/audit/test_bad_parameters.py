"""What cannot be had as asked: one sentence names the parameter, model, budget or machine."""

from __future__ import annotations

import os
import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.svm import LinearSVC

from falcon_discover import DataWarning, FalconDiscover, datasets, discover
from falcon_discover.data.files import write_results
from falcon_discover.data.table import Table
from falcon_discover.datasets import loaders
from falcon_discover.models.fitting import ONE_THREAD_CELLS, fit_candidate
from falcon_discover.signals import builder
from falcon_discover.signals.builder import STACK_ROWS
from falcon_discover.signals.mixing import stacked_mixes
from falcon_discover.signals.neighbours.index import NeighbourIndex
from support.refusals import falcon, quiet, refused


def test_a_threshold_is_of_two_classes(table):
    X, y = table
    with refused("threshold is 0.3, .*3 classes"):
        falcon(threshold=0.3).fit(X, np.arange(80) % 3)
    with refused("threshold is 1.5: .* between 0 and 1"):
        falcon(threshold=1.5).fit(X, y)


def test_a_tau_by_class_names_each_class(table):
    X, y = table
    for tau, fault in (
        ({0: 0.9}, "tau does not name '1'"),
        ({0: 0.9, 1: 0.9, 2: 0.8}, "tau names '2'"),
        ({0: 0.9, 1: 0.3}, r"tau\[1\] is 0.3: .* between 0.5 and 1"),
        ({}, "tau is empty"),
    ):
        with refused(fault):
            falcon(tau=tau).fit(X, y)


def test_half_a_calibration_set(table):
    X, y = table
    with refused("X_cal and y_cal .* both or neither"):
        falcon().fit(X, y, X_cal=X)


@quiet
def test_learned_without_validation_rows(table):
    X, y = table
    with refused("no validation rows: .*X_cal and y_cal.*'learned_oof'"):
        falcon(ranker="learned").fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"tau": 0.3}, "tau is 0.3: .* between 0.5 and 1"),
        ({"tau": 90}, "tau is 90"),
        ({"ranker": "best"}, "there is no ranker 'best': choose one of auto, random"),
        ({"ranker": 3}, "ranker is 3: .* object with fit"),
        ({"n_neighbors": 0}, "n_neighbors is 0: .* at least 1"),
        ({"mix": (0.1, 1.5)}, r"mix is \(0.1, 1.5\): give weights between 0 and 1"),
        ({"cv": 1}, "cv is 1: cross-fitting needs at least 2 folds"),
        ({"tau": "0.9"}, "tau is '0.9': "),
        ({"tau": None}, "tau is None: "),
        ({"n_neighbors": True}, "n_neighbors is True: .* whole number"),
        ({"mix": 0.1}, "mix is 0.1: give weights"),
        ({"mix": (0.1, "a")}, r"mix is \(0.1, 'a'\): give weights"),
        ({"cv": "five"}, "cv is 'five': .*number of folds"),
        ({"cv": []}, r"cv cannot split the rows .* list of \(train, test\) pairs"),
        ({"cv": GroupKFold(3)}, r"needs groups: .*fit\(X, y, groups="),
        ({"cv": ShuffleSplit(3, random_state=0)}, "cv holds out .* more than once"),
        ({"random_state": -1}, "random_state is -1: give a whole number from 0 to"),
        ({"random_state": "a"}, "random_state is 'a': give a whole number"),
        ({"n_jobs": "2"}, "n_jobs is '2': give a number of threads"),
        ({"n_jobs": 0}, "n_jobs is 0: give a number of threads"),
        ({"verbose": "loud"}, "verbose is 'loud': give 0, or 1"),
        ({"severity": 3}, "severity is 3: choose one of"),
    ],
)
@quiet
def test_bad_parameters(table, parameters, sentence):
    X, y = table
    with refused(sentence):
        FalconDiscover("logistic_regression", **({"random_state": 0} | parameters)).fit(X, y)
    if not {"mix", "verbose"} & set(parameters):
        with refused(sentence):
            discover(X, y, np.linspace(0, 1, len(y)), **parameters)


def test_an_unknown_backbone(table):
    X, y = table
    with refused("there is no backbone 'lightening': choose one of logistic_regression"):
        FalconDiscover("lightening").fit(X, y)


def test_a_model_without_probabilities():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.tile([0, 1], 30)
    with refused("LinearSVC has no predict_proba: wrap it in .*CalibratedClassifierCV"):
        FalconDiscover(FrozenEstimator(LinearSVC().fit(X, y))).fit(X, y)


def test_a_frozen_model_with_other_labels():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.tile([0, 1], 30)
    model = LogisticRegression().fit(X, y)
    with refused("the model's classes are .*0.* and .*1.*, but the labels hold .*'yes'"):
        FalconDiscover(FrozenEstimator(model)).fit(X, np.where(y, "yes", "no"))


@pytest.mark.parametrize(
    ("proba", "sentence"),
    [
        (
            np.full(79, 0.5),
            r"proba has the shape \(79,\): give one positive-class score per",
        ),
        (np.full(80, 1.5), r"proba is 1.5 in row 0 \(80 such rows\)"),
        (np.full(80, np.nan), "proba is nan in row 0"),
    ],
)
def test_bad_probabilities(table, proba, sentence):
    with refused(sentence):
        discover(*table, proba)


@quiet
@pytest.mark.parametrize(
    "budget", ["0.2", None, True, [0.2], float("nan"), pd.DataFrame({"a": [1]})]
)
def test_bad_budgets(table, budget):
    X, y = table
    found = discover(X, y, np.linspace(0, 1, len(y)), ranker="confidence", random_state=0)
    for ask in (found.review, found.missed_bound):
        with refused("budget is .*: give a share of the rows as a fraction"):
            ask(budget)
    with refused("budgets is .*: give a share of the rows"):
        found.evaluate(budgets=[budget])


@quiet
def test_bad_numbers_in_questions(table):
    X, y = table
    found = discover(X, y, np.linspace(0, 1, len(y)), ranker="confidence", random_state=0)
    for budgets in ((), None, "0.2", 0.2):
        with refused("budgets is .*: give a share of the rows"):
            found.evaluate(budgets=budgets)
    with refused("taus is 'high': give confidences between 0.5 and 1"):
        found.evaluate(taus="high")
    with refused("max_residual_rate is '1%': it must lie between 0 and 1"):
        found.review_budget("1%")


@quiet
def test_a_billion_neighbours_are_as_many_as_there_are(table):
    X, y = table
    p = np.linspace(0.05, 0.95, len(y))
    with pytest.warns(DataWarning, match="n_neighbors is lowered from 1000000000 to 64"):
        found = discover(X, y, p, n_neighbors=10**9, ranker="confidence", random_state=0)
    all_there = discover(X, y, p, n_neighbors=80, ranker="confidence", random_state=0)
    pd.testing.assert_frame_equal(found.frame(), all_there.frame(), check_exact=True)
    many = FalconDiscover(
        LogisticRegression(), n_mix_neighbors=10**9, ranker="confidence", random_state=0
    )
    assert many.fit(X[["steps", "size"]], y).examine().frame().notna().all().all()


@quiet
def test_decisions_in_place_of_probabilities(table):
    X, y = table
    with pytest.warns(DataWarning, match="proba contains only 0 and 1"):
        discover(X, y, y.astype(float))


@quiet
def test_rankers_that_need_a_model_say_so(table):
    X, y = table
    with refused("ranker 's_stab' needs mean_drift, label_consistency"):
        discover(X, y, np.full(80, 0.5), ranker="s_stab")


def test_ten_million_rows_on_paper(monkeypatch):
    """Work goes through in chunks whose size depends on the budget, never on the rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 20)), np.tile([0, 1], 150)
    fitted = FalconDiscover(LogisticRegression(), random_state=0).fit(X, y)
    sizes = []

    def counted(*given):
        mixes = stacked_mixes(*given)
        sizes.append(len(mixes))
        return mixes

    monkeypatch.setattr(builder, "stacked_mixes", counted)
    with sklearn.config_context(working_memory=1):
        fitted.transform(rng.normal(size=(2_000, 20)))
    assert sum(sizes) == 18 * 2_000
    assert max(sizes) * 20 * 24 <= 2**20
    measure, reference = fitted.audit_.builder, fitted.audit_.reference

    class Paper(Table):
        def __len__(self):
            return 10_000_000

    paper = Paper(X, Table.from_input(X).frame, Table.from_input(X).kinds, pd.RangeIndex(300))
    assert measure._stack_rows(paper, reference) <= STACK_ROWS // 18


def test_the_neighbour_search_never_holds_all_distances():
    rng = np.random.default_rng(0)
    index = NeighbourIndex(rng.normal(size=(20_000, 12)))
    rows = rng.normal(size=(10_000, 12)).astype(np.float32)
    tracemalloc.start()
    with sklearn.config_context(working_memory=16):
        index.query(rows, 25)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All distances would be 800 MB.
    assert peak < 60e6


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    review = pd.DataFrame({"row": [1], "reason": ["x"]})

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        write_results(tmp_path / "out", review, {})
    assert list((tmp_path / "out").iterdir()) == []


def test_no_network_names_the_ways_out(tmp_path, monkeypatch):
    def offline(**_):
        raise OSError("Name or service not known")

    monkeypatch.setattr(loaders, "fetch_openml", offline)
    monkeypatch.setattr(loaders, "cache_folder", lambda: tmp_path)
    monkeypatch.delenv(loaders.FOLDER_VARIABLE, raising=False)
    with refused(
        "data set 'phoneme' is not on this machine and OpenML did not answer .*three ways.*"
        "FALCON_DISCOVER_DATA.*datasets fetch phoneme"
    ):
        datasets.load("phoneme")
    with refused("MiniBooNE sample .* is not on OpenML in this form"):
        datasets.load("miniboone_subset")
    with refused("there is no data set 'titanic': choose one of adult"):
        datasets.load("titanic")


def test_skops_missing_is_said(tmp_path, monkeypatch):
    from falcon_discover.storage.objects import read_model

    (tmp_path / "m.skops").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with refused(r"--model needs a package that is not installed: pip install"):
        read_model(tmp_path / "m.skops")


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_a_large_catboost_fit_has_the_same_threads_whatever_is_asked_for(n_jobs):
    from falcon_discover.models.library import candidate

    pytest.importorskip("catboost")
    asked = []

    def make(seed, threads):
        asked.append(threads)
        return LogisticRegression()

    known = replace(candidate("catboost"), make=make)
    rows = np.zeros((ONE_THREAD_CELLS // 2, 2), dtype=np.float32)
    rows[::2] = 1
    fit_candidate(known, rows, rows[:, 0], seed=0, n_jobs=n_jobs)
    assert asked == [2]
