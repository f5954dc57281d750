"""What writes files: commands as users call them, and methods as programs do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from faults.campaign import Operation

NUMBERS = ["signal_a", "signal_b", "load", "height"]


def _command(*words: str) -> Callable[[Path], int]:
    """Return what runs a command of the command line inside a folder."""

    def run(folder: Path) -> int:
        from falcon_discover.cli import app

        os.chdir(folder)
        app(list(words))
        return 0

    return run


def _save(folder: Path) -> int:
    from falcon_discover import load

    load(folder / "audit.falcon").save(folder / "copy.falcon")
    return 0


def _saying(run: Callable[[Path], int]) -> Callable[[Path], int]:
    """Say in a sentence what a method raises, as a program that calls it would."""

    def said(folder: Path) -> int:
        try:
            return run(folder)
        except (OSError, ValueError) as error:
            print(error)
            return 1

    return said


def _run_stored(folder: Path) -> int:
    import pandas as pd

    from falcon_discover.bench.store import RunKey, Store

    store = Store(folder / "store", {"tau": 0.9})
    key = RunKey("phoneme", 7, "xgboost")
    with store.claim(key) as mine:
        if mine:
            store.write(key, {"scores": pd.DataFrame({"p": [0.1, 0.9]})}, {"rows": 2})
    return 0


AUDIT = ("audit", "rows.csv", "--target", "y", "--proba", "p", "--quiet", "--seed", "0")
OPERATIONS = (
    Operation("save", _saying(_save), (r"copy\.falcon",)),
    Operation(
        "score",
        _command("score", "audit.falcon", "new.parquet", "--out", "scores", "--part-rows", "20",
                 "--quiet"),
        (),
        last="scores/_DONE.json",
    ),
    Operation("bench run", _saying(_run_stored), (r"store/phoneme/.*",)),
    Operation("audit and report", _command(*AUDIT, "--out", "report"), (r"report/.*",)),
    Operation(
        "audit --save",
        _command(*AUDIT, "--out", "report", "--save", "audit2.falcon"),
        (r"report/.*", r"audit2\.falcon"),
    ),
)  # fmt: skip


def prepared(folder: Path) -> Path:
    """Make the folder that operations begin with: rows, an audit, and an older report."""
    from falcon_discover import FalconDiscover, datasets

    folder.mkdir(parents=True, exist_ok=True)
    rows = datasets.make_planted(160, random_state=0)
    X = rows.X[NUMBERS].fillna(0)
    X.assign(y=rows.y, p=rows.proba).to_csv(folder / "rows.csv", index=False)
    new = datasets.make_planted(60, random_state=1).X[NUMBERS].fillna(0)
    new.to_parquet(folder / "new.parquet")
    falcon = FalconDiscover("logistic_regression", tau=0.8, cv=2, random_state=0)
    falcon.fit(X, rows.y).save(folder / "audit.falcon")
    falcon.examine().report(folder / "report", name="older rows")
    shutil.copy(folder / "audit.falcon", folder / "audit2.falcon")
    return folder
