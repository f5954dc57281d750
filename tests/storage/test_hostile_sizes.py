"""Small files that would unpack to gigabytes are refused before anything is unpacked."""

from __future__ import annotations

import hashlib
import json
import struct
import tracemalloc
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from falcon_discover import InputError, load
from falcon_discover.cli import app
from falcon_discover.storage import bounds
from falcon_discover.storage.archive import Archive
from falcon_discover.storage.objects import read_model
from support.saving import MIXED, NEW, NUMBERS, TRAIN, small_audit

# A bomb of these tests would unpack to LARGE bytes; what is done about it takes less than SMALL.
LARGE, SMALL = 30_000_000, 12_000_000


@pytest.fixture(scope="module")
def audit():
    return small_audit()


@pytest.fixture(scope="module")
def whole(audit, tmp_path_factory):
    return audit.save(tmp_path_factory.mktemp("whole") / "audit.falcon").read_bytes()


@pytest.fixture
def saved(whole, tmp_path):
    (tmp_path / "audit.falcon").write_bytes(whole)
    return tmp_path / "audit.falcon"


@pytest.fixture(autouse=True)
def _low_limits(monkeypatch):
    monkeypatch.setattr(bounds, "FREE_BYTES", 10_000_000)
    monkeypatch.setattr(bounds, "RATIO", 20)
    monkeypatch.setattr(bounds, "MANIFEST_BYTES", 100_000)


def with_parts(source: Path, changed: dict[str, bytes], **manifest_says) -> Path:
    """Return the saved audit with other parts, and a manifest that agrees unless told otherwise."""
    with zipfile.ZipFile(source) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(parts.pop("manifest.json"))
    del parts["manifest.sha256"]
    parts |= changed
    for name, data in changed.items():
        digest = hashlib.sha256(data).hexdigest()
        manifest["parts"][name] = {"bytes": len(data), "sha256": digest} | manifest_says
    head = json.dumps(manifest).encode()
    target = source.with_name("bomb.falcon")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifest.json", head)
        file.writestr("manifest.sha256", hashlib.sha256(head).hexdigest())
        for name, data in parts.items():
            file.writestr(name, data)
    return target


def blank_manifest(source: Path) -> Path:
    with zipfile.ZipFile(source) as file:
        head = file.read("manifest.json") + b" " * LARGE
    target = source.with_name("bomb.falcon")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifest.json", head)
    return target


def packed(**members: bytes) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name.replace("__", "."), data)
    return out.getvalue()


def array(values) -> bytes:
    out = BytesIO()
    np.save(out, values)
    return out.getvalue()


def headed(shape: str) -> bytes:
    """Return the head of an array of zeros without its values."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (118 - len(head) - 1 + 10) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head


def zeros_npz() -> bytes:
    return packed(coordinates__npy=array(np.zeros(LARGE // 8)))


def zeros_parquet() -> bytes:
    out = BytesIO()
    pd.DataFrame({"p": np.zeros(LARGE // 8)}).to_parquet(out)
    return out.getvalue()


def zeros_skops() -> bytes:
    return skops.io.dumps(np.zeros(LARGE // 8), compression=zipfile.ZIP_DEFLATED)


def zeros_matrix() -> bytes:
    matrix = sp.csr_matrix(np.zeros((1, 1)))
    matrix.data, matrix.indices = np.zeros(LARGE // 8), np.zeros(LARGE // 8, dtype=np.int32)
    matrix.indptr = np.array([0, LARGE // 8])
    return skops.io.dumps(matrix)


BOMBS = {
    "a manifest of blanks": blank_manifest,
    "a part of zeros": lambda file: with_parts(file, {"objects.skops": bytes(LARGE)}),
    "a part of zeros that the manifest calls small": lambda file: with_parts(
        file, {"objects.skops": bytes(LARGE)}, bytes=10
    ),
    "an npz": lambda file: with_parts(file, {"reference.npz": zeros_npz()}),
    "a parquet file": lambda file: with_parts(file, {"fit_rows.parquet": zeros_parquet()}),
    "an array inside skops": lambda file: with_parts(file, {"objects.skops": zeros_skops()}),
    "a matrix inside skops": lambda file: with_parts(file, {"objects.skops": zeros_matrix()}),
    "a text inside skops": lambda file: with_parts(
        file, {"objects.skops": packed(schema__json=b"[" + b" " * LARGE + b"]")}
    ),
    "an array's head": lambda file: with_parts(
        file, {"reference.npz": packed(labels__npy=headed("(1000000000000,)"))}
    ),
    "an array's head, beyond all numbers": lambda file: with_parts(
        file, {"reference.npz": packed(labels__npy=headed(f"({10**30},)"))}
    ),
    "an array's head under another name": lambda file: with_parts(
        file, {"reference.npz": packed(labels=headed("(1000000000000,)"))}
    ),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_refused_before_it_is_unpacked(kind, saved):
    bomb = BOMBS[kind](saved)
    assert bomb.stat().st_size < 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"unpack to|too large|bytes|rows instead"):
            load(bomb)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < SMALL, peak


def test_a_member_that_lies_about_its_size_is_not_unpacked_further(saved):
    def shortened(data: bytes, member: str, size: int) -> bytes:
        """Return a zip whose table of contents gives a member another size."""
        place = data.rindex(member.encode()) - 46
        return data[: place + 24] + struct.pack("<I", size) + data[place + 28 :]

    bomb = shortened(with_parts(saved, {"more": bytes(LARGE)}).read_bytes(), "more", 10)
    (saved.parent / "model.skops").write_bytes(shortened(zeros_skops(), ".npy", 10))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="part more"):
            load(bomb)
        with pytest.raises(InputError):
            read_model(saved.parent / "model.skops")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < SMALL, peak


def test_the_text_of_objects_may_take_a_quarter_of_the_room_and_no_more():
    text = packed(schema__json=b"[" + b" " * 998 + b"]")
    assert bounds.unpacked(text, 4_000, "it")
    with pytest.raises(InputError, match="would unpack to"):
        bounds.unpacked(text, 3_999, "it")


def test_a_model_file_that_is_a_bomb_is_refused(tmp_path):
    (tmp_path / "model.skops").write_bytes(zeros_skops())
    with pytest.raises(InputError, match=r"model\.skops would unpack to 30 MB"):
        read_model(tmp_path / "model.skops")


def test_a_compressed_model_file_is_read(tmp_path):
    X = TRAIN.X[NUMBERS].fillna(0)
    model = LogisticRegression().fit(sp.csr_matrix(X), TRAIN.y)
    model.coef_ = sp.csr_matrix(model.coef_)
    skops.io.dump(model, tmp_path / "model.skops", compression=zipfile.ZIP_DEFLATED)
    again = read_model(tmp_path / "model.skops")
    assert (again.coef_ != model.coef_).nnz == 0


def test_inspect_refuses_bombs_with_a_sentence(saved):
    for kind in ("a manifest of blanks", "a part of zeros that the manifest calls small"):
        said = CliRunner().invoke(app, ["inspect", str(BOMBS[kind](saved))])
        assert said.exit_code == 1
        assert said.stderr.startswith("error: ")
        assert "Traceback" not in said.stderr


def test_a_name_that_occurs_twice_is_refused(saved):
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(saved, "a") as file:
        file.writestr("objects.skops", b"")
    with pytest.raises(InputError, match="two parts of the same name"):
        load(saved)


def test_an_audit_that_would_be_refused_is_not_written(audit, tmp_path, monkeypatch):
    monkeypatch.setattr(bounds, "FREE_BYTES", 10_000)
    monkeypatch.setattr(bounds, "RATIO", 1)
    with pytest.raises(InputError, match="would unpack to"):
        audit.save(tmp_path / "audit.falcon")
    assert list(tmp_path.iterdir()) == []


def test_the_limits_leave_room_for_audits_of_one_hot_columns(monkeypatch):
    monkeypatch.undo()
    rng = np.random.default_rng(0)
    # Ten columns of 256 values, one of them in almost all rows: the most zeros there can be.
    values = np.where(rng.random((1000, 10)) < 0.98, 0, rng.integers(0, 256, (1000, 10)))
    coordinates = np.zeros((1000, 10, 256), dtype=np.float32)
    np.put_along_axis(coordinates, values[:, :, None], 1, axis=2)
    signals = rng.random((1000, 12))
    size = len(packed(a__npy=array(coordinates), b__npy=array(signals)))
    assert coordinates.nbytes + signals.nbytes < bounds.RATIO * size / 2


def test_a_file_is_opened_once(saved, audit, monkeypatch):
    monkeypatch.undo()
    opened = []
    real = Path.open

    def noted(self, *args, **options):
        opened.append(self)
        return real(self, *args, **options)

    monkeypatch.setattr(Path, "open", noted)
    assert Archive.open(saved).manifest["tau"] == audit.tau
    assert opened == [saved]
    assert np.array_equal(
        load(saved).score_samples(NEW.X[MIXED]), audit.score_samples(NEW.X[MIXED])
    )
