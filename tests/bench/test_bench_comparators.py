"""Frozen models in tables: what they leave to be found, from a store small enough to count."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from falcon_discover import PAPER, metrics
from falcon_discover.bench import plan
from falcon_discover.bench.comparators import comparator_tables
from falcon_discover.bench.loading import FrozenRuns
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.cli import app
from falcon_discover.exceptions import InputError

N = 400
SETTINGS = {"models": {"saint": {"max_epochs": 100, "patience": 10}}}


def write(store: Store, key: RunKey, *, best_epoch: int | None = None) -> None:
    """Write a run in which `auto` knows the errors and the model's doubt says nothing of them."""
    rng = np.random.default_rng(key.seed)
    rows = pd.DataFrame(
        {"row": rng.permutation(2 * N), "split": np.repeat(["validation", "test"], N)}
    )
    p = rng.uniform(0.5, 1.0, 2 * N)
    wrong = rng.random(2 * N) < 0.2
    rows = rows.assign(label=np.where(wrong, 0, 1).astype(np.int8), p=p)
    noise = rng.random(2 * N)
    scores = pd.DataFrame(
        {"row": rows["row"], "auto_t90": wrong + 0.1 * noise, "learned_t90": wrong}
    )
    scores = scores.assign(s_disc=noise, s_stab=-1.0 * wrong, trustscore=noise)
    right = (~wrong)[N:]
    report = {
        "label_auroc": 0.5 + key.seed / 100,
        "accuracy": right.mean(),
        "seconds": {"fit": 2.0},
    }
    store.write(key, {"rows": rows, "scores": scores}, {**report, "best_epoch": best_epoch})


@pytest.fixture
def folder(tmp_path):
    store = Store(tmp_path / plan.FROZEN, SETTINGS)
    for place, seed in enumerate(PAPER.seeds):
        write(store, RunKey("phoneme", seed, "saint"), best_epoch=88 + place)
        write(store, RunKey("phoneme", seed, "xgboost"))
    # A model without all its seeds is not in the tables.
    write(store, RunKey("phoneme", PAPER.seeds[0], "realmlp"))
    return tmp_path


def test_models_and_rankers(folder):
    tables = comparator_tables(folder)
    models = tables["models"].set_index("model")
    assert list(models.index) == ["xgboost", "saint"]
    runs = FrozenRuns(folder).runs("phoneme", "saint")
    parts = [run.part("test") for run in runs]
    events = [((t["p"] >= 0.9) & (t["label"] == 0)).sum() for t in parts]
    assert models.loc["saint", "events"] == np.mean(events)
    assert models.loc["saint", "eligible"] == np.mean([(t["p"] >= 0.9).sum() for t in parts])
    assert models.loc["saint", "label_auroc"] == pytest.approx(0.5 + np.mean(PAPER.seeds) / 100)
    # Best epochs 88 to 91 of 100 with a patience of 10: only from 91 on none is left.
    assert models["cut_off"].to_dict() == {"xgboost": 0, "saint": 1}
    rankers = tables["rankers"].set_index(["model", "ranker"])
    assert rankers.loc[("saint", "auto"), "eligible_auroc"] == 1.0
    # The learned member knows the errors too, and so is chosen.
    for name in ("learned", "family"):
        assert rankers.loc[("saint", name), "eligible_auroc"] == 1.0
    assert rankers.loc[("saint", "s_stab"), "eligible_auroc"] == 0.0
    gate = rankers.loc[("saint", "gated_confidence")]
    weights = [
        metrics.fc_auroc(run.events()[t["p"] >= 0.9], -t["p"].to_numpy()[t["p"] >= 0.9])
        for run, t in zip(runs, parts, strict=True)
    ]
    assert gate["eligible_auroc"] == pytest.approx(np.average(weights, weights=events))
    gain = rankers.loc[("saint", "auto")]
    assert gain["auroc_gain"] == pytest.approx(1.0 - gate["eligible_auroc"])
    assert gain["auroc_gain_low"] > 0


def test_a_less_sure_model_captures_more_by_its_confidence(folder):
    soft = comparator_tables(folder)["softened"].query("model == 'saint'").set_index("divisor")
    assert soft["eligible_share"].is_monotonic_decreasing
    run = FrozenRuns(folder).runs("phoneme", "saint")
    assert soft.loc[1.0, "cap20_by_confidence"] == pytest.approx(
        np.mean([r.capture("confidence") for r in run])
    )
    # At twice the log-odds, 0.9 asks for odds of 81: 81/82 = 0.988.
    sure = np.mean([(r.part("test")["p"] >= 81 / 82).mean() for r in run])
    assert soft.loc[2.0, "eligible_share"] == pytest.approx(sure)


def test_the_command_writes_tables_and_a_figure(folder, tmp_path):
    out = tmp_path / "out"
    words = ["bench", "comparators", "--store", str(folder), "--out", str(out)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    names = {path.name for path in out.iterdir()}
    assert names == {"models.csv", "rankers.csv", "softened.csv", "stronger_predictors.png"}


def test_a_store_without_frozen_models_is_said(tmp_path):
    with pytest.raises(InputError, match=r"scripts/comparators\.py"):
        comparator_tables(tmp_path)


def test_a_deep_backbone_is_sent_to_its_script(tmp_path):
    words = ["bench", "run", "--store", str(tmp_path), "--backbone", "realmlp"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1
    assert "comparators.py --only realmlp" in " ".join(done.output.split())
