"""The runner may die at any moment and may not be alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from falcon_discover import PAPER, InputError, datasets
from falcon_discover.bench import actions, plan, scoring, states
from falcon_discover.bench.loading import Study
from falcon_discover.bench.output import runs_frame
from falcon_discover.bench.store import RunKey, Store, settings_hash

KEY = RunKey("phoneme", 7, "logistic_regression")
BACKBONES = ("logistic_regression", "xgboost")
# What marks the runs that are stored now; another mark makes all of them useless.
MARKS = {
    plan: "d13d45cb0705",
    states: "28d599602975",
    scoring: "db9f6284855a",
    actions: "a1192fcc864b",
}

# Dies by its own SIGKILL half way through writing a parquet file.
KILLED_WHILE_WRITING = """
import os, signal, sys
import pandas as pd
from falcon_discover.cli import app

write, left = pd.DataFrame.to_parquet, [int(sys.argv.pop(1))]

def dying(self, path, **options):
    write(self, path, **options)
    left[0] -= 1
    if left[0] == 0:
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) // 2)
        os.kill(os.getpid(), signal.SIGKILL)

pd.DataFrame.to_parquet = dying
app()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder of data in which `phoneme` is a small planted table."""
    place = tmp_path_factory.mktemp("data")
    planted = datasets.make_planted(400, random_state=0)
    planted.X.assign(target=planted.y).to_parquet(place / "phoneme.parquet")
    return place


def command(store: Path, *words: str) -> list[str]:
    options = [word for name in BACKBONES for word in ("--backbone", name)]
    return [
        "bench", "run", "--store", str(store), "--dataset", "phoneme", "--seed", "7", "--jobs", "1",
        "--part", "paper", *options, *words,
    ]  # fmt: skip


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"FALCON_DISCOVER_DATA": str(folder)}


def run(store: Path, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "falcon_discover", *command(store)],
        capture_output=True, text=True, env=environment(folder), check=True,
    )  # fmt: skip
    return done.stdout


def contents(store: Path) -> dict[str, bytes]:
    """Return the bytes of every visible table."""
    return {
        str(path.relative_to(store)): path.read_bytes()
        for path in sorted(store.glob("*/seed-*/*/*.parquet"))
        if not path.parent.name.startswith(".")
    }


@pytest.fixture(scope="module")
def undisturbed(folder, tmp_path_factory) -> dict[str, bytes]:
    store = tmp_path_factory.mktemp("undisturbed") / "store"
    assert "2 runs finished now, 2 of 2" in run(store, folder)
    assert "0 runs finished now, 2 of 2" in run(store, folder)
    return contents(store)


@pytest.mark.parametrize("part", MARKS, ids=lambda part: part.__name__)
def test_stored_runs_are_given_up_only_on_purpose(part):
    assert settings_hash(part.settings()) == MARKS[part]


@pytest.mark.parametrize("nth_write", [2, 5])
def test_killed_in_the_middle_of_a_write_it_resumes_to_the_same_bytes(
    folder, tmp_path, undisturbed, nth_write
):
    store = tmp_path / "store"
    words = [sys.executable, "-c", KILLED_WHILE_WRITING, str(nth_write), *command(store)]
    killed = subprocess.run(words, capture_output=True, env=environment(folder), check=False)
    assert killed.returncode == -signal.SIGKILL
    seen = contents(store)
    # Three tables a run: the second write dies in the first run, the fifth in the second.
    assert len(seen) == (0 if nth_write == 2 else 3)
    assert all(seen[name] == undisturbed[name] for name in seen)
    left = 2 if nth_write == 2 else 1
    assert f"{left} run{'' if left == 1 else 's'} finished now, 2 of 2" in run(store, folder)
    assert contents(store) == undisturbed


def test_two_runners_on_one_store_share_the_work(folder, tmp_path, undisturbed):
    store = tmp_path / "store"
    words = [sys.executable, "-m", "falcon_discover", *command(store)]
    pair = [
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment(folder))
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in pair]
    assert [process.returncode for process in pair] == [0, 0]
    done = [int(text.removeprefix("paper: ").split(" run")[0]) for text in outputs]
    assert sum(done) == 2, outputs
    assert contents(store) == undisturbed


def test_a_claimed_run_is_left_alone_and_a_dead_claim_is_not(tmp_path):
    store = Store(tmp_path, {"a": 1})
    with store.claim(KEY) as mine, store.claim(KEY) as second:
        assert mine
        assert not second
    with store.claim(KEY) as again:
        assert again


def test_a_run_of_other_settings_is_an_error_that_names_both(tmp_path):
    Store(tmp_path, {"tau": 0.9, "k": 25})
    old, new = settings_hash({"tau": 0.9, "k": 25}), settings_hash({"tau": 0.9, "k": 20})
    with pytest.raises(InputError, match=f"settings {old}.*has {new}.*k was 25 and is 20"):
        Store(tmp_path, {"tau": 0.9, "k": 20})


def test_a_run_that_does_not_belong_to_the_store_is_named(tmp_path):
    store = Store(tmp_path, {"a": 1})
    store.write(KEY, {"rows": pd.DataFrame({"row": [1]})}, {"oof_auroc": 0.5})
    path = store.path(KEY) / "report.json"
    report = json.loads(path.read_text())
    path.write_text(json.dumps(report | {"settings_hash": "other"}))
    with pytest.raises(InputError, match=f"run {KEY} was made with settings other, but"):
        store.report(KEY)


def test_a_folder_that_is_no_store_is_named(tmp_path):
    with pytest.raises(InputError, match="is not a benchmark store"):
        Store(tmp_path / "nothing")


def test_the_report_says_what_was_done(folder, tmp_path):
    store = tmp_path / "store"
    run(store, folder)
    report = Store(store).report(KEY)
    assert report["settings_hash"] == Store(store).hash
    assert {"cross-fitting", "refit", "state", "scores"} <= set(report["seconds"])
    assert report["peak_memory_mb"] > 50
    assert "scikit-learn" in report["versions"]
    rows = Store(store).read(KEY, "rows")
    assert rows["split"].value_counts().to_dict() == {"test": 80, "validation": 40}
    assert len(Store(store).read(KEY, "oof")) == 280
    assert np.isfinite(rows.select_dtypes("number").to_numpy()).all()


@pytest.mark.parametrize("words", ["", "{", "[1, 2]", "null", "\udcff"])
@pytest.mark.parametrize("name", ["settings.json", "report.json"])
def test_a_damaged_file_of_the_store_is_named(tmp_path, name, words):
    store = Store(tmp_path, {"a": 1})
    store.write(KEY, {"rows": pd.DataFrame({"row": [1]})}, {"oof_auroc": 0.5})
    path = tmp_path / name if name == "settings.json" else store.path(KEY) / name
    path.write_text(words, errors="surrogateescape")
    with pytest.raises(InputError, match=f"{name} (cannot be read|has changed since)"):
        Store(tmp_path).report(KEY)


def test_a_report_without_its_fields_is_named(tmp_path):
    store = Store(tmp_path, {"a": 1})
    for backbone in PAPER.candidates:
        key = RunKey("phoneme", 7, backbone)
        store.write(key, {"rows": pd.DataFrame({"row": [1]})}, {"oof_auroc": "high"})
    with pytest.raises(InputError, match=r"the report of run .* has no out-of-fold AUROC"):
        Study(store, ["phoneme"]).selected("phoneme", 7)
    study = Study(store, ["phoneme"])
    study.wanted = lambda: [KEY]
    with pytest.raises(InputError, match=f"the report of run {KEY} has changed since"):
        runs_frame(study)
    path = store.path(KEY) / "report.json"
    path.write_text("{}")
    with pytest.raises(InputError, match="was made with settings None"):
        store.report(KEY)


def test_a_table_that_cannot_be_read_is_named(tmp_path):
    store = Store(tmp_path, {"a": 1})
    store.write(KEY, {"rows": pd.DataFrame({"row": [1]})}, {"oof_auroc": 0.5})
    with pytest.raises(InputError, match=r"rows.parquet cannot be read .*: delete that run"):
        store.read(KEY, "rows", ["label"])
    (store.path(KEY) / "rows.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"rows.parquet cannot be read .*: delete that run"):
        store.read(KEY, "rows")


def test_a_folder_that_is_no_seed_is_passed_over(tmp_path):
    store = Store(tmp_path, {"a": 1})
    (tmp_path / "phoneme" / "seed-x" / "mlp").mkdir(parents=True)
    (tmp_path / "phoneme" / "seed-x" / "mlp" / "DONE").touch()
    assert store.runs() == []
