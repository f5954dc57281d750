from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from falcon_discover import PAPER, DataWarning, FalconDiscover, datasets, discover
from falcon_discover.models import library
from falcon_discover.rankers import RANKERS, Ranker
from falcon_discover.scoring.scorer import score_table
from falcon_discover.signals.catalogue import SIGNALS
from support.tables import awkward_table

quiet = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")


@pytest.fixture(scope="module")
def planted():
    return datasets.make_planted(900, random_state=0)


@pytest.fixture(scope="module")
def frozen(planted):
    rows = slice(0, 600)
    model = FrozenEstimator(planted.model)
    return FalconDiscover(model, random_state=0).fit(planted.X[rows], planted.y[rows])


def test_transform_has_the_ten_signals_in_the_papers_order(frozen, planted):
    frame = frozen.transform(planted.X[600:])
    assert list(frame.columns) == list(SIGNALS)
    assert list(frozen.get_feature_names_out()) == list(SIGNALS)
    pd.testing.assert_index_equal(frame.index, planted.X[600:].index)


def test_signals_are_the_same_whether_or_not_more_is_measured(frozen, planted):
    new = planted.X[600:]
    pd.testing.assert_frame_equal(frozen.transform(new), frozen.examine(new).frame())


def test_the_base_model_is_unchanged(frozen, planted):
    new = planted.X[600:]
    np.testing.assert_allclose(frozen.predict_proba(new), planted.model.predict_proba(new))
    np.testing.assert_array_equal(frozen.predict(new), planted.model.predict(new))


def test_review_has_the_promised_columns_and_order(frozen, planted):
    review = frozen.review(planted.X[600:], budget=0.10)
    assert list(review.columns) == [
        "row", "suspicion", "p", "predicted", "confidence", "region", "region_id", "reason",
    ]  # fmt: skip
    assert len(review) == 30
    assert review["suspicion"].is_monotonic_decreasing
    np.testing.assert_array_equal(review.index, review["row"] + 600)
    known = {"", *(rule.words for rule in frozen.regions_.confirmed)}
    known |= {rule.words for rule in frozen.regions_.expected}
    assert set(review["region"]) <= known


def test_the_planted_region_leads_to_its_errors(frozen, planted):
    """The region's rows are confident errors half of the time; elsewhere almost never."""
    evaluation = frozen.evaluate(planted.X[600:], planted.y[600:])
    main = evaluation.frame().query("tau == 0.9 and budget == 0.2").set_index("ranker")
    assert main.loc["gated_confidence", "events"] > 5
    assert main.loc["gated_confidence", "capture"] > main.loc["confidence", "capture"]


@quiet
@pytest.mark.parametrize("ranker", sorted(RANKERS))
def test_every_ranker_works_by_name(planted, ranker):
    falcon = FalconDiscover(FrozenEstimator(planted.model), ranker=ranker, random_state=0)
    falcon.fit(planted.X[:500], planted.y[:500], X_cal=planted.X[500:700], y_cal=planted.y[500:700])
    scores = falcon.score_samples(planted.X[700:])
    assert scores.shape == (200,)
    assert np.isfinite(scores).all()
    assert falcon.score_samples().shape == (500,)


def test_a_ranker_of_ones_own_works_by_instance(planted):
    class Entropy(Ranker):
        name = "entropy"

        def score(self, state):
            return state.signals["entropy"].to_numpy()

    falcon = FalconDiscover(FrozenEstimator(planted.model), ranker=Entropy(), random_state=0)
    falcon.fit(planted.X[:500], planted.y[:500])
    np.testing.assert_allclose(
        falcon.score_samples(planted.X[500:]), falcon.transform(planted.X[500:])["entropy"]
    )
    assert falcon.evaluate(planted.X[500:], planted.y[500:]).ranker == "entropy"


def pipeline(categorical):
    return make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), ["steps", "size", "flat", "gap"]),
            (OneHotEncoder(handle_unknown="ignore"), categorical),
        ),
        LogisticRegression(),
    )


@quiet
def test_pandas_polars_and_numpy_give_the_same_numbers():
    X, y = awkward_table(150, seed=0)
    query, labels = awkward_table(40, seed=9)
    results = []
    for convert in (lambda t: t, pl.from_pandas, lambda t: t.to_numpy(dtype=object)):
        falcon = FalconDiscover(
            "logistic_regression", ranker="learned_oof", tau=0.7, random_state=0
        )
        falcon.fit(convert(X), y)
        found = falcon.examine(convert(query), labels)
        results.append((found.frame().to_numpy(), found.suspicion(), found.review()["row"]))
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@quiet
@pytest.mark.parametrize("kind", ["str", "category"])
def test_a_model_on_a_table_with_categories_gets_its_own_types(kind):
    X, y = awkward_table(150, seed=0)
    X["kind"] = X["kind"].fillna("none").astype(kind)

    class Strict(HistGradientBoostingClassifier):
        def predict_proba(self, table):
            assert isinstance(table, pd.DataFrame)
            assert table["kind"].dtype == X["kind"].dtype
            return super().predict_proba(table.drop(columns="kind"))

        def fit(self, table, y):
            return super().fit(table.drop(columns="kind"), y)

    model = Strict(max_iter=20).fit(X[:75], y[:75])
    falcon = FalconDiscover(FrozenEstimator(model), random_state=0).fit(X[75:], y[75:])
    assert falcon.transform(X[:10]).notna().all().all()


@quiet
def test_polars_in_polars_to_the_model():
    X, y = awkward_table(120, seed=0)
    seen = []

    class Watcher(LogisticRegression):
        def fit(self, table, y):
            seen.append(type(table))
            return super().fit(table.select("steps", "size").to_numpy(), y)

        def predict_proba(self, table):
            seen.append(type(table))
            return super().predict_proba(table.select("steps", "size").to_numpy())

    FalconDiscover(Watcher(), random_state=0).fit(pl.from_pandas(X), y)
    assert set(seen) == {pl.DataFrame}


@quiet
def test_a_pipeline_with_a_sparse_encoder_works():
    X, y = awkward_table(150, seed=0)
    falcon = FalconDiscover(pipeline(["kind"]), random_state=0).fit(X, y)
    assert falcon.transform(awkward_table(20, seed=1)[0]).notna().all().all()


@quiet
@pytest.mark.parametrize("name", library.names())
def test_one_thread_or_two_give_the_same_numbers(name):
    X, y = awkward_table(400, seed=4, few_values=False)
    new, _ = awkward_table(60, seed=5, few_values=False)
    frames = [
        FalconDiscover(name, cv=2, random_state=0, n_jobs=n_jobs).fit(X, y).transform(new)
        for n_jobs in (1, 2)
    ]
    pd.testing.assert_frame_equal(*frames, check_exact=True)


@quiet
def test_row_order_of_new_rows_does_not_matter():
    X, y = awkward_table(150, seed=0)
    new, _ = awkward_table(50, seed=1)
    falcon = FalconDiscover(RandomForestClassifier(20, random_state=0), random_state=0)
    falcon.set_params(estimator=make_pipeline(pipeline(["kind"])[0], falcon.estimator)).fit(X, y)
    order = np.random.default_rng(0).permutation(50)
    np.testing.assert_allclose(
        falcon.score_samples(new.iloc[order]), falcon.score_samples(new)[order]
    )


@quiet
def test_swapping_the_classes_does_not_matter():
    X, y = awkward_table(200, seed=0)
    new, _ = awkward_table(50, seed=1)
    one, other = (
        FalconDiscover("logistic_regression", random_state=0).fit(X, labels).transform(new)
        for labels in (y, 1 - y)
    )
    np.testing.assert_allclose(one, other, atol=1e-5)


@quiet
@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [0.0, 1.0]])
def test_any_two_labels_are_fine(labels):
    X, y = awkward_table(150, seed=0)
    named = np.array(labels)[y]
    plain = FalconDiscover("logistic_regression", random_state=0).fit(X, y)
    falcon = FalconDiscover("logistic_regression", random_state=0).fit(X, named)
    pd.testing.assert_frame_equal(falcon.transform(X[:30]), plain.transform(X[:30]))
    assert set(falcon.predict(X)) <= set(labels)
    assert set(falcon.review(X)["predicted"]) <= set(labels)
    assert falcon.evaluate(X, named).frame().equals(plain.evaluate(X, y).frame())


@quiet
def test_set_output_clone_and_pickle(planted):
    falcon = FalconDiscover(FrozenEstimator(planted.model), random_state=0)
    falcon.set_output(transform="polars").fit(planted.X[:300], planted.y[:300])
    frame = falcon.transform(planted.X[300:320])
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == list(SIGNALS)
    copy = clone(falcon)
    assert copy.get_params()["tau"] == 0.9
    again = pickle.loads(pickle.dumps(falcon))
    np.testing.assert_array_equal(
        again.score_samples(planted.X[300:]), falcon.score_samples(planted.X[300:])
    )


@quiet
@pytest.mark.parametrize("output", ["default", "polars"])
def test_fit_transform_is_out_of_fold(output):
    X, y = awkward_table(150, seed=0)
    falcon = FalconDiscover("logistic_regression", ranker="s_disc", random_state=0)
    falcon.set_output(transform=output)
    signals = falcon.fit_transform(X, y)
    assert isinstance(signals, pl.DataFrame if output == "polars" else pd.DataFrame)
    np.testing.assert_array_equal(signals, falcon.examine().frame())
    # A row that finds itself agrees with its own label.
    seen = falcon.transform(X)
    assert signals["label_agreement"].mean() < seen["label_agreement"].mean()


@quiet
def test_a_pipeline_learns_from_out_of_fold_signals():
    X, y = awkward_table(150, seed=0)
    new, _ = awkward_table(30, seed=1)
    falcon = FalconDiscover("logistic_regression", ranker="s_disc", random_state=0)
    chain = make_pipeline(falcon, StandardScaler(), LogisticRegression()).fit(X, y)
    apart = make_pipeline(StandardScaler(), LogisticRegression()).fit(falcon.examine().frame(), y)
    np.testing.assert_array_equal(
        chain.predict_proba(new), apart.predict_proba(falcon.transform(new))
    )


@quiet
def test_the_library_keeps_the_candidate_with_the_best_out_of_fold_auroc():
    X, y = awkward_table(150, seed=0)
    falcon = FalconDiscover(random_state=0, n_jobs=2).fit(X, y)
    assert set(falcon.candidates_) == set(PAPER.candidates)
    assert falcon.backbone_ == max(falcon.candidates_, key=falcon.candidates_.get)


@quiet
def test_a_candidate_that_is_not_installed_is_left_out_with_one_line(monkeypatch):
    X, y = awkward_table(120, seed=0)
    few = {name: library.CANDIDATES[name] for name in ("logistic_regression", "catboost")}
    few["catboost"] = library.Candidate(few["catboost"].make, "not_there_at_all", "catboost")
    monkeypatch.setattr(library, "CANDIDATES", few)
    with pytest.warns(
        DataWarning, match=r"catboost is left out.*pip install 'falcon-discover\[cat"
    ):
        falcon = FalconDiscover(random_state=0).fit(X, y)
    assert list(falcon.candidates_) == ["logistic_regression"]
    with pytest.raises(ValueError, match="needs a package that is not installed"):
        FalconDiscover("catboost", random_state=0).fit(X, y)


@quiet
def test_rows_given_to_fit_are_judged_out_of_fold_without_x(planted):
    falcon = FalconDiscover(LogisticRegression(), random_state=0)
    X = planted.X.select_dtypes("number").fillna(0)[:400]
    falcon.fit(X, planted.y[:400])
    assert len(falcon.review(budget=0.5)) == 200
    assert falcon.evaluate().model["rows"] == 400
    with pytest.warns(DataWarning, match="are also rows of the fit"):
        falcon.review(X)


def test_new_rows_bring_no_such_warning(planted):
    X = planted.X.select_dtypes("number").fillna(0)
    falcon = FalconDiscover(LogisticRegression(), random_state=0).fit(X[:400], planted.y[:400])
    falcon.review(X[400:])


def test_verdict_says_what_the_table_says(frozen, planted):
    evaluation = frozen.evaluate(planted.X[600:], planted.y[600:])
    main = evaluation.frame().query("tau == 0.9 and ranker == 'auto'")
    text = evaluation.verdict()
    for column in ("rows", "eligible", "events"):
        assert f"{main[column].iloc[0]:,}" in text
    assert f"riskiest 20% ({main['reviewed'].iloc[-1]} rows), {main['captured'].iloc[-1]}" in text
    assert text in repr(evaluation)
    assert evaluation.to_dict()["verdict"] == text


@quiet
def test_nothing_found_is_a_result_with_a_reason():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.tile([0, 1], 150)
    found = discover(X, y, np.where(y, 0.99, 0.01), random_state=0)
    evaluation = found.evaluate()
    assert evaluation.frame()["capture"].isna().all()
    assert "nothing to rank" in evaluation.verdict()
    assert evaluation.to_dict()["captures"][0]["capture"] is None
    unsure = discover(X, y, np.full(300, 0.6), random_state=0).evaluate().verdict()
    assert unsure.startswith("None of the 300 predictions")
    assert "90%" in unsure


@quiet
def test_learned_without_events_falls_back_to_the_gate_and_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.tile([0, 1], 150)
    p = np.clip(np.where(y, 0.95, 0.05) + rng.normal(0, 0.02, 300), 0, 1)
    found = discover(X, y, p, ranker="learned_oof", random_state=0)
    with pytest.warns(DataWarning, match="ranks by gated confidence"):
        scores = found.suspicion()
    np.testing.assert_array_equal(scores, found.score("gated_confidence", 0.9))


class Plain:
    """A user's own ranker, which knows nothing of this package."""

    __slots__ = ()

    def fit(self, state, false_confidence, tau=0.9):
        return self

    def score(self, state):
        return -state.confidence


def test_an_object_with_fit_and_score_is_a_ranker():
    rows, new = (datasets.make_planted(n, random_state=n) for n in (300, 60))
    falcon = FalconDiscover("logistic_regression", ranker=Plain(), random_state=0)
    falcon.fit(rows.X, rows.y)
    assert isinstance(falcon.ranker_, Plain)
    found = falcon.examine(new.X, new.y)
    np.testing.assert_array_equal(found.suspicion(), -found.state.confidence)
    assert found.risk() is None
    assert next(iter(found.compared())) == "Plain"
    scores = score_table(falcon, new.X)
    np.testing.assert_array_equal(scores["suspicion"], found.suspicion())
