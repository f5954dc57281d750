"""The command line with more than two classes, a threshold and tau by class."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, discover
from falcon_discover.cli import app
from falcon_discover.cli.by_class import level, named_columns
from falcon_discover.exceptions import InputError
from falcon_discover.models.score_columns import in_class_order
from falcon_discover.scoring.scorer import score_table

NAMES = np.array(["bus", "car", "tram"])
pytestmark = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")


def made(n=500, seed=0):
    X, y = make_classification(
        n, 5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.2, n_clusters_per_class=1,
        random_state=seed,
    )  # fmt: skip
    rows = pd.DataFrame(X, columns=list("abcde"))
    p = LogisticRegression().fit(X, y).predict_proba(X)
    return rows, NAMES[y], p


@pytest.fixture
def file(tmp_path):
    rows, labels, p = made()
    table = rows.assign(ride=labels)
    # In another order than the classes.
    for place in (2, 0, 1):
        table[f"p_{NAMES[place]}"] = p[:, place]
    table.to_csv(tmp_path / "rides.csv", index=False)
    return tmp_path / "rides.csv"


def run(*arguments, code=0):
    few = ["--jobs", 1] if arguments[0] in ("audit", "score") else []
    said = CliRunner().invoke(app, [str(argument) for argument in (*arguments, *few)])
    assert said.exit_code == code, said.output + said.stderr
    return said


@pytest.mark.parametrize(
    "options",
    [
        ["--proba", "p_tram,p_bus,p_car"],
        ["--proba", "p_car", "--proba", "p_bus", "--proba", "p_tram"],
        ["--proba", "p_bus, p_car", "--proba", "p_tram"],
    ],
)
def test_columns_called_by_their_class_are_the_matrix(file, options, tmp_path):
    rows, labels, p = made()
    run("audit", file, "--target", "ride", *options, "--tau", 0.7, "--out", tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    found = discover(rows, labels, p, tau=0.7, random_state=7)
    assert summary["eligible"]["errors"] == int(found.events.sum()) > 0
    assert summary["data"]["features"] == 5
    listed = pd.read_parquet(tmp_path / "out" / "review.parquet")
    assert set(listed["predicted"]) <= set(NAMES)
    assert set(listed["actual"]) <= set(NAMES)


def test_tau_by_class_and_its_marks(file, tmp_path):
    out = tmp_path / "out"
    tau = "bus=0.6,car=0.9,tram=0.7"
    said = run(
        "audit", file, "--target", "ride", "--proba", "p_bus,p_car,p_tram", "--tau", tau,
        "--out", out,
    )  # fmt: skip
    assert "60% to 90% (by class)" in said.output
    assert "score = probability of the predicted class" in said.output
    summary = json.loads((out / "summary.json").read_text())
    assert summary["settings"]["tau"] == {"bus": 0.6, "car": 0.9, "tram": 0.7}
    listed = pd.read_parquet(out / "review.parquet")
    levels = listed["predicted"].map(summary["settings"]["tau"])
    marks = pd.DataFrame({"row": listed["row"], "mark": "right"})
    marks.to_csv(tmp_path / "marks.csv", index=False)
    told = json.loads(run("feedback", out, tmp_path / "marks.csv", "--json").output)
    assert told["bands"][0]["rows"] == int((listed["confidence"] >= levels).sum())
    assert told["below_threshold"] == int((listed["confidence"] < levels).sum())


def test_a_threshold_decides_between_two_classes(file, tmp_path):
    table = pd.read_csv(file)
    table["ride"] = np.where(table["ride"] == "tram", "tram", "other")
    table.to_csv(file, index=False)
    arguments = ["audit", file, "--target", "ride", "--proba", "p_tram", "--tau", 0.7]
    leave = ["--leave-out", "p_bus", "--leave-out", "p_car", "--out", tmp_path / "out"]
    run(*arguments, *leave, "--threshold", 0.2)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["settings"]["threshold"] == 0.2
    rows = [side["rows"] for side in summary["evaluation"]["sides"]["classes"]]
    assert rows[1] == int((table["p_tram"] >= 0.2).sum())
    said = run(
        "audit", file, "--target", "ride", "--proba", "p_tram", "--threshold", 1.2, code=1
    )  # fmt: skip
    assert "threshold is 1.2" in said.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--proba", "p_bus,p_car"], "the classes are bus, car, tram"),
        (["--proba", "p_bus,p_car,a"], "the classes are bus, car, tram"),
        (["--proba", "p_bus,p_bus,p_car"], "names the column 'p_bus' twice"),
        (["--proba", "p_bus,p_car,p_train"], "the column 'p_train'"),
        (["--proba", "p_bus"], "one column for each class"),
        (["--proba", "p_bus,p_car,p_tram", "--threshold", "0.3"], "there are 3 classes"),
        (["--proba", "p_bus,p_car,p_tram", "--tau", "high"], "--tau is 'high'"),
        (["--proba", "p_bus,p_car,p_tram", "--tau", "bus=0.9"], "tau does not name 'car'"),
        (["--proba", "p_bus,p_car,p_tram", "--tau", "bus=0.9,bus=0.8"], "'bus' twice"),
        (["--proba", "p_bus,p_car,p_tram", "--positive", "bus"], "positive only applies"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(file, options, sentence, tmp_path):
    said = run("audit", file, "--target", "ride", *options, "--out", tmp_path / "out", code=1)
    assert sentence in said.stderr
    assert not (tmp_path / "out").exists()


def test_names_of_columns_and_levels():
    assert level("0.85") == 0.85
    assert level("a=b=0.7") == {"a=b": 0.7}
    assert named_columns(["p,q", "r"], ["p,q", "r"]) == ("p,q", "r")
    assert in_class_order(["2", "1", "3"], np.array([1, 2, 3])) == ["1", "2", "3"]
    # One class's name ends like another's.
    classes = np.array(["a_b", "b", "c"])
    assert in_class_order(["p_c", "p_b", "p_a_b"], classes) == ["p_a_b", "p_b", "p_c"]
    with pytest.raises(InputError, match="such as p_a,p_b"):
        in_class_order(["x", "y"], np.array(["a", "b"]))


def test_a_model_is_trained_saved_and_scores_files(file, tmp_path):
    out, saved = tmp_path / "out", tmp_path / "rides.falcon"
    leave = [option for name in NAMES for option in ("--leave-out", f"p_{name}")]
    run(
        "audit", file, "--target", "ride", "--backbone", "logistic_regression", *leave,
        "--tau", "bus=0.6,car=0.6,tram=0.7", "--out", out, "--save", saved, "--no-contributions",
    )  # fmt: skip
    said = run("inspect", saved)
    assert "bus, car, tram" in said.output
    assert "bus 0.6, car 0.6, tram 0.7" in said.output
    new = made(120, seed=5)[0]
    new.to_parquet(tmp_path / "new.parquet", index=False)
    run("score", saved, tmp_path / "new.parquet", "--out", tmp_path / "scores", "--part-rows", 50)
    parts = sorted((tmp_path / "scores").glob("part-*.parquet"))
    assert len(parts) == 3
    scored = pd.concat([pq.read_table(part).to_pandas() for part in parts], ignore_index=True)
    columns = ["p_bus", "p_car", "p_tram", "predicted", "confidence", "suspicion", "risk"]
    assert scored.columns.tolist() == ["file", "row", *columns]
    from falcon_discover import load

    expected = score_table(load(saved), new)
    for name in columns:
        if name == "predicted":
            assert scored[name].tolist() == expected[name].tolist()
        else:
            np.testing.assert_allclose(scored[name], expected[name], rtol=1e-9, err_msg=name)
    # A second run finds everything done.
    again = run(
        "score", saved, tmp_path / "new.parquet", "--out", tmp_path / "scores", "--part-rows", 50
    )
    assert "3" in again.output


def test_dask_writes_the_same_bytes_of_three_classes(tmp_path):
    pytest.importorskip("distributed")
    rows, labels, _ = made(260)
    falcon = FalconDiscover(LogisticRegression(), tau=0.6, random_state=0, n_jobs=1)
    saved = falcon.fit(rows[:200], labels[:200]).save(tmp_path / "rides.falcon")
    rows[200:].to_parquet(tmp_path / "new.parquet", index=False)
    words = ["score", saved, tmp_path / "new.parquet", "--part-rows", 30, "--out"]
    run(*words, tmp_path / "local")
    run(*words, tmp_path / "dask", "--engine", "dask", "--workers", 1)
    parts = [
        [part.read_bytes() for part in sorted((tmp_path / name).glob("part-*.parquet"))]
        for name in ("local", "dask")
    ]
    assert len(parts[0]) == 2
    assert parts[0] == parts[1]


def test_an_id_may_not_be_called_like_a_column_of_the_result(tmp_path):
    rows, labels, _ = made(200)
    falcon = FalconDiscover(LogisticRegression(), ranker="gated_confidence", random_state=0)
    saved = falcon.fit(rows, labels).save(tmp_path / "rides.falcon")
    rows.assign(p_bus=range(200)).to_parquet(tmp_path / "new.parquet")
    arguments = ["score", saved, tmp_path / "new.parquet", "--out", tmp_path / "scores"]
    said = run(*arguments, "--id", "p_bus", code=1)
    assert "'p_bus', but the results have a column" in said.stderr


def test_rare_classes_are_said_where_a_model_is_trained(tmp_path):
    rows, labels, _ = made(300)
    labels = labels.astype(object)
    labels[:4] = "bike"
    rows.assign(ride=labels).to_csv(tmp_path / "rides.csv", index=False)
    run(
        "audit", tmp_path / "rides.csv", "--target", "ride", "--backbone", "logistic_regression",
        "--out", tmp_path / "out", "--no-contributions", "--tau", 0.6,
    )  # fmt: skip
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert any("fewer than 10 rows are of class 'bike'" in note for note in summary["notes"])
