from __future__ import annotations

import json
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from catboost import CatBoostClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

from falcon_discover import DataWarning, FalconDiscover, InputError, datasets, load
from falcon_discover.models import library
from falcon_discover.rankers import GatedRisk
from falcon_discover.storage import archive, contents, frames
from support.saving import MIXED, NEW, NUMBERS, OTHER, TRAIN, numeric_pipeline, small_audit

BACKBONES = [*library.CANDIDATES, *library.COMPARATORS]


def saved(falcon, folder, reference="full"):
    return load(falcon.save(folder / "audit.falcon", reference))


def same(falcon, again, X, y):
    assert np.array_equal(again.score_samples(X), falcon.score_samples(X))
    assert np.array_equal(again.predict_proba(X), falcon.predict_proba(X))
    assert np.array_equal(again.predict(X), falcon.predict(X))
    pd.testing.assert_frame_equal(again.transform(X), falcon.transform(X), check_exact=True)
    pd.testing.assert_frame_equal(again.review(X), falcon.review(X), check_exact=True)
    assert again.evaluate(X, y, taus=()).to_dict() == falcon.evaluate(X, y, taus=()).to_dict()
    # The rows of the fit, each judged out-of-fold.
    assert np.array_equal(again.score_samples(), falcon.score_samples())
    pd.testing.assert_frame_equal(again.review(), falcon.review(), check_exact=True)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with one saved audit per backbone, and the scores of new rows before saving."""
    folder = tmp_path_factory.mktemp("saved")
    NEW.X.to_parquet(folder / "new.parquet")
    for name in BACKBONES:
        falcon = FalconDiscover(name, cv=2, random_state=0).fit(TRAIN.X, TRAIN.y)
        np.save(folder / f"{name}.npy", falcon.score_samples(NEW.X))
        falcon.save(folder / f"{name}.falcon")
    return folder


@pytest.fixture(scope="module")
def audit():
    return small_audit()


def test_scores_are_the_same_to_the_last_bit_in_another_process_for_every_backbone(place):
    program = """
import sys
from pathlib import Path
import numpy as np, pandas as pd
from falcon_discover import load
folder = Path(sys.argv[1])
rows = pd.read_parquet(folder / "new.parquet")
for name in sys.argv[2:]:
    np.save(folder / f"{name}-again.npy", load(folder / f"{name}.falcon").score_samples(rows))
"""
    subprocess.run([sys.executable, "-c", program, str(place), *BACKBONES], check=True)
    for name in BACKBONES:
        before, after = np.load(place / f"{name}.npy"), np.load(place / f"{name}-again.npy")
        assert np.array_equal(before, after), name
        assert len(np.unique(before)) > 2, name


@pytest.mark.parametrize(
    ("name", "part"), [("xgboost", "ubj"), ("catboost", "cbm"), ("lightgbm", "txt")]
)
def test_boosters_are_stored_in_their_own_format(place, name, part):
    with zipfile.ZipFile(place / f"{name}.falcon") as file:
        assert [member for member in file.namelist() if member.endswith(part)]
        manifest = json.loads(file.read("manifest.json"))
    assert name in manifest["versions"]


def mixed_pipeline():
    return make_pipeline(
        make_column_transformer(
            (StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), ["colour"])
        ),
        LogisticRegression(),
    )


def frozen(model, X, y):
    return FrozenEstimator(model.fit(X, y))


def cases():
    X, other, new = TRAIN.X[NUMBERS], OTHER.X[NUMBERS], NEW.X[NUMBERS]
    mixed, mixed_new = TRAIN.X[MIXED].dropna(), NEW.X[MIXED].dropna()
    words = np.where(TRAIN.y, "yes", "no")
    sparse = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    texts, new_texts = TRAIN.X[["colour"]], NEW.X[["colour"]]
    boosted = XGBClassifier(n_estimators=10)
    return {
        "pipeline": (numeric_pipeline(), X.fillna(0), words, new.fillna(0)),
        "pipeline of a table with texts": (mixed_pipeline(), mixed, words[mixed.index], mixed_new),
        "sparse rows": (sparse, texts, words, new_texts),
        "frozen": (
            frozen(HistGradientBoostingClassifier(max_iter=20), other, OTHER.y),
            X,
            TRAIN.y,
            new,
        ),
        "frozen, on texts": (
            frozen(
                CatBoostClassifier(
                    iterations=10, cat_features=["colour"], verbose=0, allow_writing_files=False
                ),
                OTHER.X[MIXED].dropna(),
                OTHER.y[OTHER.X[MIXED].notna().all(axis=1)],
            ),
            mixed,
            TRAIN.y[mixed.index],
            mixed_new,
        ),
        "calibrated booster": (
            CalibratedClassifierCV(boosted, cv=2),
            X.to_numpy(),
            TRAIN.y,
            new.to_numpy(),
        ),
        "polars": (boosted, pl.from_pandas(X), TRAIN.y, pl.from_pandas(new)),
        "array of objects": (
            make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()),
            TRAIN.X[["colour"]].astype(object).fillna("none").to_numpy(dtype=object),
            TRAIN.y,
            NEW.X[["colour"]].astype(object).fillna("none").to_numpy(dtype=object),
        ),
    }


@pytest.mark.filterwarnings("ignore:.*have a twin:falcon_discover.DataWarning")
@pytest.mark.parametrize("case", cases())
def test_a_users_model_comes_back_whole(case, tmp_path):
    estimator, X, y, new = cases()[case]
    falcon = FalconDiscover(estimator, cv=2, random_state=0).fit(X, y)
    labels = falcon.predict(new)
    same(falcon, saved(falcon, tmp_path), new, np.resize(np.unique(y), len(labels)))


def test_settings_and_learned_attributes_come_back(audit, tmp_path):
    again = saved(audit, tmp_path)
    assert again.get_params() == audit.get_params()
    assert again.candidates_ == audit.candidates_
    assert again.backbone_ == audit.backbone_
    assert list(again.feature_names_in_) == list(audit.feature_names_in_)
    assert again.n_features_in_ == audit.n_features_in_
    assert str(again.regions_) == str(audit.regions_)
    # A ranker for another threshold is learned anew, from the same rows.
    assert np.array_equal(
        again.examine().score("learned_both", 0.8), audit.examine().score("learned_both", 0.8)
    )
    same(audit, again, NEW.X[MIXED], NEW.y)


def test_a_ranker_and_folds_of_ones_own_come_back(tmp_path):
    falcon = FalconDiscover(
        numeric_pipeline(),
        ranker=GatedRisk("surprise", leave_out=("features",)),
        n_neighbors=np.int64(20),
        mix=tuple(np.float32([0.25, 0.5])),
        cv=StratifiedKFold(2),
        random_state=np.random.RandomState(3),
    ).fit(TRAIN.X[NUMBERS].fillna(0), TRAIN.y)
    same(falcon, saved(falcon, tmp_path), NEW.X[NUMBERS].fillna(0), NEW.y)


def test_regions_in_words_and_calibrators_come_back(tmp_path):
    rows = datasets.make_planted(2500, random_state=0)
    X = rows.X[MIXED].assign(when=pd.date_range("2024-01-01", periods=2500, freq="h"))
    falcon = FalconDiscover("hist_gradient_boosting", tau=0.7, cv=2, random_state=0).fit(X, rows.y)
    assert len(falcon.regions_.unexpected) + len(falcon.regions_.expected)
    again = saved(falcon, tmp_path)
    assert str(again.regions_) == str(falcon.regions_)
    pd.testing.assert_frame_equal(again.regions_.frame(), falcon.regions_.frame())
    pd.testing.assert_frame_equal(again.review(), falcon.review(), check_exact=True)
    pd.testing.assert_frame_equal(
        again.examine().table.frame, falcon.examine().table.frame, check_exact=True
    )
    new = X[:50].assign(height=X["height"][:50] + 0.01)
    for method in ("platt", "discrepancy"):
        before, after = (f.calibrated(method).predict_proba(new) for f in (falcon, again))
        assert np.array_equal(before, after), method


def test_row_labels_of_the_fit_come_back(tmp_path):
    X = TRAIN.X[NUMBERS].fillna(0).set_axis([f"case {i}" for i in range(300)])
    falcon = FalconDiscover(numeric_pipeline(), cv=2, random_state=0).fit(X, TRAIN.y)
    again = saved(falcon, tmp_path)
    assert list(again.examine().frame().index[:2]) == ["case 0", "case 1"]


def test_a_sample_keeps_the_share_of_each_class_and_scores_the_same_rows(
    audit, tmp_path, monkeypatch
):
    monkeypatch.setattr(contents, "SAMPLE_AT_LEAST", 60)
    again = saved(audit, tmp_path, "sample")
    manifest = archive.Archive.open(tmp_path / "audit.falcon").manifest
    assert manifest["reference"] == {
        "kept": "sample", "rows": 60, "validation_rows": 60, "of": 300, "encoded": None,
        "recall": 1.0,
    }  # fmt: skip
    assert abs(again.examine().codes.mean() - TRAIN.y.mean()) < 0.02
    # New rows are compared with fewer rows; the model and the ranker are the same.
    X = NEW.X[MIXED]
    assert np.array_equal(again.predict_proba(X), audit.predict_proba(X))
    assert not np.array_equal(again.score_samples(X), audit.score_samples(X))
    eligible = audit.examine(X).state.eligible(audit.tau)
    assert (again.score_samples(X)[~eligible] == 0).all()
    # Rows of the fit keep the scores they had.
    before = pd.Series(audit.score_samples(), audit.examine().index)
    after = pd.Series(again.score_samples(), again.examine().index)
    assert after.equals(before[after.index])
    # Saved again, it is still a sample.
    again.save(tmp_path / "second.falcon")
    second = archive.Archive.open(tmp_path / "second.falcon").manifest
    assert (second["reference"]["kept"], second["reference"]["of"]) == ("sample", 300)
    # Fitted again, it is whole.
    again.fit(OTHER.X[MIXED], OTHER.y).save(tmp_path / "third.falcon")
    third = archive.Archive.open(tmp_path / "third.falcon").manifest
    assert (third["reference"]["kept"], third["reference"]["rows"]) == ("full", 300)


def test_a_sample_is_a_tenth_of_the_rows_and_of_each_class(audit, tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "SAMPLE_AT_LEAST", 10)
    file = archive.Archive.open(audit.save(tmp_path / "audit.falcon", "sample"))
    labels = frames.from_npz(file.parts["reference.npz"], file.limit, "it")["labels"]
    by_class = np.round(np.bincount(TRAIN.y) / 10)
    assert np.bincount(labels).tolist() == by_class.tolist()


def test_without_rows_only_gated_confidence_is_left_and_it_says_so(audit, tmp_path):
    again = saved(audit, tmp_path, "none")
    X, y = NEW.X[MIXED], NEW.y
    assert np.array_equal(again.predict_proba(X), audit.predict_proba(X))
    with pytest.warns(DataWarning, match="without reference rows"):
        scores = again.score_samples(X)
    assert np.array_equal(scores, audit.examine(X).score("gated_confidence", audit.tau))
    with pytest.warns(DataWarning, match="without reference rows"):
        assert (again.review(X)["region"] == "").all()
    with pytest.warns(DataWarning, match="without reference rows"):
        assert "gated_confidence" in str(again.evaluate(X, y))
    with pytest.warns(DataWarning, match="without reference rows"):
        assert again.transform(X)["support"].isna().all()
    for ask in (again.score_samples, again.evaluate, again.review, again.contributions):
        with pytest.raises(InputError, match="left out when this audit was saved"):
            ask()
    with pytest.raises(InputError, match="no reference rows to save"):
        again.save(tmp_path / "more.falcon", "full")
    names = zipfile.ZipFile(tmp_path / "audit.falcon").namelist()
    assert sorted(names) == ["manifest.json", "manifest.sha256", "objects.skops"]
