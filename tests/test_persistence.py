from __future__ import annotations

import hashlib
import json
import pickle
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from catboost import CatBoostClassifier
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

from falcon_discover import DataWarning, FalconDiscover, InputError, backbones, datasets, load
from falcon_discover.persistence import archive, contents
from falcon_discover.rankers import GatedRisk

BACKBONES = [*backbones.CANDIDATES, *backbones.COMPARATORS]
TRAIN = datasets.make_planted(300, random_state=0)
OTHER = datasets.make_planted(300, random_state=1)
NEW = datasets.make_planted(80, random_state=2)
NUMBERS = ["signal_a", "signal_b", "load", "height"]
MIXED = [*NUMBERS, "colour"]


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
    """An audit with little in it, and its bytes."""
    X, y = TRAIN.X[MIXED], TRAIN.y
    falcon = FalconDiscover("logistic_regression", cv=2, random_state=0)
    return falcon.fit(X, y, X_cal=OTHER.X[MIXED], y_cal=OTHER.y)


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


def numeric_pipeline():
    return make_pipeline(StandardScaler(), LogisticRegression())


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
            TRAIN.X[["colour"]].fillna("none").to_numpy(dtype=object),
            TRAIN.y,
            NEW.X[["colour"]].fillna("none").to_numpy(dtype=object),
        ),
    }


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
        again.discovery_.score("learned_both", 0.8), audit.discovery_.score("learned_both", 0.8)
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
    assert len(falcon.regions_.rules) + len(falcon.regions_.foreseen)
    again = saved(falcon, tmp_path)
    assert str(again.regions_) == str(falcon.regions_)
    pd.testing.assert_frame_equal(again.regions_.frame(), falcon.regions_.frame())
    pd.testing.assert_frame_equal(again.review(), falcon.review(), check_exact=True)
    pd.testing.assert_frame_equal(
        again.discovery_.table.frame, falcon.discovery_.table.frame, check_exact=True
    )
    new = X[:50].assign(height=X["height"][:50] + 0.01)
    for method in ("platt", "discrepancy"):
        before, after = (f.calibrated(method).predict_proba(new) for f in (falcon, again))
        assert np.array_equal(before, after), method


def test_row_labels_of_the_fit_come_back(tmp_path):
    X = TRAIN.X[NUMBERS].fillna(0).set_axis([f"case {i}" for i in range(300)])
    falcon = FalconDiscover(numeric_pipeline(), cv=2, random_state=0).fit(X, TRAIN.y)
    again = saved(falcon, tmp_path)
    assert list(again.discovery_.frame().index[:2]) == ["case 0", "case 1"]


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
    assert abs(again.discovery_.codes.mean() - TRAIN.y.mean()) < 0.02
    # New rows are compared with fewer rows; the model and the ranker are the same.
    X = NEW.X[MIXED]
    assert np.array_equal(again.predict_proba(X), audit.predict_proba(X))
    assert not np.array_equal(again.score_samples(X), audit.score_samples(X))
    eligible = audit.examine(X).state.eligible(audit.tau)
    assert (again.score_samples(X)[~eligible] == 0).all()
    # Rows of the fit keep the scores they had.
    before = pd.Series(audit.score_samples(), audit.discovery_.index)
    after = pd.Series(again.score_samples(), again.discovery_.index)
    assert after.equals(before[after.index])
    # Saved again, it is still a sample.
    again.save(tmp_path / "second.falcon")
    second = archive.Archive.open(tmp_path / "second.falcon").manifest
    assert (second["reference"]["kept"], second["reference"]["of"]) == ("sample", 300)
    # Fitted again, it is whole.
    again.fit(OTHER.X[MIXED], OTHER.y).save(tmp_path / "third.falcon")
    third = archive.Archive.open(tmp_path / "third.falcon").manifest
    assert (third["reference"]["kept"], third["reference"]["rows"]) == ("full", 300)


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
    assert sorted(names) == ["manifest.json", "objects.skops"]


def rewritten(source: Path, change, *, checksums=True) -> Path:
    """Return a copy of a saved audit whose parts `change` has altered."""
    with zipfile.ZipFile(source) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(parts.pop("manifest.json"))
    change(parts, manifest)
    if checksums:
        for name, data in parts.items():
            digest = hashlib.sha256(data).hexdigest()
            manifest["parts"][name] = {"bytes": len(data), "sha256": digest}
    target = source.with_name("altered.falcon")
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("manifest.json", json.dumps(manifest))
        for name, data in parts.items():
            file.writestr(name, data)
    return target


@pytest.fixture
def file(audit, tmp_path):
    return audit.save(tmp_path / "audit.falcon")


def test_an_altered_part_is_named(file):
    for part in json.loads(zipfile.ZipFile(file).read("manifest.json"))["parts"]:

        def flip(parts, manifest, part=part):
            data = bytearray(parts[part])
            data[len(data) // 2] ^= 1
            parts[part] = bytes(data)

        with pytest.raises(InputError, match=f"its part {part} does not have the checksum"):
            load(rewritten(file, flip, checksums=False))


def test_a_missing_part_and_a_strange_one_are_named(file):
    with pytest.raises(InputError, match=r"its part reference\.npz is missing"):
        load(rewritten(file, lambda parts, _: parts.pop("reference.npz"), checksums=False))
    with pytest.raises(InputError, match=r"has a part more\.pkl that"):
        load(rewritten(file, lambda parts, _: parts.update({"more.pkl": b""}), checksums=False))


def test_every_truncation_is_refused(file):
    whole = file.read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 30, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"cut off|damaged"):
            load(file)


def test_a_flipped_bit_anywhere_never_passes_unseen(file, audit):
    whole = file.read_bytes()
    expected = audit.score_samples(NEW.X[MIXED])
    for position in np.linspace(0, len(whole) - 1, 40).astype(int):
        altered = bytearray(whole)
        altered[position] ^= 4
        try:
            scores = load(bytes(altered)).score_samples(NEW.X[MIXED])
        except InputError:
            continue
        # Only fields of the zip that say nothing about the content, such as times, may differ.
        assert np.array_equal(scores, expected), position


def test_schemas_of_other_versions(file, monkeypatch):
    newer = rewritten(file, lambda _, manifest: manifest.update(schema=99))
    with pytest.raises(InputError, match=r"schema 99.*install that version or a newer one"):
        load(newer)
    monkeypatch.setattr(archive, "OLDEST", 2)
    with pytest.raises(InputError, match=r"in schema 1.*Install falcon-discover"):
        load(file)


def test_other_versions_of_a_models_library_are_mentioned(file):
    def older(_, manifest):
        manifest["versions"]["scikit-learn"] = "1.8.0"

    with pytest.warns(DataWarning, match=r"saved with scikit-learn 1\.8\.0"):
        load(rewritten(file, older))


def test_what_is_no_saved_audit_is_refused(tmp_path):
    for name, content in {"a.falcon": b"", "b.falcon": b"PK\x03\x04 nothing"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="is no saved audit"):
            load(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "c.falcon", "w") as file:
        file.writestr("manifest.json", "{}")
    with pytest.raises(InputError, match="is no saved audit"):
        load(tmp_path / "c.falcon")
    with pytest.raises(InputError, match="there is no file"):
        load(tmp_path / "d.falcon")


class Mark:
    """Leaves a file behind when it is unpickled, or rebuilt from a state."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self):
        return (Path.touch, (Path(self.path),))


class MarkByState:
    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __getstate__(self):
        return {"path": self.path}

    def __setstate__(self, state):
        Path(state["path"]).touch()


def payloads(mark: Path) -> dict[str, dict[str, bytes]]:
    pickled = pickle.dumps(Mark(mark))
    arrays = BytesIO()
    np.savez(arrays, coordinates=np.array([Mark(mark)], dtype=object), allow_pickle=True)
    return {
        "pickle in place of the objects": {"objects.skops": pickled},
        "pickle in place of arrays": {"reference.npz": pickled},
        "pickled objects among the arrays": {"reference.npz": arrays.getvalue()},
        "an object that acts when it is rebuilt": {
            "objects.skops": skops.io.dumps(MarkByState(mark))
        },
        "a function of the operating system": {"objects.skops": skops.io.dumps(Path.touch)},
    }


@pytest.mark.parametrize("kind", payloads(Path("unused")))
def test_a_malicious_payload_is_refused_and_does_nothing(kind, file, tmp_path):
    mark = tmp_path / "mark"
    parts = payloads(mark)[kind]
    altered = rewritten(file, lambda found, _: found.update(parts))
    with pytest.raises(InputError, match=r"objects\.skops|reference\.npz"):
        load(altered)
    assert not mark.exists()


def test_the_payloads_would_leave_a_mark_if_they_were_run(tmp_path):
    pickle.loads(pickle.dumps(Mark(tmp_path / "one")))
    data = skops.io.dumps(MarkByState(tmp_path / "two"))
    skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


class Doubled(TransformerMixin, BaseEstimator):
    """A transformer that only its author knows."""

    def fit(self, X, y=None):
        self.factor_ = 2
        return self

    def transform(self, X):
        return np.asarray(X) * self.factor_


def test_a_type_of_ones_own_must_be_trusted_by_name(tmp_path):
    X = TRAIN.X[NUMBERS].fillna(0)
    model = make_pipeline(Doubled(), LogisticRegression())
    falcon = FalconDiscover(model, cv=2, random_state=0).fit(X, TRAIN.y)
    path = falcon.save(tmp_path / "audit.falcon")
    own = f"{Doubled.__module__}.Doubled"
    with pytest.raises(InputError, match=f"not known to be safe: {own}"):
        load(path)
    new = NEW.X[NUMBERS].fillna(0)
    assert np.array_equal(load(path, trusted=[own]).score_samples(new), falcon.score_samples(new))


def test_what_cannot_be_stored_is_said_and_the_older_file_stays(file, audit):
    before = file.read_bytes()
    falcon = FalconDiscover(numeric_pipeline(), cv=2, random_state=0)
    falcon.fit(TRAIN.X[NUMBERS].fillna(0), TRAIN.y)
    falcon.set_params(estimator=make_pipeline(lambda X: X))
    with pytest.raises(InputError, match="cannot be saved"):
        falcon.save(file)
    with pytest.raises(InputError, match="choose one of full, sample, none"):
        audit.save(file, "some")
    with pytest.raises(InputError, match="there is no folder"):
        audit.save(file.parent / "absent" / "audit.falcon")
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]
