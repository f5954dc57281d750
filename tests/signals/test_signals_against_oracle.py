"""Every signal and ranker equals plain loops in double precision."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from falcon_discover import DataWarning, FalconDiscover, discover, metrics, rankers
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.signals.catalogue import SIGNALS
from support import oracle
from support.tables import awkward_table

pytestmark = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
SEED = 3


def as_rows(X: pd.DataFrame) -> list[list]:
    return [list(row) for row in X.astype(object).itertuples(index=False)]


def assert_same(frame: pd.DataFrame, expected: list[dict], columns=SIGNALS) -> None:
    wanted = pd.DataFrame(expected)
    for name in columns:
        np.testing.assert_allclose(
            frame[name].to_numpy(), wanted[name].to_numpy(), rtol=0, atol=1e-6, err_msg=name
        )


def library_oracle(X, y, query):
    """Return oracle states of training rows (out-of-fold) and of query rows."""
    rows, queries = as_rows(X), as_rows(query)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=SEED).split(rows, y))

    def fit(indices):
        view = oracle.View([rows[i] for i in indices])
        model = LogisticRegression(C=1.0, max_iter=2000).fit(
            np.array(view.rows([rows[i] for i in indices])), y[indices]
        )
        return view, lambda z: float(model.predict_proba(np.array([z]))[0, 1])

    fitted = [fit(train) for train, _ in folds]
    p = np.empty(len(y))
    for (_, test), (view, predict) in zip(folds, fitted, strict=True):
        for i in test:
            p[i] = predict(view.row(rows[i]))
    training: list[dict] = [{}] * len(y)
    for (train, test), (view, predict) in zip(folds, fitted, strict=True):
        # The reference rows' own out-of-fold scores must not know this fold either.
        inner = {}
        for _, other in folds:
            if set(other) != set(test):
                inner_view, inner_predict = fit(np.setdiff1d(train, other))
                inner |= {i: inner_predict(inner_view.row(rows[i])) for i in other}
        states = oracle.state(
            view.rows([rows[i] for i in test]),
            p[test],
            view.rows([rows[i] for i in train]),
            y[train],
            [inner[i] for i in train],
            predict,
        )
        for i, psi in zip(test, states, strict=True):
            training[i] = psi
    view, predict = fit(np.arange(len(y)))
    z = view.rows(queries)
    new = oracle.state(z, [predict(r) for r in z], view.rows(rows), y, p, predict)
    return training, new, p


@pytest.fixture(scope="module", params=[0, 1])
def audited(request):
    X, y = awkward_table(110, seed=request.param)
    query, labels = awkward_table(40, seed=100 + request.param)
    query.loc[0, "kind"] = "never seen"
    falcon = FalconDiscover("logistic_regression", random_state=SEED, tau=0.8).fit(X, y)
    training, new, p = library_oracle(X, y, query)
    return falcon, X, y, query, labels, training, new, p


def test_state_of_new_rows_equals_the_oracle(audited):
    falcon, _, _, query, _, _, new, _ = audited
    assert_same(falcon.transform(query), new)


def test_state_of_training_rows_is_out_of_fold_and_equals_the_oracle(audited):
    falcon, _, _, _, _, training, _, p = audited
    assert_same(falcon.examine().frame(), training)
    np.testing.assert_allclose(falcon.examine().state.p, p, atol=1e-6)


def test_fixed_rankers_equal_the_oracle(audited):
    falcon, _, _, query, labels, _, new, _ = audited
    found = falcon.examine(query, labels)
    np.testing.assert_allclose(
        found.score("s_stab", 0.8), [oracle.s_stab(s) for s in new], atol=1e-6
    )
    np.testing.assert_allclose(
        found.score("s_disc", 0.8), [oracle.s_disc(s) for s in new], atol=1e-6
    )
    np.testing.assert_allclose(
        found.score("confidence", 0.8), [s["confidence"] for s in new], atol=1e-6
    )
    gated = [2 - s["confidence"] if s["confidence"] >= 0.8 else s["confidence"] for s in new]
    np.testing.assert_allclose(found.score("gated_confidence", 0.8), gated, atol=1e-6)


@pytest.mark.parametrize("source", ["validation", "oof", "both"])
def test_learned_witness_equals_newton_on_the_rows_its_source_names(audited, source):
    falcon, _, y, query, labels, training, new, p = audited
    state = falcon.examine(query).state
    rows = TrainingRows(
        LabelledState(falcon.examine().state, y.astype(np.int8)),
        LabelledState(state, labels.astype(np.int8)),
    )
    tau = 0.7
    wrong = (p >= 0.5) != y
    oof = [
        (list(s.values()), w and s["confidence"] >= tau)
        for s, w in zip(training, wrong, strict=True)
    ]
    p_new = [s["confidence"] for s in new]
    new_wrong = (state.p >= 0.5) != labels
    validation = [
        (list(s.values()), w and c >= tau) for s, w, c in zip(new, new_wrong, p_new, strict=True)
    ]
    used = {"oof": oof, "validation": validation, "both": oof + validation}[source]
    assert 0 < sum(event for _, event in used) < len(used)
    expected = oracle.witness(
        [psi for psi, _ in used], [event for _, event in used], [list(s.values()) for s in new]
    )
    got = rows.ranker(rankers.LearnedWitness(source), tau).score(state)
    np.testing.assert_allclose(got, expected, atol=1e-6)


def test_a_pipeline_is_mixed_before_its_last_step():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) * [1, 10, 100]
    y = (X[:, 0] + X[:, 1] / 10 + rng.normal(size=120) > 0).astype(int)
    query = rng.normal(size=(20, 3)) * [1, 10, 100]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    falcon = FalconDiscover(model, random_state=SEED).fit(X, y)
    view = oracle.View(X.tolist())
    fitted = falcon.model_
    last = fitted[-1]
    before = fitted[:-1].transform(X)
    p = fitted.predict_proba(query)[:, 1]
    reference, rows = view.rows(X.tolist()), view.rows(query.tolist())
    # Standardising is affine: mixing coordinates of the view is mixing those of the pipeline.
    np.testing.assert_allclose(reference, before, atol=1e-6)
    expected = oracle.state(
        rows,
        p,
        reference,
        y,
        falcon.examine().state.p,
        lambda z: float(last.predict_proba([z])[0, 1]),
    )
    assert_same(falcon.transform(query), expected)


def test_a_numeric_array_is_mixed_as_it_is():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 2)) * [1, 50]
    y = (X[:, 0] + X[:, 1] / 50 > 0).astype(int)
    y[:10] = 1 - y[:10]
    model = LogisticRegression(max_iter=5000).fit(X, y)
    audit, labels = rng.normal(size=(80, 2)) * [1, 50], np.tile([0, 1], 40)
    falcon = FalconDiscover(FrozenEstimator(model), random_state=SEED).fit(audit, labels)
    query = rng.normal(size=(15, 2)) * [1, 50]
    view = oracle.View(audit.tolist())

    def predict(z):
        raw = [v * scale + mean for v, (_, _, mean, scale) in zip(z, view.columns, strict=True)]
        return float(model.predict_proba([raw])[0, 1])

    p = model.predict_proba(query)[:, 1]
    expected = oracle.state(
        view.rows(query.tolist()),
        p,
        view.rows(audit.tolist()),
        labels,
        model.predict_proba(audit)[:, 1],
        predict,
    )
    assert_same(falcon.transform(query), expected)


def test_predictions_only_have_every_signal_but_stability():
    X, y = awkward_table(90, seed=5)
    p = np.random.default_rng(0).uniform(size=90)
    found = discover(X, y, p, random_state=SEED)
    rows = as_rows(X)
    expected: list[dict] = [{}] * 90
    for train, test in StratifiedKFold(5, shuffle=True, random_state=SEED).split(rows, y):
        view = oracle.View([rows[i] for i in train])
        states = oracle.state(
            view.rows([rows[i] for i in test]),
            p[test],
            view.rows([rows[i] for i in train]),
            y[train],
            p[train],
            lambda z: 0.5,
        )
        for i, psi in zip(test, states, strict=True):
            expected[i] = psi
    assert_same(found.frame(), expected, SIGNALS[:6])
    assert found.frame()[list(SIGNALS[6:])].isna().all().all()
    assert "stability signals" in repr(found)


def test_auroc_equals_counting_pairs(audited):
    falcon, _, _, query, labels, _, _, _ = audited
    found = falcon.examine(query, labels)
    events = metrics.false_confidence(labels, found.state.p, 0.7)
    for name in ("s_stab", "s_disc", "gated_confidence"):
        score = found.score(name, 0.7)
        assert metrics.fc_auroc(events, score) == pytest.approx(oracle.auroc(events, score))


def test_neighbourhoods_are_smaller_where_there_are_fewer_rows():
    X, y = awkward_table(24, seed=2)
    with pytest.warns(DataWarning):
        falcon = FalconDiscover("logistic_regression", random_state=SEED).fit(X, y)
    assert (falcon.examine().state.evidence["neighbours"] < 25).all()
