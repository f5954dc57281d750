"""What goes beyond the paper: from stored states to tables, and what the tables say."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from typer.testing import CliRunner

from falcon_discover import PAPER, datasets, metrics
from falcon_discover.bench import plan, scoring
from falcon_discover.bench.actions import SHOWN, action_tables
from falcon_discover.bench.coverage import calibration, guarantee, in_the_large
from falcon_discover.bench.loading import Study
from falcon_discover.bench.ranker_study import Beyond, grid, permuted, rankings, summary
from falcon_discover.bench.states import load_state
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.cli import app
from falcon_discover.signals.catalogue import BY_NAME

# The tables take a while to make: one process makes them for all tests that read them.
pytestmark = pytest.mark.xdist_group("bench beyond")

N = 3_000
BEST = "xgboost"


def test_states_and_scores_of_a_real_run(tmp_path, monkeypatch):
    planted = datasets.make_planted(500, random_state=0)
    planted.X.assign(target=planted.y).to_parquet(tmp_path / "phoneme.parquet")
    monkeypatch.setenv("FALCON_DISCOVER_DATA", str(tmp_path))
    words = ["bench", "run", "--store", str(tmp_path / "store"), "--dataset", "phoneme", "--seed"]
    words += ["7", "--backbone", "logistic_regression", "--jobs", "1", "--part", "states"]
    result = CliRunner().invoke(app, [*words, "--part", "rankers", "--part", "actions"])
    assert result.exit_code == 0, result.output
    assert "rankers: 1 run finished now, 1 of 1" in result.stdout
    assert "actions: 1 run finished now, 1 of 1" in result.stdout
    key = RunKey("phoneme", 7, "logistic_regression")
    states = Store(tmp_path / "store" / plan.STATES)
    oof, test = states.read(key, "oof"), states.read(key, "test")
    # Its reference scores come from models that saw the row: nobody may learn from it.
    assert "prediction_agreement" not in oof
    assert set(BY_NAME) <= set(test.columns)
    assert len(load_state(test, None)) == len(test) == 100
    scores = Store(tmp_path / "store" / plan.RANKERS)
    later, own = scores.read(key, "test"), scores.read(key, "train")
    assert len(own) == 400
    for tau in plan.GRID_TAUS:
        risk = later[f"auto_{plan.at(tau)}"]
        eligible = metrics.confidence(later["p"]) >= tau
        assert ((risk > 0) == eligible).all()
    assert len(scores.report(key)["permuted_gain"]) == 3
    acted = Store(tmp_path / "store" / plan.ACTIONS)
    recalibrated, caution = acted.read(key, "test"), acted.report(key)["caution"]
    np.testing.assert_allclose(
        recalibrated["discrepancy_auto"], expit((1 - caution) * recalibrated["log_odds"])
    )
    np.testing.assert_allclose(recalibrated["discrepancy"], expit(recalibrated["log_odds"]))


def test_tables_of_regions_and_calibrators_are_counted_on_test_rows(tmp_path):
    store = Store(tmp_path / plan.ACTIONS, {"any": 1})
    for seed in (7, 13):
        store.write(RunKey("adult", seed, BEST), *made_up_actions(seed))
    study = SimpleNamespace(
        store=Store(tmp_path, plan.settings()),
        datasets=["adult"],
        seeds=[7, 13],
        selected=lambda name, seed: BEST,
    )
    tables = action_tables(study)
    methods = tables["calibration"].set_index("method")
    tests = [made_up_actions(seed)[0]["test"] for seed in (7, 13)]
    by_hand = [metrics.nll(test["label"], test["platt"]) for test in tests]
    assert methods.loc["platt", "nll"] == pytest.approx(np.mean(by_hand))
    assert methods.loc["p", "seeds"] == 2
    trade = tables["caution"].set_index("caution")
    assert trade["fc_change"]["0.3"] < trade["fc_change"]["0.0"]
    assert trade["eligible"]["0.3"] < trade["eligible"]["0.0"]
    # These scores differ by shrinkage alone, which earns nothing at equal coverage.
    cautions = trade.index.drop("auto")
    np.testing.assert_allclose(trade.loc[cautions, "coverage_change"], 0.0, atol=1e-12)
    assert methods.loc["platt", "errors_at_coverage"] == methods.loc["p", "fc_events"]
    assert methods.loc["platt", "fc_events"] < methods.loc["p", "fc_events"]
    assert trade.loc["auto", "used"] == pytest.approx(0.1)
    found = tables["regions"]
    assert found["rule"].tolist() == ["a <= 1", "a <= 1"]
    assert found["holds"].tolist() == [True, True]


def made_up_actions(seed: int):
    rng = np.random.default_rng(seed)
    odds = 3 * rng.normal(size=600)
    y = (rng.uniform(size=600) < expit(odds)).astype(int)
    test = pd.DataFrame({"row": range(600), "label": y, "p": expit(1.2 * odds), "log_odds": odds})
    for name in SHOWN:
        if name not in test:
            test[name] = expit(0.9 * odds)
    regions = pd.DataFrame(
        {
            "kind": "beyond", "rule": ["a <= 1", "b is x"], "confirmed": [True, False],
            "confirmation_low": 0.1, "confirmation_high": 0.3,
            "test_low": 0.2, "test_high": 0.4, "test_eligible": 20,
        }
    )  # fmt: skip
    return {"test": test, "regions": regions}, {"caution": 0.1, "share": 1.0}


def test_beyond_needs_to_know_the_selected_backbone(tmp_path):
    Store(tmp_path, plan.settings())
    words = ["bench", "run", "--store", str(tmp_path), "--dataset", "phoneme", "--part", "states"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert "run 'bench run --part paper' first" in result.stderr


def made_up_scores(seed: int) -> pd.DataFrame:
    """Test rows whose risk is known: `auto` is the true risk, confidence a blurred one."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.5, 0.999, N)
    risk = np.clip((1 - p) * np.exp(rng.normal(0, 1, N)), 0, 0.9)
    wrong = rng.uniform(size=N) < risk
    frame = pd.DataFrame({"row": np.arange(N), "label": np.where(wrong, 0, 1), "p": p})
    frame["log_trust_1"] = rng.normal(size=N)
    frame["s_stab"] = rng.uniform(size=N)
    for tau in plan.GRID_TAUS:
        frame[f"auto_{plan.at(tau)}"] = np.where(p >= tau, risk, 0.0)
    return frame


@pytest.fixture(scope="module")
def beyond(tmp_path_factory) -> Beyond:
    folder = tmp_path_factory.mktemp("store")
    paper, scores = Store(folder, plan.settings()), Store(folder / plan.RANKERS, scoring.settings())
    for name in ("adult", "miniboone_subset"):
        for seed in PAPER.seeds:
            test = made_up_scores(seed)
            known = {"permuted_gain": [-0.001, -0.01, 0.008], "oof_auroc": 0.9}
            for backbone in plan.BACKBONES:
                key = RunKey(name, seed, backbone)
                rows = test[["row", "label", "p"]].assign(split="test", confidence=test["p"])
                columns = [*plan.PRIORS, "failure", "s_disc", "s_stab"]
                columns += [f"learned_{plan.at(tau)}" for tau in PAPER.taus]
                ranked = pd.DataFrame({"row": test["row"]} | dict.fromkeys(columns, test["p"]))
                auroc = 0.9 if backbone == BEST else 0.8
                paper.write(key, {"rows": rows, "scores": ranked}, {"oof_auroc": auroc})
                if backbone in (BEST, "catboost"):
                    scores.write(key, {"test": test, "train": test}, known)
    return Beyond(Study(Store(folder)))


@pytest.fixture(scope="module")
def tables(beyond) -> dict[str, pd.DataFrame]:
    """The tables as the command writes them; made once, since resampling takes a while."""
    return {
        "rankers": rankings(beyond),
        "grid": grid(beyond),
        "guarantee": guarantee(beyond),
        "risk_calibration": calibration(beyond),
        "risk_in_the_large": in_the_large(beyond),
        "permuted": permuted(beyond),
    }


def test_rankings_have_every_ranker_with_a_paired_interval(beyond, tables):
    table = tables["rankers"].set_index(["dataset", "ranker"])
    auto, gate = table.loc["adult", "auto"], table.loc["adult", "gated_confidence"]
    events = [beyond.scored("adult", seed).events() for seed in PAPER.seeds]
    assert auto["events"] == sum(int(e.sum()) for e in events)
    assert auto["eligible_auroc"] - gate["eligible_auroc"] == pytest.approx(auto["auroc_gain"])
    assert 0 < auto["auroc_gain_low"] < auto["auroc_gain"] < auto["auroc_gain_high"]
    assert np.isnan(gate["auroc_gain"])
    assert table.loc["adult", "gated_trustscore"]["auroc_gain_high"] < 0
    first = beyond.scored("adult", 7)
    by_hand = np.mean(
        [
            metrics.capture_at(
                beyond.scored("adult", seed).events(),
                beyond.scored("adult", seed).score("auto"),
                0.20,
            )
            for seed in PAPER.seeds
        ]
    )
    assert auto["cap20"] == pytest.approx(by_hand)
    assert first.score("auto_surprise").argmax() != first.score("auto").argmax()


def test_the_grid_counts_what_is_there(tables):
    table = tables["grid"]
    assert len(table) == 2 * len(plan.GRID_BACKBONES) * len(plan.GRID_TAUS)
    there = table[table["backbone"].isin([BEST, "catboost"])]
    assert (there["seeds"] == 4).all()
    assert there["significantly_above"].all()
    absent = table[~table["backbone"].isin([BEST, "catboost"])]
    assert (absent["seeds"] == 0).all()
    assert absent["auroc_gain"].isna().all()
    assert not absent["significantly_below"].any()


def test_a_true_risk_is_found_calibrated_and_a_wrong_one_is_not(beyond, tables):
    assert tables["risk_calibration"]["inside"].sum() >= 9

    class Doubled(Beyond):
        def all_seeds(self, dataset, backbone=None):
            runs = super().all_seeds(dataset, backbone)
            for run in runs:
                run.test["auto_t90"] *= 2
            return runs

    assert calibration(Doubled(beyond.study))["inside"].sum() <= 5


def test_the_guarantee_is_counted_over_500_splits(tables):
    table = tables["guarantee"]
    assert (table["splits"] == 500).all()
    thirds = table[table["calibration_share"] < 0.5]
    assert len(thirds) == 4
    assert (thirds["exceeded_later"] <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 500)).all()
    assert (table["mean_budget"] < 1).all()


def test_the_risk_in_the_large_counts_a_row_of_several_seeds_once(beyond, tables):
    whole = tables["risk_in_the_large"].set_index("dataset").loc["all"]
    bins = tables["risk_calibration"]
    assert whole["observed"] == bins["events"].sum()
    assert whole["predicted"] == pytest.approx((bins["rows"] * bins["predicted"]).sum())
    assert whole["low"] < whole["ratio"] < whole["high"]

    class Twice(Beyond):
        """Every seed once more: no new evidence."""

        def all_seeds(self, dataset, backbone=None):
            return super().all_seeds(dataset, backbone) * 2

    again = in_the_large(Twice(beyond.study)).set_index("dataset").loc["all"]
    assert again["observed"] == 2 * whole["observed"]
    for end in ("low", "high", "slope_low", "slope_high"):
        assert again[end] == pytest.approx(whole[end], rel=1e-6)


def test_tables_and_figures_are_written(beyond, tmp_path):
    folder = beyond.study.store.folder
    words = ["bench", "beyond", "--store", str(folder), "--out", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert {path.name for path in tmp_path.iterdir()} == {
        "rankers.csv", "grid.csv", "guarantee.csv", "risk_calibration.csv", "permuted.csv",
        "gains.png", "risk_calibration.png", "risk_in_the_large.csv",
    }  # fmt: skip
    assert len(pd.read_csv(tmp_path / "rankers.csv")) == 20


def test_the_summary_says_all_of_it(tables):
    text = summary(tables)
    assert "mean over 1 full data sets" in text
    assert "16 of 40 cells were run and have events" in text
    assert "significantly below in 0." in text
    assert "mean gain -0.001 over 8 splits" in text
    assert "The risk in the large:" in text
