"""The command line with groups and weights."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, load
from falcon_discover.cli import app

pytestmark = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
SCORES = "p_bus,p_car,p_tram"
FEATURES = list("abcd")
BY_DRAW = ["--group", "customer", "--weight", "times"]


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(
        320, 4, n_informative=3, n_redundant=0, n_classes=3, flip_y=0.2, n_clusters_per_class=1,
        random_state=0,
    )  # fmt: skip
    p = LogisticRegression().fit(X, y).predict_proba(X)
    return pd.DataFrame(X, columns=FEATURES).assign(
        ride=np.array(["bus", "car", "tram"])[y],
        p_bus=p[:, 0],
        p_car=p[:, 1],
        p_tram=p[:, 2],
        customer=[f"{number:03d}" for number in np.arange(320) // 4],
        times=np.where(np.arange(320) % 3 == 0, 2.5, 1.0),
        day=pd.date_range("2025-01-01", periods=320).strftime("%Y-%m-%d"),
    )


@pytest.fixture(scope="module")
def file(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("drawn") / "rides.csv"
    table.to_csv(path, index=False)
    return path


def run(file, *options, code=0):
    arguments = [file, "--target", "ride", "--tau", 0.6, "--no-contributions", "--jobs", 1]
    said = CliRunner().invoke(app, ["audit", *[str(given) for given in (*arguments, *options)]])
    assert said.exit_code == code, said.output + said.stderr
    return said


def test_an_audit_of_three_classes_by_groups_and_weights_is_that_of_python(file, table, tmp_path):
    out, saved = tmp_path / "out", tmp_path / "audit.falcon"
    # One column may both tell the groups apart and stand in the list.
    said = run(
        file, "--proba", SCORES, *BY_DRAW, "--id", "customer", "--leave-out", "day",
        "--budget", 30, "--max-residual-rate", 0.2, "--out", out, "--save", saved,
    )  # fmt: skip
    falcon = FalconDiscover("precomputed", tau=0.6, random_state=7, n_jobs=1)
    p, X = table[SCORES.split(",")].to_numpy(), table[FEATURES]
    drawn = {"groups": table["customer"], "sample_weight": table["times"]}
    found = falcon.fit(X, table["ride"], proba=p, **drawn).examine()
    summary = json.loads((out / "summary.json").read_text())
    assert summary["eligible"]["errors"] == table["times"][found.events].sum() > 0
    assert summary["settings"]["group"] == "customer"
    assert summary["settings"]["weight"] == "times"
    # Every third of 320 rows counts two and a half times.
    assert "480" in said.output
    assert "80 groups" in said.output
    assert "independent groups like these" in said.output
    listed = pd.read_parquet(out / "review.parquet")
    assert len(listed) == 30
    assert listed["row"].tolist() == found.review(30)["row"].tolist()
    # As written: 007 is not 7.
    assert listed["customer"].str.len().eq(3).all()
    again = load(saved)
    assert again.score_samples(X, proba=p).tolist() == falcon.score_samples(X, proba=p).tolist()
    assert repr(again.examine().evaluate()) == repr(found.evaluate())


def test_rates_by_period_count_rows_by_their_weight(file, table, tmp_path):
    run(
        file, "--proba", SCORES, "--time", "day", "--weight", "times", "--leave-out", "customer",
        "--ranker", "gated_confidence", "--out", tmp_path,
    )  # fmt: skip
    summary = json.loads((tmp_path / "summary.json").read_text())
    periods = pd.DataFrame(summary["periods"]["periods"])
    # The latest 30% of the rows.
    assert periods["rows"].sum() == table["times"][224:].sum()
    assert periods["events"].sum() == summary["eligible"]["errors"]


def test_a_backbone_is_never_tested_on_a_group_it_was_trained_on(file, table, tmp_path):
    run(
        file, "--backbone", "logistic_regression", *BY_DRAW, "--ranker", "gated_confidence",
        "--leave-out", "day", *[f"--leave-out={name}" for name in SCORES.split(",")],
        "--budget", 1_000, "--out", tmp_path / "out", "--save", tmp_path / "audit.falcon",
    )  # fmt: skip
    tested = pd.read_parquet(tmp_path / "out" / "review.parquet")["row"]
    trained = load(tmp_path / "audit.falcon").examine().table.frame["a"]
    # Older releases of pandas read the last digit of a number in a file in another way.
    groups = table["customer"][table["a"].round(9).isin(trained.round(9).to_numpy())]
    assert len(groups) == len(trained) > 200
    assert not set(groups) & set(table["customer"][tested])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--group", "custmer"], "Did you mean 'customer'?"),
        (["--weight", "ride", "--group", "customer"], "both name the column 'ride'"),
        (["--weight", "day"], "the column 'day' (--weight)"),
        (["--group", "customer", "--time", "day"], "--time and --group cannot be combined"),
        (["--group", "customer", "--batch", "100"], "--batch cannot be combined with --group"),
        (["--weight", "times", "--batch", "100"], "--batch cannot be combined with --weight"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(file, options, sentence, tmp_path):
    said = run(file, "--proba", SCORES, *options, "--out", tmp_path / "out", code=1)
    assert sentence in " ".join(said.stderr.split())
    assert not (tmp_path / "out").exists()
