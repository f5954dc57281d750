"""Frozen models in the benchmark, and the script that runs many of them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from falcon_discover import PAPER, FalconDiscover, datasets, metrics
from falcon_discover.bench import frozen, plan
from falcon_discover.bench.loading import Run
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.datasets.splits import paper_split
from falcon_discover.signals.catalogue import SIGNALS

KEY = RunKey("phoneme", 7, "logistic_regression")


@pytest.fixture
def data(tmp_path, monkeypatch):
    planted = datasets.make_planted(1_500, random_state=0)
    planted.X.assign(target=planted.y).to_parquet(tmp_path / "phoneme.parquet")
    monkeypatch.setenv("FALCON_DISCOVER_DATA", str(tmp_path))
    return tmp_path


SCRIPT = Path(__file__).parents[2] / "scripts" / "comparators.py"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("comparators", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _called(*words):
    """Run the script as a user does: its processes import it by its path."""
    words = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, timeout=300)


def test_a_run_is_what_falcon_discover_finds_in_a_frozen_model(data):
    tables, report = frozen.audit_frozen(KEY, 1)
    rows, scores = frozen.complete(tables["rows"]), tables["scores"]
    X, y = datasets.load("phoneme")
    train, validation, test = paper_split(Labels.from_input(y).codes, 7)
    assert rows["row"].tolist() == [*validation, *test]
    codes = np.asarray(y)
    known = Table.from_input(X).take(train)
    model = frozen.fitted_model(KEY, known, codes[train], 1, "cpu")
    falcon = FalconDiscover(FrozenEstimator(model), random_state=7, n_jobs=1)
    falcon.fit(X.iloc[validation], y.iloc[validation])
    later = (rows["split"] == "test").to_numpy()
    found = falcon.examine(X.iloc[test])
    np.testing.assert_allclose(rows["p"][later], found.state.p, rtol=1e-12)
    for name in SIGNALS:
        np.testing.assert_allclose(rows[name][later], found.frame()[name], rtol=1e-5, atol=1e-7)
        own = falcon.examine().frame()[name]
        np.testing.assert_allclose(rows[name][~later], own, rtol=1e-5, atol=1e-7)
    column = f"auto_{plan.at(PAPER.tau)}"
    np.testing.assert_allclose(scores[column][later], found.suspicion(), rtol=1e-5)
    np.testing.assert_allclose(scores[column][~later], falcon.examine().suspicion(), rtol=1e-5)
    right = (rows["p"] >= 0.5) == rows["label"]
    assert report["accuracy"] == pytest.approx(right[later].mean())


def test_stored_runs_are_read_as_those_of_the_study(data, tmp_path):
    store = Store(tmp_path / "store", frozen.settings())
    with store.claim(KEY) as mine:
        assert mine
        store.write(KEY, *frozen.audit_frozen(KEY, 1))
    run = Run(KEY, frozen.complete(store.read(KEY, "rows")), store.read(KEY, "scores"))
    test = run.part("test")
    sure = metrics.confidence(test["p"].to_numpy())
    np.testing.assert_array_equal(run.score("confidence"), sure)
    assert run.capture("gated_confidence") == metrics.capture_at(
        run.events(), metrics.gated_confidence(sure, PAPER.tau), PAPER.main_budget
    )
    assert run.family() in plan.FAMILY


def test_settings_know_no_place():
    text = json.dumps(frozen.settings())
    assert "device" not in text
    assert "n_jobs" not in text
    assert set(frozen.settings()["models"]) <= set(plan.FROZEN_MODELS)


def test_the_largest_missing_cells_come_first(script, tmp_path):
    store = Store(tmp_path, frozen.settings())
    options = script.options_of(["--only", "realmlp,lightgbm", "--datasets", "phoneme,adult"])
    keys = script.missing(store, script.wanted(options))
    assert len(keys) == 2 * 2 * len(PAPER.seeds)
    assert [key.dataset for key in keys[:4]] == ["adult"] * 4
    assert keys[0].backbone == "realmlp"


def test_cells_run_side_by_side_and_come_back_in_archives(data, tmp_path):
    cells, out = tmp_path / "cells.txt", tmp_path / "out"
    cells.write_text("\n".join(f"phoneme/seed-{s}/logistic_regression" for s in (7, 13)) + "\n")
    there, here = tmp_path / "there", tmp_path / "here"
    words = ["--store", there, "--cells", cells, "--workers", 2, "--pack", out / "runs"]
    done = _called(*words)
    assert done.returncode == 0, done.stderr
    assert "0 cell(s) left, 0 failed" in done.stdout
    assert [path.name for path in out.iterdir()] == ["runs.0.tar"]
    assert _called("--store", here, "--unpack", out / "runs.0.tar").returncode == 0
    first, second = (Store(folder / plan.FROZEN) for folder in (there, here))
    assert first.runs() == second.runs()
    assert len(first.runs()) == 2
    for key in first.runs():
        assert first.read(key, "rows").equals(second.read(key, "rows"))
    # A second call has nothing to do, and packs what is there.
    (out / "runs.0.tar").unlink()
    assert _called(*words).returncode == 0
    assert (out / "runs.0.tar").is_file()


def test_a_cell_that_fails_is_counted_and_the_next_is_done(data, tmp_path):
    cells = tmp_path / "cells.txt"
    # The larger one comes first, and its file cannot be read.
    cells.write_text("nomao/seed-7/logistic_regression\nphoneme/seed-7/logistic_regression\n")
    (data / "nomao.parquet").write_bytes(b"nothing")
    done = _called("--store", tmp_path / "store", "--cells", cells, "--workers", 1)
    assert done.returncode == 1
    assert "0 cell(s) left, 1 failed" in done.stdout
    assert Store(tmp_path / "store" / plan.FROZEN).runs() == [KEY]


def test_when_the_time_is_over_what_is_done_stays(data, tmp_path):
    words = ["--store", tmp_path / "store", "--datasets", "phoneme"]
    words += ["--only", "logistic_regression"]
    done = _called(*words, "--limit-seconds", 0)
    assert done.returncode == 1
    assert "4 cell(s) left, 0 failed" in done.stdout
    assert len(_called(*words, "--list").stdout.split()) == 4


def test_archives_stay_below_their_size(script, tmp_path, monkeypatch):
    store = Store(tmp_path / "store", frozen.settings())
    monkeypatch.setattr(script, "ARCHIVE_BYTES", 8_000)
    pack = script.Pack(store, tmp_path / "out" / "runs")
    for seed in range(4):
        key = RunKey("phoneme", seed, "saint")
        store.write(key, {}, {"filler": "x" * 1_500})
        pack.add(key)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["runs.0.tar", "runs.1.tar"]
