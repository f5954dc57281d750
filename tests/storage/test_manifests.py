"""Saved audits whose table of contents, or whose parts, were edited: a sentence names the place."""

from __future__ import annotations

import hashlib
import json
import zipfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest
import sklearn
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.utils.fixes import parse_version
from typer.testing import CliRunner
from xgboost import XGBClassifier

from falcon_discover import FalconDiscover, InputError, __version__, datasets, discover, load
from falcon_discover.cli import app
from falcon_discover.runtime import versions
from falcon_discover.storage import manifest as contents_table
from falcon_discover.storage.archive import Archive
from support.saving import NUMBERS, TRAIN, numeric_pipeline, rewritten, small_audit

DELETED = object()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return small_audit().save(tmp_path_factory.mktemp("saved") / "audit.falcon")


def edited(file: Path, field: str, value) -> Path:
    def change(_, manifest):
        *path, last = field.split("/")
        for step in path:
            manifest = manifest[step]
        if value is DELETED:
            del manifest[last]
        else:
            manifest[last] = value

    return rewritten(file, change, checksums=False)


FIELDS = [
    "schema", "parts", "model", "model/backbone", "model/candidates", "model/name", "classes",
    "tau", "threshold", "columns", "n_features", "category_values", "ranker", "versions",
    "reference", "reference/kept", "reference/rows", "reference/validation_rows", "reference/of",
    "reference/encoded", "reference/recall", "measure", "measure/n_neighbors",
    "measure/n_mix_neighbors", "measure/mix", "measure/seed", "parts/objects.skops",
    "parts/objects.skops/bytes", "parts/objects.skops/sha256", "columns/load",
    "versions/scikit-learn", "model/candidates/logistic_regression",
]  # fmt: skip
# Each is wrong for every field, whatever the field holds.
WRONG = [DELETED, True, -1, 1e400, [[]], {"a": []}, "\ud800"]
# Fields that may be missing, as there may be others in their place.
MAY_LACK = ("columns/load", "versions/scikit-learn", "model/candidates/logistic_regression")


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_is_missing_or_wrong_is_named(field, file):
    for value in WRONG:
        if field in MAY_LACK and value is DELETED:
            continue
        with pytest.raises(InputError) as said:
            load(edited(file, field, value))
        # JSON has no number that large.
        named = "is not JSON" if value == 1e400 else field.split("/")[-1]
        assert named in str(said.value), (field, value, said.value)


def test_scores_are_those_of_one_of_two_classes(file):
    for scored in (-1, 2, True):
        with pytest.raises(InputError, match=f"gives scored as {scored}"):
            load(edited(file, "scored", scored))


def test_edits_are_answered_by_inspect_with_a_sentence_too(file):
    for field in ("parts", "tau", "model", "reference/rows", "columns"):
        for value in (DELETED, None, "x", [1]):
            said = CliRunner().invoke(app, ["inspect", str(edited(file, field, value))])
            assert said.exit_code == 1
            assert "manifest.json" in said.stderr


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 50_000, "9" * 5000, "", "nul", '{"format": NaN}', "\ufeff{}"],
)
def test_what_is_not_json_is_refused(text):
    with pytest.raises(InputError, match=r"is not JSON|is not a saved audit"):
        contents_table.read(text.encode(), "audit.falcon")


def test_an_edit_that_forgets_the_checksum_is_found(file):
    with zipfile.ZipFile(file) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    parts["manifest.json"] = parts["manifest.json"].replace(b'"seed": 0', b'"seed": 1')
    target = file.with_name("edited.falcon")
    for missing in (False, True):
        with zipfile.ZipFile(target, "w") as out:
            for name, data in parts.items():
                if not (missing and name == "manifest.sha256"):
                    out.writestr(name, data)
        match = "manifest.sha256 is missing" if missing else "its part manifest.json does not have"
        with pytest.raises(InputError, match=match):
            load(target)


def test_rows_that_are_not_there_are_missed(file):
    for field in ("reference/rows", "reference/validation_rows"):
        with pytest.raises(InputError, match=r"300 rows instead of 299|does not have 299 rows"):
            load(edited(file, field, 299))


PARTS = ["fit_rows.parquet", "fit_table.parquet", "regions.parquet", "validation_rows.parquet"]


@pytest.mark.parametrize("part", [*PARTS, "reference.npz", "validation_features.npz"])
def test_a_damaged_part_with_the_right_checksum_is_named(part, file):
    whole = zipfile.ZipFile(file).read(part)
    other = zipfile.ZipFile(file).read("objects.skops")
    for data in (b"", whole[:100], whole[: len(whole) // 2], whole[:-50] + bytes(50), other):
        altered = rewritten(file, lambda parts, _, data=data: parts.update({part: data}))
        with pytest.raises(InputError, match=part):
            load(altered)


def test_a_part_that_stands_in_for_another_is_named(file):
    rows = zipfile.ZipFile(file).read("fit_table.parquet")
    altered = rewritten(file, lambda parts, _: parts.update({"fit_rows.parquet": rows}))
    with pytest.raises(InputError, match=r"fit_rows\.parquet"):
        load(altered)


@pytest.mark.parametrize(
    "model",
    [
        XGBClassifier(n_estimators=2),
        LGBMClassifier(n_estimators=2, verbose=-1),
        CatBoostClassifier(iterations=2, verbose=0, allow_writing_files=False),
    ],
)
def test_a_booster_that_its_library_cannot_read_is_named(model, tmp_path):
    falcon = FalconDiscover(model, ranker="confidence", cv=2, random_state=0)
    file = falcon.fit(TRAIN.X[NUMBERS], TRAIN.y).save(tmp_path / "audit.falcon")
    part = next(name for name in zipfile.ZipFile(file).namelist() if name.startswith("models/"))
    altered = rewritten(file, lambda parts, _: parts.update({part: b"nothing"}))
    with pytest.raises(InputError, match=f"part {part}, is damaged"):
        load(altered)


def test_a_table_is_not_a_saved_audit(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"rows\.csv is not a saved audit\.$"):
        load(tmp_path / "rows.csv")


def test_damage_to_the_zip_itself_is_always_a_sentence(file):
    whole = file.read_bytes()
    end = whole.rindex(b"PK\x05\x06")
    # The table of contents, byte by byte, and the heads of the first members.
    start = int.from_bytes(whole[end + 16 : end + 20], "little")
    for position in [*range(start, len(whole), 3), *range(60)]:
        for bit in (1, 128):
            altered = bytearray(whole)
            altered[position] ^= bit
            try:
                Archive.open(bytes(altered))
            except InputError:
                continue


def test_inspect_names_the_model_that_was_given_and_calls_sizes_unpacked(tmp_path):
    from sklearn.frozen import FrozenEstimator

    X = TRAIN.X[NUMBERS].fillna(0)
    model = FrozenEstimator(numeric_pipeline().fit(X, TRAIN.y))
    falcon = FalconDiscover(model, ranker="confidence", random_state=0).fit(X, TRAIN.y)
    said = CliRunner().invoke(app, ["inspect", str(falcon.save(tmp_path / "audit.falcon"))]).stdout
    assert "Pipeline, LogisticRegression at its end" in said
    assert "FrozenEstimator" not in said
    assert "parts (size when unpacked)" in said


# Scores that version 0.1.0 gave for the rows below, when it saved the files: by a fixed score, by
# what was learned from errors, and where there were too few of them.
SCORES = {
    "saved": [1.5016428419638914, 1.4205757520037257, 1.2770206593493316, 2.2232971069136],
    "auto-saved": [0.0, 0.0, 0.31472736455224304, 0.2705838145600112],
    "few-errors-saved": [0.7089385528451808, 0.5747080968839184, 0.0, 0.02853101990446341],
}


@pytest.mark.filterwarnings("ignore:.*was saved with")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"),
    reason="scikit-learn does not read models of a later release",
)
@pytest.mark.parametrize("name", SCORES)
def test_an_audit_saved_by_0_1_0_still_loads_and_scores(name):
    falcon = load(Path(__file__).parents[1] / "data" / f"{name}-by-0.1.0.falcon")
    rows = datasets.make_planted(20, random_state=2).X[["signal_a", "load", "colour"]]
    np.testing.assert_allclose(falcon.score_samples(rows)[:4], SCORES[name], rtol=1e-6)


def test_the_manifest_has_a_checksum_that_other_programs_can_check(file):
    with zipfile.ZipFile(file) as archive:
        text, line = archive.read("manifest.json"), archive.read("manifest.sha256").decode()
    assert line == f"{hashlib.sha256(text).hexdigest()}  manifest.json\n"
    assert json.loads(text)["schema"] == contents_table.SCHEMA == 3


def test_a_source_tree_without_package_metadata_knows_its_own_version(monkeypatch, tmp_path):
    def unknown(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(versions, "version", unknown)
    assert versions.version_of("falcon-discover") == __version__
    planted = datasets.make_planted(200, random_state=0)
    found = discover(planted.X, planted.y, planted.proba, random_state=0)
    found.report(tmp_path / "report.json", contributions=False)
    said = json.loads((tmp_path / "report.json").read_text())["versions"]
    assert said["falcon-discover"] == __version__
    assert said["numpy"] == "not installed"
