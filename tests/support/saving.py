"""Rows and a small audit that the tests of saved audits share."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from falcon_discover import FalconDiscover, datasets

TRAIN = datasets.make_planted(300, random_state=0)
OTHER = datasets.make_planted(300, random_state=1)
NEW = datasets.make_planted(80, random_state=2)
NUMBERS = ["signal_a", "signal_b", "load", "height"]
MIXED = [*NUMBERS, "colour"]


def numeric_pipeline():
    return make_pipeline(StandardScaler(), LogisticRegression())


def small_audit():
    """Return an audit with little in it."""
    X, y = TRAIN.X[MIXED], TRAIN.y
    falcon = FalconDiscover("logistic_regression", cv=2, random_state=0)
    return falcon.fit(X, y, X_cal=OTHER.X[MIXED], y_cal=OTHER.y)


def rewritten(source: Path, change, *, checksums=True) -> Path:
    """Return a copy of a saved audit whose parts `change` has altered."""
    with zipfile.ZipFile(source) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(parts.pop("manifest.json"))
    del parts["manifest.sha256"]
    change(parts, manifest)
    if checksums:
        for name, data in parts.items():
            digest = hashlib.sha256(data).hexdigest()
            manifest["parts"][name] = {"bytes": len(data), "sha256": digest}
    target = source.with_name("altered.falcon")
    head = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("manifest.json", head)
        file.writestr("manifest.sha256", hashlib.sha256(head).hexdigest())
        for name, data in parts.items():
            file.writestr(name, data)
    return target
