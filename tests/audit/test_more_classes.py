"""More than two classes, a threshold and tau by class, through the whole house."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from falcon_discover import DataWarning, FalconDiscover, InputError, discover, load
from falcon_discover.metrics import false_confidence
from falcon_discover.runtime.words import level
from falcon_discover.scoring.scorer import score_table

NAMES = np.array(["ant", "bee", "cat", "dog"])
METHODS = ("temperature", "platt", "isotonic", "beta", "discrepancy")
pytestmark = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")


def table(n=600, n_classes=3, seed=0, flip=0.15):
    X, y = make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=flip,
        n_clusters_per_class=1, random_state=seed,
    )  # fmt: skip
    return pd.DataFrame(X, columns=list("uvwxyz")), y


@pytest.fixture(scope="module")
def animals():
    X, y = table(900)
    falcon = FalconDiscover(LogisticRegression(), tau=0.8, random_state=0)
    return falcon.fit(X[:600], NAMES[y[:600]]), X[600:], NAMES[y[600:]]


def by_hand(P, labels, classes, tau):
    """Which rows are confident errors, in plain words."""
    events = []
    for p, label in zip(P, labels, strict=True):
        called = int(np.argmax(p))
        events.append(classes[called] != label and p[called] >= tau[called])
    return np.array(events)


def test_events_are_confident_decisions_for_a_wrong_class(animals):
    falcon, X, y = animals
    found, P = falcon.examine(X, y), falcon.predict_proba(X)
    assert P.shape == (len(X), 3)
    assert found.events.any()
    assert found.events.tolist() == by_hand(P, y, falcon.classes_, (0.8,) * 3).tolist()
    assert (falcon.predict(X) == falcon.classes_[P.argmax(axis=1)]).all()


def test_tau_by_class_counts_what_each_class_says():
    X, y = table(700)
    labels = NAMES[y]
    tau = {"cat": 0.95, "ant": 0.6, "bee": 0.8}
    falcon = FalconDiscover(LogisticRegression(), tau=tau, random_state=0).fit(X, labels)
    found = falcon.examine()
    levels = (0.6, 0.8, 0.95)
    assert found.tau == levels
    assert found.events.tolist() == by_hand(found.state.p, labels, NAMES, levels).tolist()
    codes = np.searchsorted(NAMES[:3], labels)
    assert (found.events == false_confidence(codes, found.state.p, levels)).all()
    sides = found.evaluate().sides.frame()
    assert sides["tau"].tolist() == list(levels)
    assert sides["events"].sum() == found.events.sum()
    listed = found.review(budget=1.0)
    below = listed["confidence"] < listed["predicted"].map(tau)
    assert (below == listed["reason"].str.contains("cannot be a confident error")).all()
    # Eligible rows come first, whatever the level of their class.
    assert not below.to_numpy()[: int((~below).sum())].any()


def test_one_level_for_each_class_is_the_level_of_all():
    X, y = table(400)
    p = LogisticRegression().fit(X, y).predict_proba(X)
    one = discover(X, y, p, tau=0.8, random_state=0)
    each = discover(X, y, p, tau={0: 0.8, 1: 0.8, 2: 0.8}, random_state=0)
    assert (one.suspicion() == each.suspicion()).all()
    assert repr(one.evaluate()) == repr(each.evaluate())


def test_which_class_is_mistaken_for_which(animals):
    falcon, X, y = animals
    found, P = falcon.examine(X, y), falcon.predict_proba(X)
    sides = found.evaluate().sides
    counts: dict = {}
    for p, label in zip(P, y, strict=True):
        called = NAMES[int(np.argmax(p))]
        if called != label and p.max() >= 0.8:
            counts[called, label] = counts.get((called, label), 0) + 1
    told = {(r.predicted, r.actual): r.events for r in sides.mistaken.itertuples()}
    assert told == counts
    assert sides.mistaken["events"].is_monotonic_decreasing
    assert sides.mistaken["of_events"].sum() == pytest.approx(1)
    first = sides.mistaken.iloc[0]
    words = f": '{first.actual}' for '{first.predicted}' {first.events} times"
    assert words in repr(found.evaluate())


def test_the_report_tells_it_too(animals, tmp_path):
    falcon, X, y = animals
    found = falcon.examine(X, y)
    page = found.report(tmp_path / "report", name="animals")
    summary = json.loads((page.parent / "summary.json").read_text())
    assert summary["data"]["classes"] == ["ant", "bee", "cat"]
    assert summary["data"]["positive"] is None
    assert summary["settings"]["tau"] == 0.8
    mistaken = summary["evaluation"]["sides"]["mistaken"]
    assert sum(pair["events"] for pair in mistaken) == int(found.events.sum())
    text = (page.parent / "report.md").read_text()
    assert "probability of the predicted class" in text
    for pair in mistaken:
        assert f"| {pair['predicted']} | {pair['actual']} | {pair['events']} |" in text
    assert 'id="mistaken"' in page.read_text()


def test_two_classes_have_no_such_section(tmp_path):
    X, y = table(300, n_classes=2)
    page = discover(X, y, np.full(300, 0.3), random_state=0).report(tmp_path / "report")
    assert 'id="mistaken"' not in page.read_text()


def test_a_report_of_tau_by_class_says_so(tmp_path):
    X, y = table(400)
    tau = {"ant": 0.6, "bee": 0.9, "cat": 0.7}
    falcon = FalconDiscover(LogisticRegression(), tau=tau, random_state=0).fit(X, NAMES[y])
    page = falcon.examine().report(tmp_path / "report")
    summary = json.loads((page.parent / "summary.json").read_text())
    assert summary["settings"]["tau"] == tau
    assert level(tau) in (page.parent / "report.md").read_text()


def test_the_review_list_gives_the_probability_of_the_predicted_class(animals):
    falcon, X, y = animals
    listed = falcon.examine(X, y).review(budget=0.2)
    P = pd.DataFrame(falcon.predict_proba(X), columns=falcon.classes_)
    own = [
        P.loc[row, called] for row, called in zip(listed["row"], listed["predicted"], strict=True)
    ]
    assert listed["p"].tolist() == own == listed["confidence"].tolist()


@pytest.mark.parametrize("reference", ["full", "sample", "none"])
def test_a_saved_audit_of_texts_comes_back(reference, tmp_path):
    X, y = table(800)
    labels = NAMES[y]
    tau = {"ant": 0.7, "bee": 0.9, "cat": 0.8}
    falcon = FalconDiscover(LogisticRegression(), tau=tau, random_state=0)
    falcon.fit(X[:500], labels[:500], X_cal=X[500:600], y_cal=labels[500:600])
    again = load(falcon.save(tmp_path / "audit.falcon", reference=reference))
    new, known = X[600:], labels[600:]
    assert again.audit_.tau == (0.7, 0.9, 0.8)
    assert (again.predict_proba(new) == falcon.predict_proba(new)).all()
    assert (again.predict(new) == falcon.predict(new)).all()
    events = again.examine(new, known).events
    assert (events == falcon.examine(new, known).events).all()
    if reference == "full":
        assert (again.score_samples(new) == falcon.score_samples(new)).all()
        assert (again.examine().suspicion() == falcon.examine().suspicion()).all()
        assert repr(again.examine().evaluate()) == repr(falcon.examine().evaluate())
        for method in METHODS:
            before, after = (f.calibrated(method).predict_proba(new) for f in (falcon, again))
            assert (before == after).all(), method


@pytest.mark.parametrize("name", ["xgboost", "catboost", "lightgbm", "mlp"])
def test_library_models_of_three_classes_come_back(name, tmp_path):
    X, y = table(300)
    falcon = FalconDiscover(name, ranker="gated_confidence", random_state=0).fit(X, NAMES[y])
    again = load(falcon.save(tmp_path / "audit.falcon"))
    assert (again.predict_proba(X[:50]) == falcon.predict_proba(X[:50])).all()
    assert (again.score_samples(X[:50] + 0.1) == falcon.score_samples(X[:50] + 0.1)).all()


def test_the_threshold_of_a_saved_audit_comes_back(tmp_path):
    X, y = table(500, n_classes=2)
    falcon = FalconDiscover(LogisticRegression(), threshold=0.3, random_state=0).fit(X, y)
    again = load(falcon.save(tmp_path / "audit.falcon"))
    new = X + 0.1
    assert again.audit_.threshold == 0.3
    assert (again.examine(new).state.decision == falcon.examine(new).state.decision).all()
    assert (again.score_samples(new) == falcon.score_samples(new)).all()
    bare = load(falcon.save(tmp_path / "bare.falcon", reference="none"))
    decision = bare.examine(new).state.decision
    assert (decision == (falcon.predict_proba(new)[:, 1] >= 0.3)).all()
    assert (decision != (falcon.predict_proba(new)[:, 1] >= 0.5)).any()


def test_scores_have_a_column_for_each_class(animals):
    falcon, X, _ = animals
    scores = score_table(falcon, X)
    assert scores.columns[:5].tolist() == ["p_ant", "p_bee", "p_cat", "predicted", "confidence"]
    assert (scores[["p_ant", "p_bee", "p_cat"]].to_numpy() == falcon.predict_proba(X)).all()
    assert (scores["predicted"] == falcon.predict(X)).all()
    assert (scores["suspicion"] == falcon.score_samples(X)).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_every_calibrator_gives_probabilities_of_all_classes(animals, method, weighted):
    falcon, X, y = animals
    model = falcon.calibrated(method, weighted=weighted)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert P.min() >= 0
    assert (model.predict(X) == falcon.classes_[P.argmax(axis=1)]).all()
    assert model.score(X, y) > falcon.score(X, y) - 0.05


def test_discrepancy_moves_the_decided_class_and_scales_the_others(animals):
    falcon, X, _ = animals
    P, Q = falcon.predict_proba(X), falcon.calibrated("discrepancy").predict_proba(X)
    d = P.argmax(axis=1)
    rest, moved = (np.delete(M[0], d[0]) for M in (P, Q))
    np.testing.assert_allclose(moved / moved.sum(), rest / rest.sum())
    assert (P != Q).any()


class Relabelled:
    """A frozen model whose classes have other names, and so another order."""

    def __init__(self, model, names):
        self.model, self.names = model, names
        self.order = np.argsort(names)
        self.classes_ = names[self.order]

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(X)[:, self.order]

    def predict(self, X):
        return self.names[self.model.predict(X)]


def test_names_and_order_of_the_classes_do_not_matter():
    X, y = table(700)
    model = LogisticRegression().fit(X[:300], y[:300])
    found = {}
    for names in (np.array(["a", "b", "c"]), np.array(["c", "a", "b"]), np.array(["z", "y", "x"])):
        frozen = FrozenEstimator(Relabelled(model, names))
        audit = FalconDiscover(frozen, tau=0.7, random_state=0, cv=FOLDS).fit(
            X[300:], names[y[300:]]
        )
        found["".join(names)] = audit.examine()
    first = found.pop("abc")
    for other in found.values():
        for name in first.state.signals.columns.union(first.state.evidence.columns):
            if not name.startswith("opinion"):
                # Opinions are models fitted on labels in their order.
                np.testing.assert_allclose(
                    other.state.column(name), first.state.column(name), atol=1e-9, err_msg=name
                )
        assert (other.events == first.events).all()
        for ranker in ("gated_confidence", "s_disc", "s_stab", "confidence"):
            np.testing.assert_allclose(
                other.score(ranker, 0.7), first.score(ranker, 0.7), atol=1e-9
            )


FOLDS = [
    (np.flatnonzero(np.arange(400) % 4 != fold), np.flatnonzero(np.arange(400) % 4 == fold))
    for fold in range(4)
]


@pytest.mark.parametrize("threshold", [0.2, 0.35, 0.5, 0.8])
def test_no_threshold_between_the_levels_changes_an_event(threshold):
    X, y = table(500, n_classes=2)
    p = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    usual = discover(X, y, p, tau=0.8, random_state=0)
    other = discover(X, y, p, tau=0.8, threshold=threshold, random_state=0)
    assert (other.events == usual.events).all()
    assert usual.events.any()


def test_a_row_decided_against_its_odds_is_simply_not_confident():
    X, y = table(500, n_classes=2)
    p = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    found = discover(X, y, p, tau=0.8, threshold=0.05, random_state=0)
    called = p >= 0.05
    assert (found.state.decision == called).all()
    assert (found.state.confidence == np.where(called, p, 1 - p)).all()
    expected = (called != y) & (np.where(called, p, 1 - p) >= 0.8)
    assert (found.events == expected).all()
    assert found.state.confidence.min() < 0.5


def quiet(function):
    """Run with every warning but ours an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        return function()


def assert_everything_works(falcon, X, y, tmp_path):
    for found in (falcon.examine(), falcon.examine(X, y)):
        assert repr(found.evaluate())
        assert len(found.review(0.1))
        assert repr(found.missed_bound(0.2))
        found.report(tmp_path / "report")
    for method in METHODS:
        P = falcon.calibrated(method).predict_proba(X)
        np.testing.assert_allclose(P.sum(axis=1), 1)
    again = load(falcon.save(tmp_path / "audit.falcon"))
    assert (again.score_samples(X) == falcon.score_samples(X)).all()


def test_a_class_with_one_row(tmp_path):
    X, y = table(300, n_classes=2, flip=0.2)
    y = y.copy()
    y[7] = 2
    falcon = FalconDiscover(LogisticRegression(), tau=0.6, random_state=0)
    quiet(lambda: falcon.fit(X[:200], y[:200]))
    assert falcon.examine().state.p.shape == (200, 3)
    # The model that is asked about the row has never seen its class.
    assert falcon.examine().state.p[7, 2] == 0.0
    quiet(lambda: assert_everything_works(falcon, X[200:], y[200:], tmp_path))


def test_a_frozen_model_with_a_class_that_the_rows_lack(tmp_path):
    X, y = table(700, n_classes=4)
    model = LogisticRegression().fit(X[:300], y[:300])
    rows = np.flatnonzero(y != 3)
    rows = rows[rows >= 300]
    falcon = FalconDiscover(FrozenEstimator(model), tau=0.6, random_state=0)
    quiet(lambda: falcon.fit(X.iloc[rows[:200]], y[rows[:200]]))
    assert falcon.classes_.tolist() == [0, 1, 2, 3]
    assert (falcon.predict(X.iloc[rows]) == 3).any()
    quiet(lambda: assert_everything_works(falcon, X.iloc[rows[200:]], y[rows[200:]], tmp_path))


def test_a_frozen_model_that_knows_two_of_three_classes(tmp_path):
    X, y = table(700)
    known = y[:300] < 2
    model = LogisticRegression().fit(X[:300][known], y[:300][known])
    falcon = FalconDiscover(FrozenEstimator(model), tau=0.6, random_state=0)
    quiet(lambda: falcon.fit(X[300:500], y[300:500]))
    assert (falcon.predict_proba(X)[:, 2] == 0).all()
    found = falcon.examine()
    assert found.events[(y[300:500] == 2) & (found.state.confidence >= 0.6)].all()
    quiet(lambda: assert_everything_works(falcon, X[500:], y[500:], tmp_path))


def test_a_model_that_is_never_wrong(tmp_path):
    rng = np.random.default_rng(0)
    y = np.tile([0, 1, 2], 60)
    X = rng.normal(size=(180, 2)) + 20 * y[:, None]
    falcon = FalconDiscover(LogisticRegression(max_iter=1000), random_state=0)
    quiet(lambda: falcon.fit(X[:120], y[:120]))
    assert not falcon.examine().events.any()
    assert "nothing to rank" in falcon.examine().evaluate().verdict()
    quiet(lambda: assert_everything_works(falcon, X[120:], y[120:], tmp_path))
    P = falcon.predict_proba(X[120:])
    assert (falcon.calibrated("discrepancy").predict_proba(X[120:]) == P).all()


def test_ties_go_to_the_first_class():
    X, y = table(200)
    p = np.tile([0.2, 0.4, 0.4], (200, 1))
    found = discover(X, y, p, tau=0.5, random_state=0)
    assert (found.state.decision == 1).all()
    assert not found.events.any()


def test_what_cannot_be_is_refused_in_a_sentence():
    X, y = table(200)
    p = np.full((200, 3), 1 / 3)
    for arguments, sentence in (
        ({"tau": {0: 0.9, 1: 0.9}}, "tau does not name '2'"),
        ({"tau": {0: 0.9, 1: 0.9, 2: 0.9, 3: 0.9}}, "tau names '3'"),
        ({"threshold": 0.3}, "there are 3 classes"),
    ):
        with pytest.raises(InputError, match=sentence):
            discover(X, y, p, **arguments)
    with pytest.raises(InputError, match="one column for each class"):
        discover(X, y, p[:, :2])
