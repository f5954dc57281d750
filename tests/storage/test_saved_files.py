"""Files that were altered, cut off or are hostile, and audits that cannot be stored."""

from __future__ import annotations

import json
import pickle
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from falcon_discover import DataWarning, FalconDiscover, InputError, load
from falcon_discover.storage import manifest
from support.saving import MIXED, NEW, NUMBERS, TRAIN, numeric_pipeline, rewritten, small_audit


@pytest.fixture(scope="module")
def audit():
    return small_audit()


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
        with pytest.raises(InputError, match=r"cut off|damaged|is not a saved audit\.$"):
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
    monkeypatch.setattr(manifest, "OLDEST", 4)
    with pytest.raises(InputError, match=r"in schema 3.*Install falcon-discover"):
        load(file)


def test_other_versions_of_a_models_library_are_mentioned(file):
    def older(_, manifest):
        manifest["versions"]["scikit-learn"] = "1.7.9"

    with pytest.warns(DataWarning, match=r"saved with scikit-learn 1\.7\.9"):
        load(rewritten(file, older))


def test_what_is_no_saved_audit_is_refused(tmp_path):
    for name, content in {"a.falcon": b"", "b.falcon": b"PK\x03\x04 nothing"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="is not a saved audit"):
            load(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "c.falcon", "w") as file:
        file.writestr("manifest.json", "{}")
    with pytest.raises(InputError, match="is not a saved audit"):
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
    own = f"{Doubled.__module__}.Doubled"
    with pytest.warns(DataWarning, match=rf"trusted=\['{own}'\].*--trust {own}"):
        path = falcon.save(tmp_path / "audit.falcon")
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
