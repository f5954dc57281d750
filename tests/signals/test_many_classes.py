"""Every signal of three and seven classes equals plain loops in double precision."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from falcon_discover import FalconDiscover, discover
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.metrics import confidence, decided
from falcon_discover.models.folds import make_folds
from falcon_discover.signals.catalogue import CATALOGUE, SIGNALS
from falcon_discover.signals.extended import opinion_signals
from falcon_discover.signals.opinions import CrossOpinions, Opinions
from support import many_classes as naive
from support import oracle

pytestmark = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
SEED = 3
MEASURED = [s.name for s in CATALOGUE if s.family != "opinions"]
OPINIONS = [s.name for s in CATALOGUE if s.family == "opinions"]
APART = ["neighbours", "labelled_as_predicted", "log_trust_1", "log_trust_5", "log_trust_25"]


def as_rows(X: pd.DataFrame) -> list[list]:
    return [list(row) for row in X.astype(object).itertuples(index=False)]


def assert_same(state, expected, names=MEASURED):
    wanted = pd.DataFrame(expected)
    for name in names:
        np.testing.assert_allclose(
            state.column(name), wanted[name].to_numpy(float), rtol=0, atol=1e-6, err_msg=name
        )


class Models:
    """The audited model of any of the rows, with a column for each class, known or not."""

    def __init__(self, rows, y, n_classes):
        self.rows, self.y, self.n_classes = rows, y, n_classes

    def fit(self, indices):
        view = oracle.View([self.rows[i] for i in indices])
        codes, targets = np.unique(self.y[indices], return_inverse=True)
        model = LogisticRegression(C=1.0, max_iter=2000).fit(
            np.array(view.rows([self.rows[i] for i in indices])), targets
        )

        def predict(z):
            said = [0.0] * self.n_classes
            for code, p in zip(codes, model.predict_proba(np.array([z]))[0], strict=True):
                said[code] = float(p)
            return said

        return view, predict


def expected_states(X, y, query, n_classes):
    """Return oracle states of training rows (out-of-fold) and of query rows, and the former's p."""
    rows, queries = as_rows(X), as_rows(query)
    folds = make_folds(5, Labels.from_input(y), SEED)
    models = Models(rows, y, n_classes)
    fitted = [models.fit(train) for train, _ in folds]
    p: list[list[float]] = [[]] * len(y)
    for (_, test), (view, predict) in zip(folds, fitted, strict=True):
        for i in test:
            p[i] = predict(view.row(rows[i]))
    training: list[dict] = [{}] * len(y)
    for (train, test), (view, predict) in zip(folds, fitted, strict=True):
        inner: dict = {}
        for _, other in folds:
            if set(other) != set(test):
                inner_view, inner_predict = models.fit(np.setdiff1d(train, other))
                inner |= {i: inner_predict(inner_view.row(rows[i])) for i in other}
        states = naive.state(
            view.rows([rows[i] for i in test]),
            [p[i] for i in test],
            view.rows([rows[i] for i in train]),
            y[train],
            [inner[i] for i in train],
            predict,
            n_classes=n_classes,
        )
        for i, found in zip(test, states, strict=True):
            training[i] = found
    view, predict = models.fit(np.arange(len(y)))
    z = view.rows(queries)
    new = naive.state(
        z, [predict(r) for r in z], view.rows(rows), y, p, predict, n_classes=n_classes
    )
    return training, new, np.array(p), folds


# Three classes; seven; and seven of which one has two rows, so that most folds lack it.
@pytest.fixture(scope="module", params=[(3, None), (7, None), (7, 2)], ids=["3", "7", "7-rare"])
def audited(request):
    n_classes, rare = request.param
    X, y = naive.many_classes(140, 0, n_classes)
    query, _ = naive.many_classes(30, 100, n_classes)
    if rare is not None:
        last = np.flatnonzero(y == n_classes - 1)[rare:]
        y[last] = n_classes - 2
    query.loc[0, "kind"] = "never seen"
    falcon = FalconDiscover("logistic_regression", random_state=SEED, tau=0.6).fit(X, y)
    return falcon, X, y, query, expected_states(X, y, query, n_classes)


def test_new_rows_have_the_signals_of_the_oracle(audited):
    falcon, _, _, query, (_, new, _, _) = audited
    assert_same(falcon.examine(query).state, new)
    assert list(falcon.transform(query).columns) == list(SIGNALS)


def test_rows_of_the_fit_have_the_out_of_fold_signals_of_the_oracle(audited):
    falcon, _, _, _, (training, _, p, _) = audited
    state = falcon.examine().state
    np.testing.assert_allclose(state.p, p, atol=1e-6)
    assert_same(state, training)


def test_evidence_without_one_more_fold_is_that_of_the_oracle(audited):
    falcon, X, y, _, (_, _, p, folds) = audited
    rows, state = as_rows(X), falcon.examine().state
    of = np.empty(len(y), dtype=int)
    for number, (_, test) in enumerate(folds):
        of[test] = number
    for own, other in ((0, 3), (4, 1)):
        train, test = folds[own]
        view = oracle.View([rows[i] for i in train])
        left = [i for i in train if of[i] != other]
        reference = view.rows([rows[i] for i in left])
        apart = state.without(other).evidence
        for i in test:
            found, _ = naive.neighbourhood(
                view.row(rows[i]), naive.decision(p[i]), reference, y[left], p.shape[1], 25,
                by_class=True,
            )  # fmt: skip
            for name in APART:
                assert apart[name][i] == pytest.approx(found[name], abs=1e-5), name


def test_opinions_on_new_rows_are_the_log_odds_of_the_decided_class(audited):
    falcon, _, _, query, (_, _, p, _) = audited
    state, reference = falcon.examine(query).state, falcon.audit_.reference
    coordinates = state.features[:, reference.opinions.columns]
    n_classes = p.shape[1]
    for i, row in enumerate(coordinates):
        said = {
            name: model.predict_proba(row[None])[0].tolist()
            for name, model in reference.opinions.models.items()
        }
        assert all(len(given) == n_classes for given in said.values())
        for name, value in naive.opinions(naive.decision(state.p[i]), said).items():
            assert state.column(name)[i] == pytest.approx(value, abs=1e-5), name


def test_opinions_on_rows_of_the_fit_come_from_models_that_lack_their_fold(audited):
    falcon, X, y, _, (_, _, p, folds) = audited
    state, rows = falcon.examine().state, falcon.audit_.view.transform(Table.from_input(X))
    n_classes = p.shape[1]
    train, test = folds[2]
    alone = Opinions.fit(rows[train], y[train], seed=SEED, n_classes=n_classes)
    known = np.unique(y[train])
    for i in test:
        said = {}
        for name, model in alone.models.items():
            said[name] = [0.0] * n_classes
            given = model.predict_proba(rows[[i]][:, alone.columns])[0]
            for code, value in zip(known, given, strict=True):
                said[name][code] = float(value)
        for name, value in naive.opinions(naive.decision(p[i]), said).items():
            assert state.column(name)[i] == pytest.approx(value, abs=1e-5), name


def test_a_rare_class_is_missing_in_some_fold():
    _, y = naive.many_classes(140, 0, 7)
    y[np.flatnonzero(y == 6)[2:]] = 5
    folds = make_folds(5, Labels.from_input(y), SEED)
    # The two rows lie in different folds: models without both do not know the class.
    rests = [np.setdiff1d(train, other) for train, _ in folds for _, other in folds]
    assert any(6 not in y[rest] for rest in rests)


def test_predictions_alone_have_every_signal_but_stability():
    X, y = naive.many_classes(90, 5, 3)
    # Rounded, so that the likeliest class is often a tie, which the first wins.
    p = np.random.default_rng(0).dirichlet(np.ones(3), 90).round(1)
    p[:, 2] = 1.0 - p[:, 0] - p[:, 1]
    p = np.clip(p, 0, 1)
    assert sum(sorted(row)[-1] == sorted(row)[-2] for row in p.round(9).tolist()) > 5
    found = discover(X, y, p, random_state=SEED)
    rows = as_rows(X)
    expected: list[dict] = [{}] * 90
    for train, test in StratifiedKFold(5, shuffle=True, random_state=SEED).split(rows, y):
        view = oracle.View([rows[i] for i in train])
        states = naive.state(
            view.rows([rows[i] for i in test]), p[test].tolist(),
            view.rows([rows[i] for i in train]), y[train], p[train].tolist(), None, n_classes=3,
        )  # fmt: skip
        for i, state in zip(test, states, strict=True):
            expected[i] = state
    stability = {s.name for s in CATALOGUE if s.family == "stability"}
    assert_same(found.state, expected, [name for name in MEASURED if name not in stability])
    assert all(found.state.column(name) is None for name in stability)


@pytest.mark.parametrize("n_classes", [3, 7])
def test_decisions_and_confidence_equal_loops(n_classes):
    p = np.random.default_rng(n_classes).dirichlet(np.ones(n_classes), 300).round(1)
    assert decided(p).tolist() == [naive.decision(row) for row in p.tolist()]
    assert confidence(p).tolist() == [row[naive.decision(row)] for row in p.tolist()]


def test_opinions_where_one_class_only_was_seen_lean_to_neither_side():
    table = Table.from_input(np.random.default_rng(0).normal(size=(30, 2)))
    y = np.repeat([0, 1, 2], 10).astype(np.int8)
    first = np.arange(10)
    folds = [(first, np.arange(10, 30)), (np.arange(10, 30), first)]
    said = CrossOpinions.fit(table, y, folds, seed=0, n_classes=3)
    assert (said.own[10:] == 0.5).all()
    # Fitted on the second and third class alone: the first has no chance.
    assert (said.own[:10, :, 0] == 0.0).all()
    signals = opinion_signals(np.zeros(10, dtype=int), said.names, said.own[:10])
    np.testing.assert_allclose(signals["opinion_worst"], np.log(0.001 / 0.999))
