"""Audits that releases saved can be read, and say what they said."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from falcon_discover import datasets, load

RELEASES = Path(__file__).parents[1] / "data" / "releases"
SAVED = sorted(RELEASES.glob("*/*.falcon"))
COLUMNS = ["signal_a", "signal_b", "load", "height", "colour"]
EXTRAS = {"xgboost", "catboost", "lightgbm"}


def test_there_is_one_for_each_base_model():
    from falcon_discover.models import library

    newest = max(RELEASES.iterdir(), key=lambda folder: [int(n) for n in folder.name.split(".")])
    saved = {path.stem for path in newest.glob("*.falcon")}
    assert saved >= {*library.CANDIDATES, *library.COMPARATORS, "three-classes", "predictions"}


@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
@pytest.mark.parametrize("path", SAVED, ids=[f"{path.parent.name}-{path.stem}" for path in SAVED])
def test_a_saved_audit_says_what_it_said(path):
    if path.stem in EXTRAS and importlib.util.find_spec(path.stem) is None:
        pytest.skip(f"{path.stem} is not installed")
    expected = json.loads((path.parent / "expected.json").read_text())[path.stem]
    how, says = expected["how"], expected["says"]
    rows = datasets.make_planted(len(says["confidence"]), random_state=1)
    X = rows.X[how.get("columns", COLUMNS)]
    X = X.fillna(0) if "columns" in how else X
    falcon = load(path)
    found = falcon.examine(X, proba=rows.proba) if how.get("proba") else falcon.examine(X)
    # Other builds of the same libraries round the last digits in another way.
    np.testing.assert_allclose(found.state.confidence, says["confidence"], atol=1e-6)
    np.testing.assert_allclose(found.suspicion(), says["suspicion"], atol=1e-5)
    if "risk" in says:
        np.testing.assert_allclose(found.risk(), says["risk"], atol=1e-5)
