"""Groups: no row is judged by anything that saw its group, and figures take groups as drawn."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold

from falcon_discover import FalconDiscover, datasets, discover, load, metrics
from falcon_discover.calibration.discrepancy import Discrepancy
from falcon_discover.evaluation import recalibration
from falcon_discover.exceptions import InputError
from falcon_discover.rankers import evidence
from falcon_discover.regions.confirm import halves
from falcon_discover.signals.state import State

PAIRS = 150


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps which rows it was fitted on, by the first column, and memorises their labels."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.ids_ = set(np.asarray(X)[:, 0])
        self.known_ = dict(zip((tuple(r) for r in np.asarray(X)[:, 1:]), y, strict=True))
        return self

    def predict_proba(self, X):
        rows = np.asarray(X)
        p = [
            0.02 + 0.96 * self.known_[tuple(row[1:])]
            if tuple(row[1:]) in self.known_
            else 0.5 + 0.49 * np.tanh(row[1])
            for row in rows
        ]
        return np.column_stack([1 - np.array(p), p])


@pytest.fixture(scope="module")
def twins():
    """Pairs of rows with the same values and label, which values say nothing about."""
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=(PAIRS, 3)) * 2, 2, axis=0)
    labels = np.repeat(rng.integers(0, 2, PAIRS), 2)
    group = np.repeat(np.arange(PAIRS), 2)
    order = rng.permutation(2 * PAIRS)
    return values[order], labels[order], group[order]


def _with_ids(values):
    return np.column_stack([np.arange(len(values)), values])


def test_no_model_saw_a_row_of_the_group(twins):
    X, y, group = twins
    fitted = []

    class Watched(Recorder):
        def fit(self, X, y):
            fitted.append(self)
            return super().fit(X, y)

    falcon = FalconDiscover(Watched(), ranker="gated_confidence", random_state=0, cv=4)
    found = falcon.fit(_with_ids(X), y, groups=group).examine()
    fold = found.state.fold
    for number in range(4):
        seen = {int(row) for row in fitted[number].ids_}
        held_out = np.flatnonzero(fold == number)
        assert not {group[row] for row in seen} & set(group[held_out])
    # Every fold model memorises its rows: none knows the twin of a row it is asked about.
    assert not np.isin(found.state.p, (0.02, 0.98)).any()


@pytest.mark.filterwarnings("ignore::falcon_discover.exceptions.DataWarning")
def test_no_neighbour_is_of_the_group(twins):
    X, y, group = twins
    p = np.linspace(0.01, 0.99, len(y))
    for groups in (None, group):
        state = discover(X, y, p, ranker="gated_confidence", groups=groups, random_state=0).state
        meets_a_twin = bool((state.evidence["nearest_distance"] == 0).any())
        assert meets_a_twin is (groups is None)


@pytest.mark.filterwarnings("ignore::falcon_discover.exceptions.DataWarning")
def test_twins_in_one_group_do_not_leak(twins):
    X, y, group = twins
    p = np.random.default_rng(1).uniform(0.02, 0.98, len(y))
    areas = {}
    for name, groups in (("rows", None), ("groups", group)):
        found = discover(X, y, p, tau=0.6, groups=groups, random_state=0)
        sure = found.state.eligible(0.6)
        areas[name] = metrics.fc_auroc(found.events[sure], found.suspicion()[sure])
    assert areas["rows"] > 0.8
    assert abs(areas["groups"] - 0.5) < 0.1


@pytest.mark.filterwarnings("ignore::falcon_discover.exceptions.DataWarning")
def test_no_ranker_or_calibrator_learned_from_the_group(twins, monkeypatch):
    X, y, group = twins
    checked = []
    original = evidence.cross_fitted

    def watched(sample, fold, learn):
        for number in np.unique(fold):
            inside, outside = sample.state.group[fold == number], sample.state.group[fold != number]
            checked.append(not set(inside) & set(outside))
        return original(sample, fold, learn)

    for module in ("falcon_discover.rankers.gated", "falcon_discover.calibration.discrepancy"):
        monkeypatch.setattr(f"{module}.cross_fitted", watched)
    p = np.random.default_rng(1).uniform(0.02, 0.98, len(y))
    found = discover(X, y, p, tau=0.6, groups=group, random_state=0)
    found.suspicion()
    Discrepancy().fit(found.state, found.labels)
    assert len(checked) > 5
    assert all(checked)
    for seen, held_out in recalibration._folds(found.audit.training.oof, 0):
        assert not set(group[seen]) & set(group[held_out])


def test_validation_rows_are_dealt_out_by_group():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 5)
    fold = evidence.dealt(rng.uniform(size=200) < 0.3, 4, 0, group)
    assert all(len(np.unique(fold[group == g])) == 1 for g in range(40))
    assert len(np.unique(fold)) == 4


def test_no_group_finds_and_confirms_a_region():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(100), 4)
    frame = pd.DataFrame({"x": rng.normal(size=400)})
    events, eligible = rng.uniform(size=400) < 0.1, rng.uniform(size=400) < 0.8
    first, second = halves(frame, events & eligible, eligible, 0, group)
    assert (first ^ second).all()
    assert all(len(np.unique(first[group == g])) == 1 for g in range(100))
    assert abs(first.mean() - 0.5) < 0.1
    # By content, not by the order of the rows or the names of the groups.
    order = rng.permutation(400)
    again = halves(
        frame.iloc[order], (events & eligible)[order], eligible[order], 0, 7 * group[order]
    )
    assert (again[0] == first[order]).all()


@pytest.fixture(scope="module")
def table():
    planted = datasets.make_planted(500, random_state=0)
    X = planted.X.select_dtypes("number").fillna(0)
    return X, planted.y, np.random.default_rng(0).integers(0, 90, 500), planted


@pytest.fixture(scope="module")
def audited(table):
    X, y, group, _ = table
    falcon = FalconDiscover(LogisticRegression(), tau=0.8, random_state=0, ranker="learned_oof")
    return falcon.fit(X[:350], y[:350], groups=group[:350])


def test_the_audit_says_that_groups_are_what_was_drawn(audited, table):
    X, y, group, _ = table
    found = audited.examine(X[350:], y[350:], groups=1_000 + group[350:])
    assert "cluster-robust" in repr(found)
    assert "independent groups like these" in repr(found.missed_bound(0.2))
    with pytest.raises(InputError, match=r"batch is 50.* rows in groups"):
        found.review_budget(0.1, batch=50)
    own = audited.evaluate()
    assert own.design.startswith("Rows come from")
    assert own.to_dict()["design"] == own.design


def test_figures_are_those_of_the_rows_and_intervals_are_wider(audited, table):
    X, y, _, _ = table
    ten = np.arange(150) // 10
    alone = audited.evaluate(X[350:], y[350:])
    apart = audited.evaluate(X[350:], y[350:], groups=ten)
    for name in ("captured", "capture", "events", "eligible"):
        pd.testing.assert_series_equal(
            alone.captures[name], apart.captures[name], check_dtype=False, atol=1e-12
        )
    for name in ("fc_auroc", "eligible_auroc", "aurc"):
        assert alone.rankings[name].to_numpy() == pytest.approx(apart.rankings[name].to_numpy())
    assert apart.model["accuracy"] == pytest.approx(alone.model["accuracy"])
    widths = [e.model["accuracy_high"] - e.model["accuracy_low"] for e in (alone, apart)]
    assert widths[1] > 0.8 * widths[0]


def test_the_order_of_rows_does_not_matter(audited, table):
    X, y, _, _ = table
    order = np.random.default_rng(1).permutation(150)
    ten = np.arange(150) // 10
    first = audited.evaluate(X[350:], y[350:], groups=ten)
    again = audited.evaluate(X[350:].iloc[order], y[350:][order], groups=ten[order])
    for one, other in ((first.captures, again.captures), (first.rankings, again.rankings)):
        own = one[one["ranker"] != "random"]
        pd.testing.assert_frame_equal(own, other[other["ranker"] != "random"], atol=1e-12)


def test_a_saved_audit_keeps_its_groups(audited, tmp_path):
    again = load(audited.save(tmp_path / "audit.falcon"))
    first, second = audited.examine(), again.examine()
    assert second.state.group.tolist() == first.state.group.tolist()
    assert repr(second.missed_bound(0.2)) == repr(first.missed_bound(0.2))
    assert repr(again.regions_) == repr(audited.regions_)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"groups": [1, 2]}, "groups has 2 values for 60 rows"),
        ({"groups": [None] * 60}, "groups is missing in 60 row"),
        ({"groups": np.arange(60) // 3, "X_cal": 20}, "groups and groups_cal belong together"),
        ({"groups_cal": np.arange(20)}, "groups_cal was given without X_cal"),
        (
            {"groups": np.arange(60) // 3, "X_cal": 20, "groups_cal": np.arange(20) // 2},
            "has rows in both X and X_cal",
        ),
    ],
)
def test_groups_that_cannot_be_used_are_refused(table, given, sentence):
    X, y, _, _ = table
    if "X_cal" in given:
        n = given["X_cal"]
        given = {**given, "X_cal": X[60 : 60 + n], "y_cal": y[60 : 60 + n]}
    with pytest.raises(InputError, match=sentence):
        FalconDiscover(LogisticRegression(), random_state=0).fit(X[:60], y[:60], **given)


def test_groups_without_rows_are_refused(audited):
    with pytest.raises(InputError, match="groups was given without X"):
        audited.evaluate(groups=[1, 2, 3])


def test_splitters_get_the_groups(table):
    X, y, group, _ = table
    falcon = FalconDiscover(LogisticRegression(), cv=GroupKFold(3), ranker="gated_confidence")
    state = falcon.fit(X, y, groups=group).examine().state
    assert all(len(np.unique(state.fold[group == g])) == 1 for g in np.unique(group))
    with pytest.raises(InputError, match="which splits"):
        clone(falcon).set_params(cv=KFold(3)).fit(X, y, groups=group)


@pytest.mark.filterwarnings("ignore::falcon_discover.exceptions.DataWarning")
def test_validation_rows_bring_their_own_groups(table):
    X, y, group, _ = table
    falcon = FalconDiscover(LogisticRegression(), tau=0.7, ranker="auto", random_state=0)
    falcon.fit(
        X[:200],
        y[:200],
        groups=group[:200],
        X_cal=X[200:300],
        y_cal=y[200:300],
        groups_cal=100 + group[200:300],
    )
    both = falcon.audit_.training.source("all").state
    assert len(both.group) == 300
    assert not set(both.group[:200]) & set(both.group[200:])


def test_groups_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        falcon = FalconDiscover(LogisticRegression()).set_fit_request(
            groups=True, sample_weight=True
        )
        asked = falcon.get_metadata_routing().fit.requests
        assert asked["groups"] is True
        assert asked["sample_weight"] is True


def test_cross_validation_routes_groups_to_the_audit(table):
    from sklearn.model_selection import cross_validate

    X, y, group, _ = table
    with sklearn.config_context(enable_metadata_routing=True):
        falcon = FalconDiscover(
            LogisticRegression(), ranker="gated_confidence", random_state=0
        ).set_fit_request(groups=True)
        done = cross_validate(
            falcon, X, y, cv=GroupKFold(2), params={"groups": group}, return_estimator=True
        )
    assert all(one.examine().state.group is not None for one in done["estimator"])


def test_a_frozen_model_is_audited_by_groups(table):
    X, y, group, _ = table
    frozen = FrozenEstimator(LogisticRegression().fit(X[:200], y[:200]))
    falcon = FalconDiscover(frozen, ranker="gated_confidence", random_state=0)
    state = falcon.fit(X[200:], y[200:], groups=group[200:]).examine().state
    assert all(len(np.unique(state.fold[state.group == g])) == 1 for g in np.unique(state.group))


def test_rows_without_a_group_are_groups_of_their_own():
    first = replace(State.from_scores(np.array([0.1, 0.9])), group=np.array([0, 0]))
    joined = State.concat([first, State.from_scores(np.array([0.2, 0.8, 0.7]))])
    assert joined.group.tolist() == [0, 0, 1, 2, 3]
