"""Audits that releases saved can be read, and say what they said."""

from __future__ import annotations

import importlib.util
import json
import re
import warnings
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


def is_older(warning):
    """Whether a warning says that the library of a model is older than when it was saved."""
    found = re.search(r"saved with (\w+) ([\d.]+), but ([\d.]+) is installed", warning)
    if found is None or found[1] not in EXTRAS:
        return False
    then, now = ([int(n) for n in version.split(".")] for version in found.groups()[1:])
    return now < then


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
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        falcon = load(path)
    if path.stem in EXTRAS and any(is_older(str(one.message)) for one in said):
        pytest.skip(f"{path.stem} is older than the one it was saved with, and load() says so")
    found = falcon.examine(X, proba=rows.proba) if how.get("proba") else falcon.examine(X)
    # Other builds of the same libraries round the last digits in another way.
    np.testing.assert_allclose(found.state.confidence, says["confidence"], atol=1e-6)
    np.testing.assert_allclose(found.suspicion(), says["suspicion"], atol=1e-5)
    if "risk" in says:
        np.testing.assert_allclose(found.risk(), says["risk"], atol=1e-5)
