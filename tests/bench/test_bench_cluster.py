"""The benchmark's runs on a Dask cluster: the same store, resumed and shared as without one."""

from __future__ import annotations

import pandas as pd
import pytest
from typer.testing import CliRunner

from falcon_discover import datasets
from falcon_discover.bench import plan
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.cli import app

pytestmark = pytest.mark.cluster

pytest.importorskip("distributed")
SEEDS = (7, 13)
KEYS = [RunKey("phoneme", seed, "logistic_regression") for seed in SEEDS]
TABLES = {"": ("oof", "rows", "scores"), plan.STATES: ("oof", "validation", "test")}


@pytest.fixture
def place(tmp_path, monkeypatch):
    planted = datasets.make_planted(400, random_state=0)
    planted.X.assign(target=planted.y).to_parquet(tmp_path / "phoneme.parquet")
    monkeypatch.setenv("FALCON_DISCOVER_DATA", str(tmp_path))
    return tmp_path


def run(store, *more, code=0):
    words = ["bench", "run", "--store", str(store), "--dataset", "phoneme", "--backbone"]
    words += ["logistic_regression", "--part", "paper", "--part", "states"]
    for seed in SEEDS:
        words += ["--seed", str(seed)]
    result = CliRunner().invoke(app, [*words, *more])
    assert result.exit_code == code, result.output
    return result


def test_a_cluster_makes_the_same_store_and_goes_on_where_it_was_left(place):
    run(place / "local", "--jobs", "1")
    begun = run(place / "spread", "--engine", "dask")
    assert "paper: 2 runs finished now, 2 of 2" in begun.stdout
    for folder, names in TABLES.items():
        one, other = Store(place / "local" / folder), Store(place / "spread" / folder)
        assert other.settings == one.settings
        for key in KEYS:
            for name in names:
                pd.testing.assert_frame_equal(
                    other.read(key, name), one.read(key, name), rtol=1e-12, atol=1e-14
                )
    (place / "spread" / "phoneme" / "seed-13" / "logistic_regression" / "DONE").unlink()
    with Store(place / "spread").claim(KEYS[1]) as mine:
        assert mine
        left = run(place / "spread", "--engine", "dask")
    assert "paper: 0 runs finished now, 1 of 2" in left.stdout
    assert "another process is working on 1" in left.stdout
    again = run(place / "spread", "--engine", "dask")
    assert "paper: 1 run finished now, 2 of 2" in again.stdout
    assert "states: 0 runs finished now, 2 of 2" in again.stdout


def test_what_cannot_be_is_said_before_anything_runs(place):
    said = run(place / "store", "--engine", "spark", code=1).stderr
    assert "choose one of local, dask" in said
    said = run(place / "store", "--scheduler", "tcp://127.0.0.1:1", code=1).stderr
    assert "applies with --engine dask" in said
    words = ("--engine", "dask", "--scheduler", "tcp://127.0.0.1:1")
    assert "no Dask scheduler answers" in run(place / "store", *words, code=1).stderr
    assert not (place / "store").exists()
