"""What a user sees when something is wrong: one sentence that names it and says what to do."""

from __future__ import annotations

import decimal
import os
import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.svm import LinearSVC

from falcon_discover import DataWarning, FalconDiscover, InputError, datasets, discover
from falcon_discover.data.files import write_results
from falcon_discover.data.table import Table
from falcon_discover.datasets import loaders
from falcon_discover.models.fitting import ONE_THREAD_CELLS, fit_candidate
from falcon_discover.runtime import notices
from falcon_discover.signals import builder
from falcon_discover.signals.builder import STACK_ROWS
from falcon_discover.signals.mixing import stacked_mixes
from falcon_discover.signals.neighbours.index import NeighbourIndex
from support.tables import awkward_table

quiet = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")


def falcon(**parameters) -> FalconDiscover:
    return FalconDiscover("logistic_regression", random_state=0, **parameters)


@pytest.fixture
def table():
    return awkward_table(80, seed=0)


def refused(sentence: str):
    return pytest.raises(InputError, match=sentence)


def test_one_class_only(table):
    X, y = table
    with refused(r"y has only one class \(1\)"):
        falcon().fit(X, np.ones_like(y))


def test_labels_that_are_a_quantity(table):
    X, _ = table
    with refused("y has 80 different values in 80 rows: that looks like a quantity"):
        falcon().fit(X, np.arange(80))


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


def test_one_row(table):
    X, y = table
    with refused("y has only one class"):
        falcon().fit(X[:1], y[:1])


def test_one_row_of_a_class(table):
    X, _ = table
    with refused("class 1 has only 1 sample: .* at least 2"):
        falcon().fit(X, (np.arange(80) == 5).astype(int))


@quiet
def test_fewer_rows_of_a_class_than_folds(table):
    X, _ = table
    with pytest.warns(DataWarning, match="the rarer class has 3 rows: cv is lowered from 5 to 3"):
        falcon().fit(X, (np.arange(80) < 3).astype(int))


@quiet
def test_one_new_row_is_fine(table):
    X, y = table
    fitted = falcon().fit(X, y)
    assert len(fitted.review(X[:1].assign(size=0.123), budget=1.0)) == 1


@quiet
def test_a_column_without_values(table):
    X, y = table
    with pytest.warns(DataWarning, match="column 'gap' has no values"):
        falcon().fit(X.assign(gap=np.nan), y)


@quiet
def test_a_constant_column(table):
    X, y = table
    with pytest.warns(DataWarning, match="column 'flat' is constant"):
        falcon().fit(X, y)


@quiet
def test_a_column_of_identifiers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": [f"row {i}" for i in range(600)], "x": rng.normal(size=600)})
    with pytest.warns(DataWarning, match="column 'id' has 600 different values"):
        fitted = falcon().fit(X, np.tile([0, 1], 300))
    assert fitted.audit_.reference.index.reference.shape[1] <= 258


@quiet
def test_an_unseen_category(table):
    X, y = table
    fitted = falcon().fit(X, y)
    new = awkward_table(20, seed=1)[0]
    new.loc[:2, "kind"] = "brand new"
    message = r"column 'kind' has 1 value .*\('brand new'\), in \d row"
    with pytest.warns(DataWarning, match=message):
        fitted.transform(new)


@quiet
def test_strings_as_labels(table):
    X, y = table
    fitted = falcon().fit(X, np.array(["good", "bad"])[y])
    assert list(fitted.classes_) == ["bad", "good"]
    with refused("y contains the label 'ugly', which is neither 'bad' nor 'good'"):
        fitted.evaluate(X, ["ugly"] * 80)


def test_labels_of_mixed_types(table):
    X, _ = table
    with refused("y mixes labels of different types"):
        falcon().fit(X, pd.Series([1, "one"] * 40, dtype=object))


def test_missing_labels(table):
    X, y = table
    holes = y.astype(float)
    holes[[3, 7]] = np.nan
    with refused(r"Input y contains NaN: 2 .*\(rows 3, 7\)"):
        falcon().fit(X, holes)


@quiet
def test_a_duplicated_index_is_harmless(table):
    X, y = table
    plain = falcon().fit(X, y).review(budget=0.5)
    doubled = falcon().fit(X.set_axis([0] * 80), y).review(budget=0.5)
    np.testing.assert_array_equal(plain["row"], doubled["row"])
    assert (doubled.index == 0).all()


def test_duplicated_column_names(table):
    X, y = table
    with refused("column 'size' appears more than once: rename the columns"):
        falcon().fit(X.rename(columns={"steps": "size"}), y)


def test_infinity(table):
    X, y = table
    X.loc[4, "size"] = np.inf
    with refused(r"column 'size' contains infinity in 1 row: replace it"):
        falcon().fit(X, y)


def test_no_rows_and_no_columns(table):
    X, y = table
    with refused(r"0 sample\(s\)"):
        falcon().fit(X[:0], y[:0])
    with refused(r"0 feature\(s\)"):
        falcon().fit(X[[]], y)


def test_rows_and_labels_that_do_not_match(table):
    X, y = table
    with refused("X has 80 rows and y has 79"):
        falcon().fit(X, y[:-1])


@quiet
def test_columns_of_another_table(table):
    X, y = table
    fitted = falcon().fit(X, y)
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- other"):
        fitted.transform(X.assign(other=1))
    with refused("column 'size' was numeric when fitted and holds a value that is not a numeric"):
        fitted.transform(X.assign(size="tall"))


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


COLUMNS = {
    "huge": (
        lambda n: np.full(n, 1e200),
        "column 'odd' contains 1e.200, which is too large, in 80",
    ),
    "huge whole": (
        lambda n: pd.Series([10**400] * n, dtype=object),
        "column 'odd' holds a value that is not a numeric value",
    ),
    "complex": (lambda n: np.full(n, 1j), "column 'odd' contains complex numbers"),
    "complex objects": (
        lambda n: pd.Series([1j] * n, dtype=object),
        "column 'odd' contains complex numbers",
    ),
    "signalling": (
        lambda n: [decimal.Decimal("sNaN")] * n,
        r"column 'odd' holds a value that is not a numeric value \(InvalidOperation\)",
    ),
    "half a character": (
        lambda n: pd.Series(["\ud800"] * n, dtype=object),
        r"column 'odd' contains '\\ud800', which is not valid text",
    ),
    "arrow list": (
        lambda n: pd.Series([[1]] * n, dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        "column 'odd' contains values that are not numbers",
    ),
    "arrow struct": (
        lambda n: pd.Series([{"a": 1}] * n, dtype=pd.ArrowDtype(pa.struct([("a", pa.int64())]))),
        "column 'odd' contains values that are not numbers",
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_odd_columns_are_named(table, name):
    X, y = table
    values, sentence = COLUMNS[name]
    with refused(sentence):
        discover(X.assign(odd=values(len(X))), y, np.linspace(0, 1, len(y)))


@quiet
def test_new_rows_beyond_single_precision_are_named(table):
    X, y = table
    fitted = falcon(ranker="confidence").fit(X, y)
    new = X[:5].assign(size=[0.1, 1e30, 0.2, 0.3, 0.4])
    assert np.isfinite(fitted.transform(new)).all().all()
    with refused(r"column 'size' contains 1e\+100, more than 1e\+37 standard deviations"):
        fitted.transform(new.replace(1e30, 1e100))


def test_column_names_of_two_levels(table):
    X, y = table
    X = X.set_axis(pd.MultiIndex.from_product([["a"], X.columns]), axis=1)
    with refused("X has column names with 2 levels"):
        falcon().fit(X, y)


@quiet
def test_a_pyarrow_table_is_a_table(table):
    X, y = table
    arrow = pa.Table.from_pandas(X)
    fitted = falcon(ranker="confidence").fit(arrow, y)
    wanted = falcon(ranker="confidence").fit(X, y)
    np.testing.assert_array_equal(fitted.transform(arrow[:30]), wanted.transform(X[:30]))


@quiet
@pytest.mark.parametrize(
    "labels",
    [
        [True, False],
        [1, 0],
        [1.0, 0.0],
        [decimal.Decimal(1), decimal.Decimal(0)],
    ],
    ids=["bool", "int", "float", "Decimal"],
)
def test_labels_that_come_as_objects(table, labels):
    X, y = table
    given = np.array([labels[0] if code else labels[1] for code in y], dtype=object)
    model = FalconDiscover(LogisticRegression(), ranker="confidence", random_state=0)
    wanted = model.fit(X[["steps", "size"]], y).evaluate()
    found = model.fit(X[["steps", "size"]], given).evaluate()
    assert found.verdict() == wanted.verdict()
    pd.testing.assert_frame_equal(found.captures, wanted.captures)
    called = ["predicted", "actual"]
    sides = [evaluation.sides.frame().drop(columns=called) for evaluation in (found, wanted)]
    pd.testing.assert_frame_equal(*sides)
    assert set(model.predict(X[["steps", "size"]])) <= set(labels)


@quiet
def test_labels_with_fractions(table):
    X, y = table
    given, p = np.where(y, 2.5, -1.0), np.linspace(0, 1, len(y))
    found = discover(X, given, p, ranker="confidence", random_state=0)
    assert set(found.review()["predicted"]) <= {2.5, -1.0}
    with refused("labels -1.0 and 2.5, .*continuous"):
        FalconDiscover(LogisticRegression()).fit(X[["steps"]], given)


@pytest.mark.parametrize("y", ["labels", {1: 2}, 3, [1j, 2j] * 40])
def test_what_is_no_column_of_labels(table, y):
    X, _ = table
    with pytest.raises(InputError):
        discover(X, y, np.linspace(0, 1, len(X)))


@quiet
def test_labels_in_another_order_are_refused(table):
    X, y = table
    labels, p = pd.Series(y), pd.Series(np.linspace(0, 1, len(y)))
    backwards = labels[::-1]
    with refused(r"X and y have the same row labels in another order: .*y.loc\[X.index\]"):
        falcon().fit(X, backwards)
    with refused("X and proba have the same row labels in another order"):
        discover(X, labels, p[::-1])
    fitted = falcon(ranker="confidence").fit(X, labels)
    with refused("X and y have the same row labels in another order"):
        fitted.examine(X, backwards)
    # Other labels, or repeated ones, say nothing about the order.
    by_position = [labels.set_axis(range(5, 85)), labels.set_axis([0] * 80), labels]
    for given in by_position:
        assert str(fitted.examine(X, given).evaluate()) == str(fitted.examine(X, y).evaluate())


@pytest.mark.filterwarnings("ignore:column 'flat' is constant")
@pytest.mark.parametrize(
    "leak",
    [lambda y: y, lambda y: 1 - y, lambda y: np.where(y, "yes", "no")],
    ids=["labels", "the other way", "names"],
)
def test_the_target_among_the_columns(table, leak):
    X, y = table
    p = np.linspace(0, 1, len(y))
    words = "column 'copy' gives away the class"
    with notices.collected() as noticed:
        discover(X.assign(copy=leak(y)), y, p, ranker="confidence", random_state=0)
    assert any(note.startswith(words) for note in noticed)
    nearly = np.where(np.arange(80) == 79, 1 - y, y)
    with notices.collected() as noticed:
        discover(X.assign(copy=nearly), y, p, ranker="confidence", random_state=0)
    assert not any(note.startswith(words) for note in noticed)
