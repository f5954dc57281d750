"""The loop of the guide, command by command, on files: each step takes what the last one wrote."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from falcon_discover import datasets
from falcon_discover.cli import app

NUMBERS = ["signal_a", "signal_b", "load", "height"]


def called(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loop")
    rows = datasets.make_planted(1_200, random_state=0)
    X = rows.X[NUMBERS].fillna(0)
    skops.io.dump(LogisticRegression().fit(X[:500], rows.y[:500]), folder / "model.skops")
    X[500:].assign(outcome=rows.y[500:]).to_csv(folder / "rows.csv", index=False)
    called(
        "audit", folder / "rows.csv", "--target", "outcome", "--model", folder / "model.skops",
        "--tau", "0.8", "--save", folder / "audit.falcon", "--out", folder / "report", "--quiet",
        "--no-contributions",
    )  # fmt: skip
    return folder / "audit.falcon"


@pytest.fixture(scope="module")
def today(tmp_path_factory):
    path = tmp_path_factory.mktemp("today") / "today.csv"
    rows = datasets.make_planted(500, random_state=1)
    cases = [f"case-{i:03d}" for i in range(500)]
    rows.X[NUMBERS].fillna(0).assign(case=cases).to_csv(path, index=False)
    return path, pd.Series(rows.y, index=cases)


def test_marks_of_a_queue_teach_the_next_audit(audit, today, tmp_path):
    path, truth = today
    watched = called("monitor", audit, path, "--json")
    expected = json.loads(watched.stdout)["errors"]

    called("score", audit, path, "--id", "case", "--queue", "60", "--out", tmp_path / "scores")
    scores = pd.read_parquet(tmp_path / "scores")
    assert expected == pytest.approx(scores["risk"].sum(), rel=1e-6)

    queue = pd.read_csv(tmp_path / "scores" / "_queue" / "queue.csv")
    assert len(queue) == 60
    assert queue["suspicion"].is_monotonic_decreasing
    right = truth[queue["case"]].to_numpy() == queue["predicted"].to_numpy()
    marks = queue[["row", "case"]].assign(mark=np.where(right, "right", "wrong"))
    marks.to_csv(tmp_path / "marks.csv", index=False)

    told = called("feedback", tmp_path / "scores", tmp_path / "marks.csv", "--json")
    assert json.loads(told.stdout)["bands"][0]["wrong"] == int((~right).sum())

    new = tmp_path / "learned.falcon"
    called("learn", audit, tmp_path / "marks.csv", path, "--id", "case", "--save", new)
    again = called("monitor", new, path, "--json")
    assert json.loads(again.stdout)["errors"] != expected
    assert json.loads(called("monitor", audit, path, "--json").stdout)["errors"] == expected
