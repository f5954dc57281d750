from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from typer.testing import CliRunner

from falcon_discover import PAPER, datasets
from falcon_discover.cli import app
from falcon_discover.data.files import spreadsheet_safe

NUMBERS = ["signal_a", "signal_b", "load", "height"]


def run(*words: object, code: int = 0):
    # What each family earns costs a refit per family, and is tested with the report.
    audited = words[0] == "audit" and code == 0
    more = ["--no-contributions"] if audited else []
    result = CliRunner().invoke(app, [*(str(word) for word in words), *more])
    assert result.exit_code == code, result.output + result.stderr
    return result


def strict_json(text: str):
    """Parse JSON, refusing NaN, which no other language can read."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the same table as CSV, parquet and Feather, and a model file."""
    place = tmp_path_factory.mktemp("data")
    planted = datasets.make_planted(800, random_state=0)
    table = planted.X.assign(
        outcome=np.where(planted.y, "yes", "no"),
        score=planted.proba,
        key=[f"case-{i}" for i in range(800)],
    )
    table.to_csv(place / "table.csv", index=False)
    table.to_parquet(place / "table.parquet")
    table.to_feather(place / "table.feather")
    model = make_pipeline(
        make_column_transformer(
            (StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), ["colour"])
        ),
        LogisticRegression(),
    )
    other = datasets.make_planted(800, random_state=1)
    model.fit(other.X[[*NUMBERS, "colour"]], np.where(other.y, "yes", "no"))
    skops.io.dump(model, place / "model.skops")
    return place


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_audit_of_predictions_reads_every_format(folder, tmp_path, ending):
    result = run(
        "audit", folder / f"table.{ending}", "--target", "outcome", "--proba", "score",
        "--id", "key", "--out", tmp_path, "--about", "version=2.3", "--about", "team = a=b",
    )  # fmt: skip
    summary = strict_json((tmp_path / "summary.json").read_text())
    assert summary["evaluation"]["verdict"] in result.stdout
    assert (summary["how"]["version"], summary["how"]["team"]) == ("2.3", "a=b")
    assert "2.3" in (tmp_path / "report.html").read_text().partition('id="fact-version"')[2][:100]
    assert summary["how"]["mode"] == "predictions only"
    review = pd.read_parquet(tmp_path / "review.parquet")
    assert len(review) == 160
    assert list(review.columns) == [
        "key", "row", "suspicion", "p", "predicted", "actual", "confidence", "region", "region_id",
        "reason", "label_doubt",
    ]  # fmt: skip
    wrong = (review["predicted"] != review["actual"]) & (review["confidence"] >= 0.9)
    assert review["label_doubt"].notna().tolist() == wrong.tolist()
    assert (review["key"] == "case-" + review["row"].astype(str)).all()
    pd.testing.assert_frame_equal(
        pd.read_csv(
            tmp_path / "review.csv", keep_default_na=False, na_values={"label_doubt": [""]}
        ),
        review,
        check_dtype=False,
        rtol=1e-12,
    )


def test_audit_of_a_model_file(folder, tmp_path):
    run(
        "audit", folder / "table.csv", "--target", "outcome", "--model", folder / "model.skops",
        "--leave-out", "score", "--id", "key", "--out", tmp_path, "--tau", 0.8, "--budget", 0.1,
    )  # fmt: skip
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["how"]["mode"] == "frozen model"
    assert summary["how"]["model"] == "Pipeline"
    assert summary["settings"] == {
        "tau": 0.8, "threshold": 0.5, "budget": 0.1, "ranker": "auto", "severity": "count",
        "seed": 7,
    }  # fmt: skip
    assert len(pd.read_parquet(tmp_path / "review.parquet")) == 80


def test_an_audit_is_saved_and_scores_new_rows(folder, tmp_path):
    saved = tmp_path / "audit.falcon"
    result = run(
        "audit", folder / "table.csv", "--target", "outcome", "--model", folder / "model.skops",
        "--leave-out", "score", "--id", "key", "--out", tmp_path / "report", "--save", saved,
    )  # fmt: skip
    assert str(saved) in result.stdout
    run("score", saved, folder / "table.csv", "--id", "key", "--out", tmp_path / "scores")
    scores = pd.read_parquet(tmp_path / "scores")
    assert len(scores) == len(pd.read_csv(folder / "table.csv"))
    assert scores["suspicion"].between(0, 1).all()


def test_audit_trains_a_backbone_and_lists_test_rows_of_the_file(folder, tmp_path):
    result = run(
        "audit", folder / "table.csv", "--target", "outcome", "--backbone", "logistic_regression",
        "--leave-out", "score", "--leave-out", "key", "--out", tmp_path, "--json",
    )  # fmt: skip
    summary = json.loads(result.stdout)
    assert summary == json.loads((tmp_path / "summary.json").read_text())
    assert summary["how"]["model"] == "logistic_regression"
    assert summary["evaluation"]["model"]["rows"] == 160
    review = pd.read_parquet(tmp_path / "review.parquet")
    table = pd.read_csv(folder / "table.csv")
    assert (review["actual"] == table["outcome"].to_numpy()[review["row"]]).all()


def test_the_positive_label_may_be_the_smaller_one(folder, tmp_path):
    table = pd.read_csv(folder / "table.csv")
    # Multiples of 1/1024 are exact in binary and in text: 1 - (1 - score) is the score.
    table["score"] = (table["score"] * 1024).round() / 1024
    table.to_csv(tmp_path / "plain.csv", index=False)
    table["score"] = 1 - table["score"]
    table.to_csv(tmp_path / "turned.csv", index=False)
    common = ("--target", "outcome", "--proba", "score", "--json", "--id", "key")
    plain = run("audit", tmp_path / "plain.csv", *common, "--out", tmp_path / "a")
    turned = run(
        "audit", tmp_path / "turned.csv", *common, "--positive", "no", "--out", tmp_path / "b"
    )
    captures = [json.loads(r.stdout)["evaluation"]["captures"] for r in (plain, turned)]
    assert captures[0] == captures[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.csv", "--target", "y"], "there is no file nowhere.csv"),
        (["data.xlsx", "--target", "y"], "data.xlsx has the ending '.xlsx': use one of .csv"),
        (
            ["{}/table.csv", "--target", "y"],
            "--target names the column 'y', which table.csv does not have. Its columns: signal_a",
        ),
        (
            ["{}/table.csv", "--target", "outcome", "--proba", "odds"],
            "--proba names the column 'odds'",
        ),
        (
            ["{}/table.csv", "--target", "outcome", "--proba", "score", "--backbone", "auto"],
            "--model, --proba and --backbone cannot be combined",
        ),
        (
            ["{}/table.csv", "--target", "outcome", "--model", "{}/table.csv"],
            "table.csv is not a skops file",
        ),
        (
            ["{}/table.csv", "--target", "outcome", "--backbone", "lightening"],
            "there is no backbone 'lightening'",
        ),
        (
            ["{}/table.csv", "--target", "outcome", "--proba", "score", "--budget", "20.5"],
            "budget is 20.5: give a share of the rows as a fraction",
        ),
        (
            ["{}/table.csv", "--target", "outcome", "--proba", "score", "--tau", "90"],
            "tau is 90.0: give a confidence between 0.5 and 1 (did you mean 0.9?)",
        ),
        (
            ["{}/table.csv", "--target", "outcome", "--proba", "score", "--positive", "maybe"],
            "positive is 'maybe', but the labels are 'no' and 'yes'",
        ),
        (
            ["{}/table.csv", "--target", "key", "--proba", "score"],
            "y has 800 different values in 800 rows",
        ),
    ],
)
def test_bad_calls_end_with_one_sentence_and_write_nothing(folder, tmp_path, words, sentence):
    words = [word.format(folder) for word in words]
    result = run("audit", *words, "--out", tmp_path / "out", code=1)
    assert sentence in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_usage_error_has_its_own_exit_code():
    run("audit", code=2)


class Unheard(LogisticRegression):
    """A type that skops does not know."""


def test_an_untrusted_type_in_a_model_is_refused_until_it_is_named(folder, tmp_path):
    planted = datasets.make_planted(400, random_state=1)
    model = Unheard().fit(planted.X[NUMBERS], np.where(planted.y, "yes", "no"))
    skops.io.dump(model, tmp_path / "odd.skops")
    call = (
        "audit", folder / "table.csv", "--target", "outcome", "--model", tmp_path / "odd.skops",
        "--out", tmp_path / "out",
    )  # fmt: skip
    result = run(*call, code=1)
    name = f"{Unheard.__module__}.Unheard"
    assert f"types that are not known to be safe: {name}" in result.stderr
    run(*call, "--trust", name)


def test_a_missing_column_of_the_model_is_named(folder, tmp_path):
    pd.read_csv(folder / "table.csv").drop(columns="load").to_csv(tmp_path / "t.csv", index=False)
    result = run(
        "audit",
        tmp_path / "t.csv",
        "--target",
        "outcome",
        "--model",
        folder / "model.skops",
        code=1,
    )
    assert "the model needs the column 'load'" in result.stderr


def test_settings_prints_every_constant():
    assert json.loads(run("settings", "--json").stdout) == PAPER.to_dict()
    text = run("settings").stdout
    assert all(name in text for name in PAPER.to_dict())


def test_datasets_list_and_verify(monkeypatch, tmp_path):
    text = run("datasets", "list").stdout
    assert all(name in text for name in datasets.names())
    assert "expected checksum" in run("datasets", "verify", "adult").stdout
    assert set(json.loads(run("datasets", "list", "--json").stdout)) == set(datasets.names())


def test_piped_output_carries_no_progress_bar_and_survives_a_closed_pipe():
    shell = f"{sys.executable} -m falcon_discover settings | head -1"
    result = subprocess.run(shell, shell=True, capture_output=True, text=True, check=True)
    assert result.stdout.startswith("seeds")
    assert result.stderr == ""


def test_texts_that_a_spreadsheet_would_run_are_quoted():
    table = pd.DataFrame({"a": ["=cmd()", "+1", "-1", "@x", "fine"], "b": [-1, 2, 3, 4, 5]})
    safe = spreadsheet_safe(table)
    assert safe["a"].tolist() == ["'=cmd()", "'+1", "'-1", "'@x", "fine"]
    assert safe["b"].tolist() == table["b"].tolist()


def test_audit_says_how_much_review_is_enough(folder, tmp_path):
    words = (
        "audit", folder / "table.csv", "--target", "outcome", "--proba", "score", "--leave-out",
        "key", "--out", tmp_path, "--max-residual-rate",
    )  # fmt: skip
    shown = run(*words, 0.05)
    summary = strict_json((tmp_path / "summary.json").read_text())
    assert summary["guarantee"]["statement"].splitlines()[0] in shown.output
    assert 0 <= summary["guarantee"]["budget"] <= summary["guarantee"]["eligible"]
    assert summary["missed"]["budget"] == PAPER.main_budget
    bad = run(*words, 1.5, code=1)
    assert "max_residual_rate is 1.5" in bad.stderr


def test_audit_weighs_by_surprise(folder, tmp_path):
    words = ("audit", folder / "table.csv", "--target", "outcome", "--proba", "score", "--out")
    run(*words, tmp_path / "a", "--leave-out", "key", "--severity", "surprise")
    review = pd.read_parquet(tmp_path / "a" / "review.parquet")
    run(*words, tmp_path / "b", "--leave-out", "key")
    plain = pd.read_parquet(tmp_path / "b" / "review.parquet")
    assert review["confidence"].head(20).mean() > plain["confidence"].head(20).mean()
    bad = run(*words, tmp_path, "--severity", "loud", code=1)
    assert "severity is 'loud'" in bad.stderr
