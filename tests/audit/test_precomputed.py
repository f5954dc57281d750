"""An audit without a model: the scores come with the rows, in every call."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, InputError, datasets, discover, load
from falcon_discover.cli import app
from falcon_discover.scoring.run import score_files

FIT = datasets.make_planted(700, random_state=0)
NEW = datasets.make_planted(200, random_state=1)


def made(**options) -> FalconDiscover:
    return FalconDiscover("precomputed", random_state=0, **options)


@pytest.fixture(scope="module")
def falcon() -> FalconDiscover:
    return made().fit(FIT.X, FIT.y, proba=FIT.proba)


def test_discover_is_short_for_it(falcon):
    found = discover(FIT.X, FIT.y, FIT.proba, random_state=0)
    np.testing.assert_array_equal(found.suspicion(), falcon.score_samples())
    pd.testing.assert_frame_equal(found.frame(), falcon.examine().frame())


def test_new_rows_are_judged_by_the_scores_that_come_with_them(falcon):
    found = falcon.examine(NEW.X, NEW.y, proba=NEW.proba)
    np.testing.assert_array_equal(found.state.p, NEW.proba)
    wrong = (NEW.proba >= 0.5) != NEW.y
    sure = np.maximum(NEW.proba, 1 - NEW.proba) >= 0.9
    np.testing.assert_array_equal(found.events, wrong & sure)
    # Other scores of the same rows, another suspicion: it is not the rows alone that count.
    turned = falcon.score_samples(NEW.X, proba=1 - NEW.proba)
    assert not np.array_equal(turned, found.suspicion())


def test_new_rows_get_the_signals_that_they_would_have_with_a_model(falcon):
    from sklearn.frozen import FrozenEstimator

    frozen = FrozenEstimator(FIT.model)
    own = FalconDiscover(frozen, random_state=0).fit(FIT.X, FIT.y)
    given = made().fit(FIT.X, FIT.y, proba=own.predict_proba(FIT.X))
    known = own.transform(NEW.X)
    alone = given.transform(NEW.X, proba=own.predict_proba(NEW.X))
    without = ["mean_drift", "max_drift", "label_consistency", "logit_variance"]
    pd.testing.assert_frame_equal(alone.drop(columns=without), known.drop(columns=without))
    assert alone[without].isna().all(axis=None)


def test_predictions_are_the_given_ones(falcon):
    p = falcon.predict_proba(NEW.X, proba=NEW.proba)
    np.testing.assert_array_equal(p[:, 1], NEW.proba)
    np.testing.assert_array_equal(
        falcon.predict(NEW.X, proba=NEW.proba), falcon.classes_[(NEW.proba >= 0.5).astype(int)]
    )


@pytest.mark.parametrize("keep", ["full", "sample", "none"])
@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
def test_a_saved_audit_gives_the_same_scores(falcon, keep, tmp_path):
    again = load(falcon.save(tmp_path / "audit.falcon", reference=keep))
    found = again.examine(NEW.X, NEW.y, proba=NEW.proba)
    if keep == "none":
        assert set(found.compared()) >= {"gated_confidence"}
    else:
        expected = falcon.score_samples(NEW.X, proba=NEW.proba)
        # All 700 rows are fewer than a sample has at least.
        np.testing.assert_array_equal(found.suspicion(), expected)


def test_a_saved_audit_knows_which_class_was_scored(tmp_path):
    labels = np.where(FIT.y == 1, "yes", "no")
    falcon = made().fit(FIT.X, labels, proba=1 - FIT.proba, positive="no")
    again = load(falcon.save(tmp_path / "audit.falcon"))
    for asked in (falcon, again):
        p = asked.predict_proba(NEW.X, proba=1 - NEW.proba)
        np.testing.assert_allclose(p[:, 1], NEW.proba)


@pytest.mark.parametrize("method", ["platt", "discrepancy"])
def test_given_scores_are_recalibrated(falcon, method):
    model = falcon.calibrated(method)
    p = model.predict_proba(NEW.X, proba=NEW.proba)
    assert p.shape == (len(NEW.X), 2)
    again = clone(model).fit(FIT.X, FIT.y, proba=FIT.proba)
    np.testing.assert_array_equal(again.predict_proba(NEW.X, proba=NEW.proba), p)


def test_what_is_missing_is_named(falcon):
    with pytest.raises(InputError, match=r"'precomputed': .* proba"):
        made().fit(FIT.X, FIT.y)
    with pytest.raises(InputError, match=r"no model: .* proba"):
        falcon.review(NEW.X)
    with pytest.raises(InputError, match="proba was given without X"):
        falcon.examine(proba=NEW.proba)
    with pytest.raises(InputError, match="no model to score those rows"):
        made().fit(FIT.X, FIT.y, proba=FIT.proba, X_cal=NEW.X, y_cal=NEW.y)
    own = FalconDiscover("logistic_regression", random_state=0)
    with pytest.raises(InputError, match="its own model"):
        own.fit(FIT.X, FIT.y, proba=FIT.proba)
    with pytest.raises(InputError, match="200"):
        falcon.examine(NEW.X, proba=NEW.proba[:-1])


def test_a_file_with_scores_is_scored(falcon, tmp_path):
    falcon.save(tmp_path / "audit.falcon")
    NEW.X.assign(score=NEW.proba).to_parquet(tmp_path / "new.parquet")
    arguments = [tmp_path / "audit.falcon", tmp_path / "new.parquet", "--out", tmp_path / "out"]
    ran = CliRunner().invoke(app, ["score", *map(str, arguments), "--proba", "score"])
    assert ran.exit_code == 0, ran.output
    scores = pd.read_parquet(tmp_path / "out")
    expected = falcon.score_samples(NEW.X, proba=NEW.proba)
    np.testing.assert_array_equal(scores["suspicion"], expected)
    np.testing.assert_array_equal(scores["p"], NEW.proba)


def test_score_says_which_column_it_needs(falcon, tmp_path):
    falcon.save(tmp_path / "audit.falcon")
    NEW.X.assign(score=NEW.proba).to_parquet(tmp_path / "new.parquet")
    audit, data = tmp_path / "audit.falcon", [tmp_path / "new.parquet"]
    with pytest.raises(InputError, match="with --proba"):
        score_files(audit, data, tmp_path / "out")
    with pytest.raises(InputError, match=r"lacks the column 'scores'.*'score'"):
        score_files(audit, data, tmp_path / "out", proba=["scores"])
    with pytest.raises(InputError, match="names a, b, c"):
        score_files(audit, data, tmp_path / "out", proba=["a", "b", "c"])
    with pytest.raises(InputError, match="as a feature"):
        score_files(audit, data, tmp_path / "out", proba=[FIT.X.columns[0]])


def test_an_audit_of_a_column_is_saved(tmp_path):
    table = FIT.X.assign(outcome=FIT.y, score=FIT.proba)
    table.to_parquet(tmp_path / "rows.parquet")
    ran = CliRunner().invoke(
        app,
        ["audit", str(tmp_path / "rows.parquet"), "--target", "outcome", "--proba", "score",
         "--save", str(tmp_path / "a.falcon"), "--out", str(tmp_path / "report"), "--quiet"],
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    assert load(tmp_path / "a.falcon").estimator == "precomputed"
