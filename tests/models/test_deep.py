"""Deep models as scikit-learn classifiers. `make test-deep` runs these where torch is installed."""

from __future__ import annotations

import pickle
import time
from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from falcon_discover import FalconDiscover, datasets
from falcon_discover.exceptions import InputError
from falcon_discover.models import library

torch = pytest.importorskip("torch")

N = 500
# Long enough to learn from 500 rows; on one thread.
EPOCHS = {
    "realmlp": 60,
    "realmlp_smoothed": 60,
    "ft_transformer": 10,
    "saint": 25,
    "saint_rows": 60,
}


def _model(name, **params):
    if not library.DEEP[name].installed:
        pytest.skip(f"the packages of {name} are not installed")
    made = library.DEEP[name].make(0, 1)
    return made.set_params(device="cpu", max_epochs=EPOCHS[name], **params)


@pytest.fixture(scope="module")
def rows():
    planted = datasets.make_planted(2 * N, random_state=0)
    X = planted.X.copy()
    for place, name in enumerate(X.columns):
        X[name] = X[name].mask(np.arange(len(X)) % 50 == place)
    return X, planted.y


@pytest.fixture(scope="module")
def fitted(rows):
    X, y = rows
    known = {}

    def once(name):
        if name not in known:
            # On one thread, and not what other programs take meanwhile.
            started = time.process_time()
            known[name] = _model(name).fit(X[:N], y[:N]), time.process_time() - started
        return known[name]

    return once


@pytest.fixture(params=list(library.DEEP))
def name(request):
    return request.param


def test_learns_from_a_table_with_categories_and_gaps(name, rows, fitted):
    X, y = rows
    model, _ = fitted(name)
    p = model.predict_proba(X[N:])
    assert p.shape == (N, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-6)
    assert roc_auc_score(y[N:], p[:, 1]) > 0.7
    assert (model.predict(X[N:]) == model.classes_[p.argmax(axis=1)]).all()


def test_trains_on_500_rows_in_seconds(name, fitted):
    assert fitted(name)[1] < 20


def test_the_same_seed_gives_the_same_model_and_leaves_torch_alone(name, rows, fitted):
    X, y = rows
    model, _ = fitted(name)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    threads = torch.get_num_threads()
    again = clone(model).fit(X[:N], y[:N])
    np.testing.assert_array_equal(again.predict_proba(X[N:]), model.predict_proba(X[N:]))
    other = clone(model).set_params(random_state=1).fit(X[:N], y[:N])
    assert not np.allclose(other.predict_proba(X[N:]), model.predict_proba(X[N:]))
    assert torch.get_num_threads() == threads
    if not name.startswith("realmlp"):
        assert torch.equal(torch.get_rng_state(), before)


def test_a_row_has_the_same_score_whoever_else_is_asked_about(name, rows, fitted):
    X, _ = rows
    model, _ = fitted(name)
    p = model.predict_proba(X[N:])
    for chosen in ([3], [7, 3, 400], list(range(N - 1, -1, -1))):
        few = model.predict_proba(X[N:].iloc[chosen])
        # Sums of products in another order: the last digits of single precision.
        np.testing.assert_allclose(few, p[chosen], atol=2e-6)


def test_early_stopping_looks_at_rows_of_the_fit_only(name, rows, fitted):
    X, y = rows
    model, _ = fitted(name)
    held_out = model.validation_rows_
    assert len(held_out) == round(model.validation_fraction * N)
    assert held_out.min() >= 0
    assert held_out.max() < N
    # Numbers and categories that only the held-out rows have are unknown to the model's scaling.
    odd = X[:N].copy()
    text = odd.select_dtypes(exclude="number").columns[0]
    odd[text] = odd[text].astype(object)
    odd.iloc[held_out, odd.columns.get_loc(text)] = "only here"
    alone = clone(model).set_params(max_epochs=1).fit(odd, y[:N])
    assert "only here" not in set(alone.columns_.categories[text])


def test_a_pickled_copy_gives_the_same_scores(rows, fitted):
    X, _ = rows
    model, _ = fitted("saint")
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X[N:]), model.predict_proba(X[N:]))


def test_numbers_without_names_will_do(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    model = _model(name).fit(X, y)
    assert list(model.classes_) == ["no", "yes"]
    assert set(model.predict(X)) <= {"no", "yes"}


@pytest.mark.parametrize(
    ("params", "y", "match"),
    [
        ({"device": "tpu"}, [0, 1] * 20, "device is 'tpu'"),
        ({"validation_fraction": 1.5}, [0, 1] * 20, "validation_fraction is 1.5"),
        ({}, [0] * 40, "one class only"),
        ({}, [0, 1], "40 rows and y 2"),
    ],
)
def test_what_cannot_be_fitted_is_said(params, y, match):
    with pytest.raises(InputError, match=match):
        _model("saint").set_params(**params).fit(np.zeros((40, 2)), y)


def test_a_missing_gpu_is_said():
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(InputError, match="use 'auto' or 'cpu'"):
        _model("saint").set_params(device="cuda").fit(np.zeros((40, 2)), [0, 1] * 20)


def test_rows_compared_with_the_context_are_as_in_a_batch_of_context_and_row():
    """Attention with the context and itself is attention in the batch of both, without dropout."""
    from falcon_discover.models.deep.networks import Attention

    torch.manual_seed(0)
    attention = Attention(12, heads=3, head_width=4, dropout=0.5).eval()
    context, asking = torch.randn(5, 12), torch.randn(3, 12)
    found = attention.with_itself(asking, context)
    for place, row in enumerate(asking):
        together = torch.cat([row.unsqueeze(0), context]).unsqueeze(0)
        expected = attention(together, together)[0, 0]
        torch.testing.assert_close(found[place], expected, rtol=1e-5, atol=1e-6)


def test_saint_sees_every_column(rows):
    X, y = rows
    model = _model("saint").set_params(max_epochs=1).fit(X[:N], y[:N])
    p = model.predict_proba(X[N:])
    for column in X.columns:
        changed = X[N:].assign(**{column: X[column].iloc[N:].to_numpy()[::-1]})
        assert not np.allclose(model.predict_proba(changed), p, atol=1e-9), column


def test_the_contract_of_scikit_learn(name, rows, fitted):
    X, y = rows
    model, _ = fitted(name)
    # A fit leaves the parameters alone, and a copy has them and nothing learned.
    assert model.get_params() == _model(name).get_params()
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.predict_proba(X)
    assert is_classifier(model)
    assert model.n_features_in_ == X.shape[1]
    assert list(model.feature_names_in_) == list(X.columns)
    with pytest.raises(ValueError, match=X.columns[0]):
        model.predict_proba(X.drop(columns=X.columns[0]))
    assert model.score(X[N:], y[N:]) == np.mean(model.predict(X[N:]) == y[N:])


def _quick(monkeypatch, rows):
    """Return an audit with SAINT as its base model, hardly trained."""
    X, y = rows
    make = library.DEEP["saint"].make
    quick = replace(
        library.DEEP["saint"], make=lambda seed, n: make(seed, n).set_params(max_epochs=2)
    )
    monkeypatch.setitem(library.DEEP, "saint", quick)
    return FalconDiscover("saint", tau=0.6, random_state=0, n_jobs=1).fit(X[:200], y[:200])


def test_as_a_named_backbone(monkeypatch, rows):
    X, _ = rows
    falcon = _quick(monkeypatch, rows)
    assert falcon.backbone_ == "saint"
    assert list(falcon.candidates_) == ["saint"]
    assert "mean_drift" in falcon.examine().frame()
    assert len(falcon.score_samples(X[N:])) == N


def test_an_audit_of_a_deep_model_is_kept_by_joblib_and_not_saved(monkeypatch, rows, tmp_path):
    X, _ = rows
    falcon = _quick(monkeypatch, rows)
    with pytest.raises(InputError, match=r"cannot be saved.*joblib\.dump"):
        falcon.save(tmp_path / "audit.falcon")
    assert not list(tmp_path.iterdir())
    joblib.dump(falcon, tmp_path / "audit.joblib")
    again = joblib.load(tmp_path / "audit.joblib")
    np.testing.assert_array_equal(again.score_samples(X[N:]), falcon.score_samples(X[N:]))
