"""What writes files: commands as users call them, and methods as programs do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from faults.campaign import Operation

NUMBERS = ["signal_a", "signal_b", "load", "height"]


def command(*words: str) -> Callable[[Path], int]:
    """Return what runs a command of the command line inside a folder."""

    def run(folder: Path) -> int:
        from falcon_discover.cli import app

        os.chdir(folder)
        app(list(words))
        return 0

    return run


def saying(run: Callable[[Path], object]) -> Callable[[Path], int]:
    """Say in a sentence what a method raises, as a program that calls it would."""

    def said(folder: Path) -> int:
        try:
            run(folder)
        except (OSError, ValueError) as error:
            print(error)
            return 1
        return 0

    return said


def _save(folder: Path) -> None:
    from falcon_discover import load

    load(folder / "audit.falcon").save(folder / "copy.falcon")


def _report(folder: Path) -> None:
    from falcon_discover import load

    finding = load(folder / "small.falcon").examine()
    finding.report(folder / "report", name="newer rows", contributions=False)
    finding.report(folder / "page.html", name="newer rows", contributions=False)


def run_stored(folder: Path) -> None:
    """Write one run of the benchmark into a store."""
    import pandas as pd

    from falcon_discover.bench.store import RunKey, Store

    store = Store(folder / "store", {"tau": 0.9})
    key = RunKey("phoneme", 7, "xgboost")
    with store.claim(key) as mine:
        if mine:
            store.write(key, {"scores": pd.DataFrame({"p": [0.1, 0.9]})}, {"rows": 2})


QUIET = ("--quiet", "--jobs", "1")
AUDIT = ("audit", "rows.csv", "--target", "y", "--proba", "p", "--ranker", "gated_confidence",
         "--no-contributions", "--seed", "0", *QUIET)  # fmt: skip
FIT = ("audit", "rows.csv", "--target", "y", "--leave-out", "p", "--backbone",
       "hist_gradient_boosting", "--no-contributions", "--seed", "0", *QUIET)  # fmt: skip
SCORE = ("score", "small.falcon", "new.parquet", "--part-rows", "30", *QUIET)
MONITOR = ("monitor", "small.falcon", "new.parquet", "--part-rows", "30", *QUIET)
OPERATIONS = (
    Operation("save", saying(_save), (r"copy\.falcon",)),
    Operation("bench run", saying(run_stored), (r"store/phoneme/.*",)),
    Operation("score", command(*SCORE, "--out", "scores"), last="scores/_DONE.json"),
    Operation(
        "score --queue",
        command(*SCORE, "--out", "scored", "--queue", "3"),
        (r"scored/_queue/.*",),
        last="scored/_DONE.json",
        every=5,
    ),
    Operation(
        "monitor",
        command(*MONITOR, "--out", "watched"),
        (r"watched/(batches.*|monitor\.html)",),
        last="watched/_DONE.json",
        every=5,
    ),
    Operation(
        "learn",
        command("learn", "audit.falcon", "marks.csv", "new.parquet", "--save", "learned.falcon"),
    ),
    Operation("report", saying(_report), (r"report/.*",), every=5),
    Operation(
        "audit --save",
        command(*AUDIT, "--out", "report", "--save", "copy.falcon"),
        (r"report/.*",),
        every=5,
    ),
)


def prepared(folder: Path) -> Path:
    """Make the folder that operations begin with: rows, an audit, and older results."""
    import numpy as np

    from falcon_discover import FalconDiscover, datasets

    folder.mkdir(parents=True, exist_ok=True)
    rows = datasets.make_planted(160, random_state=0)
    X = rows.X[NUMBERS].fillna(0)
    X.assign(y=rows.y, p=rows.proba).to_csv(folder / "rows.csv", index=False)
    new = datasets.make_planted(60, random_state=1).X[NUMBERS].fillna(0)
    new.to_parquet(folder / "new.parquet")
    falcon = FalconDiscover("logistic_regression", tau=0.8, cv=2, random_state=0).fit(X, rows.y)
    falcon.save(folder / "audit.falcon")
    finding = falcon.examine()
    finding.report(folder / "report", name="older rows", contributions=False)
    marks = falcon.review(new, budget=12)[["predicted", "confidence", "suspicion"]].reset_index()
    marks.columns = ["row", *marks.columns[1:]]
    marks.insert(1, "mark", np.where(np.arange(len(marks)) % 2, "right", "wrong"))
    marks.to_csv(folder / "marks.csv", index=False)
    # Quicker to load, where the ranking does not matter.
    falcon.set_params(ranker="gated_confidence").fit(X, rows.y).save(folder / "small.falcon")
    for name in ("copy", "learned"):
        shutil.copy(folder / "small.falcon", folder / f"{name}.falcon")
    return folder


def with_older_results(folder: Path) -> Path:
    """Add what earlier runs of `score` and `monitor` left, with other settings, half finished."""
    for words in (
        (*SCORE, "--out", "scored", "--queue", "2"),
        (*MONITOR, "--out", "watched", "--confidence-level", "0.9"),
    ):
        child = os.fork()
        if child == 0:
            try:
                command(*words)(folder)
            except SystemExit as end:
                os._exit(int(end.code or 0))
            finally:
                os._exit(1)
        if os.waitpid(child, 0)[1]:
            raise SystemExit(f"{' '.join(words)} failed")
    for out, part in (("scored", "part-00001.parquet"), ("watched", "_parts/part-00001.npz")):
        (folder / out / part).unlink()
        (folder / out / "_DONE.json").unlink()
    return folder
