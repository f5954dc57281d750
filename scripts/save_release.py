"""Save one audit per base model, with the scores it gives, for later releases to load.

    python scripts/save_release.py          # tests/data/releases/<version>/

Run it once, before a release is tagged, and commit what it writes; never change files of a
release that is out. `tests/storage/test_releases.py` loads all of them.
"""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from falcon_discover import DataWarning, FalconDiscover, __version__, datasets
from falcon_discover.models import library

RELEASES = Path(__file__).parents[1] / "tests" / "data" / "releases"
ROWS, NEW = 80, 12
COLUMNS = ["signal_a", "signal_b", "load", "height", "colour"]
NUMBERS = COLUMNS[:-1]
DIGITS = 10


def classes(rows: Any) -> np.ndarray:
    """Return three classes by the two classes and a number."""
    low = rows.X["height"].fillna(0).to_numpy() < 0
    return np.where(rows.y == 1, "high", np.where(low, "low", "middle"))


def audits() -> dict[str, tuple[FalconDiscover, dict[str, Any]]]:
    """Return fitted audits by name, and how each of them is asked about new rows."""
    rows = datasets.make_planted(ROWS, random_state=0)
    X, y = rows.X[COLUMNS], rows.y
    known = {**library.CANDIDATES, **library.COMPARATORS}
    made: dict[str, tuple[FalconDiscover, dict[str, Any]]] = {
        name: (FalconDiscover(name, tau=0.8, cv=2, random_state=0).fit(X, y), {}) for name in known
    }
    own = LogisticRegression().fit(X[NUMBERS].fillna(0), y)
    made["own-model"] = (
        FalconDiscover(FrozenEstimator(own), tau=0.8, random_state=0).fit(X[NUMBERS].fillna(0), y),
        {"columns": NUMBERS},
    )
    three = FalconDiscover("logistic_regression", tau=0.7, cv=2, random_state=0)
    made["three-classes"] = (three.fit(X, classes(rows)), {})
    given = FalconDiscover("precomputed", tau=0.8, random_state=0)
    made["predictions"] = (given.fit(X, y, proba=rows.proba), {"proba": True})
    return made


def asked(falcon: FalconDiscover, how: dict[str, Any]) -> dict[str, list[float]]:
    """Return what an audit says about rows that it has not seen."""
    rows = datasets.make_planted(NEW, random_state=1)
    X: pd.DataFrame = rows.X[how.get("columns", COLUMNS)]
    if "columns" in how:
        X = X.fillna(0)
    found = falcon.examine(X, proba=rows.proba) if how.get("proba") else falcon.examine(X)
    risk = found.risk()
    said = {"confidence": found.state.confidence, "suspicion": found.suspicion()}
    if risk is not None:
        said["risk"] = risk
    return {name: [round(float(v), DIGITS) for v in values] for name, values in said.items()}


def main() -> None:
    folder = RELEASES / __version__.partition(".dev")[0]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    expected = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for name, (falcon, how) in audits().items():
            falcon.save(folder / f"{name}.falcon")
            expected[name] = {"how": how, "says": asked(falcon, how)}
            print(name, (folder / f"{name}.falcon").stat().st_size, "bytes")
    text = json.dumps(expected, indent=1)
    (folder / "expected.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
