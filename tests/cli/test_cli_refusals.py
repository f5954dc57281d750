"""What the command line cannot use is refused in a sentence, before the work begins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from falcon_discover.cli import request
from falcon_discover.models import score_columns
from support.command_line import PROBA, TRAINED, N, made_up, refused, run


@pytest.mark.parametrize(
    ("facts", "named"),
    [(["2.3"], "2.3"), (["=2.3"], "=2.3"), (["mode=x"], "'mode'"), (["a=1", "a=2"], "'a' twice")],
)
def test_facts_that_cannot_be_shown_are_refused(table, tmp_path, facts, named):
    given = [word for fact in facts for word in ("--about", fact)]
    assert named in refused("audit", table, *PROBA, "--out", tmp_path / "r", *given)
    assert not (tmp_path / "r").exists()


def written(tmp_path: Path, **columns: object) -> Path:
    """Return a file of the usual table with other columns."""
    made_up().assign(**columns).to_parquet(tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


@pytest.fixture
def untouched(monkeypatch):
    """Fail where work begins: what is refused must be refused before."""

    def begun(*args, **kwargs):
        raise AssertionError("the work began")

    monkeypatch.setattr(request, "run", begun)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--out", "{}/file"], "--out is {}/file, which is a file: give a folder."),
        (["--out", "{data}"], "--out is {data}, which is a file: give a folder."),
        (["--out", "{}/file/deep"], "--out leads through {}/file, which is a file"),
        (["--out", "{}/locked/new"], "--out: the folder {}/locked is not writable"),
        (["--save", "{}/lost/a.falcon"], "there is no folder {}/lost: create it first."),
        (["--save", "{}"], "--save is {}, which is a folder: name a file in it."),
        (["--save", "{}/locked/a"], "--save: the folder {}/locked is not writable"),
        (["--save", "{data}"], "--save is {data}, which is there and is not a saved audit"),
        (["--save", "{}/o/report.md", "--out", "{}/o"], "/o/report.md, a file of the report"),
    ],
)
@pytest.mark.usefixtures("untouched")
def test_results_that_cannot_be_written_are_refused_before_the_work(
    table, tmp_path, monkeypatch, words, sentence
):
    (tmp_path / "file").touch()
    (tmp_path / "locked").mkdir()
    # A test that runs as root could write anywhere.
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).name != "locked")
    words = [word.format(tmp_path, data=table) for word in words]
    defaults = () if "--out" in words else ("--out", tmp_path / "out")
    told = refused("audit", table, *TRAINED, *words, *defaults)
    assert sentence.format(tmp_path, data=table) in told


@pytest.mark.usefixtures("untouched")
def test_an_input_that_a_result_would_replace_is_refused(tmp_path):
    made_up().to_csv(tmp_path / "review.csv", index=False)
    told = refused("audit", tmp_path / "review.csv", *PROBA, "--out", tmp_path)
    assert told.endswith("review.csv would be overwritten: choose another folder for --out.")


def test_the_audit_may_be_saved_into_the_folder_of_the_report(table, tmp_path, finished):
    from falcon_discover.cli.outputs import check_outputs

    check_outputs(tmp_path / "new", tmp_path / "new" / "audit.falcon", [table])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--target", "outcom", "--proba", "score"],
            "--target names the column 'outcom', which table.csv does not have. "
            "Did you mean 'outcome'? Its columns: signal_a, ",
        ),
        (["--target", "outcome", "--proba", "SCORE"], "Did you mean 'score'?"),
        ([*PROBA, "--id", "lod"], "--id names the column 'lod'"),
        ([*PROBA, "--leave-out", "noise0"], "Did you mean 'noise_0'?"),
    ],
)
def test_a_mistyped_column_is_answered_with_the_one_that_may_be_meant(table, words, sentence):
    assert sentence in refused("audit", table, *words)


def test_of_many_columns_twelve_are_listed(tmp_path):
    wide = written(tmp_path, **{f"x{i}": 0 for i in range(40)})
    told = refused("audit", wide, "--target", "zzz", "--proba", "score")
    assert told.endswith(f"outcome, score, x0 and {11 + 40 - 12} more.")
    assert "Did you mean" not in told


@pytest.mark.parametrize("name", request.LIST_COLUMNS)
def test_an_id_with_a_name_of_the_review_list_is_refused_at_once(tmp_path, name):
    path = written(tmp_path, **{name: np.arange(N)})
    told = refused("audit", path, *PROBA, "--id", name)
    assert told.startswith(f"--id names the column {name!r}, but the review list has a column")


def test_the_names_that_an_id_may_not_have_are_those_of_the_review_list(finished):
    assert set(finished.review.columns) <= set(request.LIST_COLUMNS)


@pytest.mark.parametrize(
    ("words", "pair"),
    [
        (["--target", "score", "--proba", "score"], "--target and --proba"),
        (["--target", "outcome", "--proba", "score", "--id", "score"], "--proba and --id"),
        (["--target", "outcome", "--id", "outcome"], "--target and --id"),
    ],
)
def test_a_column_has_one_role(table, words, pair):
    assert refused("audit", table, *words).startswith(f"{pair} both name the column")


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        ([*["0.97"] * (N - 2), "97 %", "95 %"], f"holds '97 %' in row {N - 2} (2 such rows)"),
        ([*["0.97"] * (N - 1), "97 %"], "Write percentages as shares: divide by 100."),
        ([*["0.97"] * (N - 1), "high"], f"holds 'high' in row {N - 1} (1 such row)"),
        ([*[0.5] * (N - 1), None], f"holds nothing in row {N - 1}"),
        ([*[0.5] * (N - 1), 97.0], "holds 97.0 in row 239 (1 such row)"),
        ([*[0.5] * (N - 1), 97.0], "If these are percentages, divide them by 100."),
        ([[0.1, 0.9]] * N, "holds array([0.1, 0.9]) in row 0"),
        (pd.to_timedelta(np.arange(N), "D"), "holds 1 days 00:00:00 in row 1"),
        ([*[0.5] * (N - 1), -3.0], "holds -3.0 in row 239"),
    ],
)
@pytest.mark.parametrize("positive", ["yes", "no"])
def test_scores_that_are_no_probabilities_are_named_as_the_file_has_them(
    tmp_path, scores, sentence, positive
):
    told = refused("audit", written(tmp_path, score=scores), *PROBA, "--positive", positive)
    assert "--proba names the column 'score', which holds " in told
    assert sentence in told


def test_scores_written_as_texts_are_read():
    assert score_columns.column_scores(pd.Series(["0.25", "1"])).tolist() == [0.25, 1.0]


def test_a_target_that_is_no_class_is_refused_in_a_sentence(table):
    told = refused("audit", table, "--target", "signal_a", "--proba", "score")
    assert told.startswith("y is not a column of classes. Unknown label type: continuous")


def test_a_budget_out_of_range_is_refused_before_the_work(table, monkeypatch):
    monkeypatch.setattr(request, "audited", None)
    assert "budget is 20.5" in refused("audit", table, *PROBA, "--budget", 20.5)
    assert "budget is 0:" in refused("audit", table, *PROBA, "--budget", 0)


def test_a_column_that_new_rows_lack_is_answered_with_the_one_that_may_be_meant(tmp_path, finished):
    saved = finished.falcon.save(tmp_path / "audit.falcon")
    made_up().rename(columns={"load": "Load"}).to_parquet(tmp_path / "new.parquet")
    told = refused("score", saved, tmp_path / "new.parquet", "--out", tmp_path / "scores")
    assert told.endswith("new.parquet lacks the column 'load'. Did you mean 'Load'?")


def test_a_column_name_that_ends_in_nul_is_refused(tmp_path):
    made_up().rename(columns={"load": "load\0"}).to_parquet(tmp_path / "rows.parquet")
    told = refused("audit", tmp_path / "rows.parquet", *PROBA)
    assert told.startswith("rows.parquet has a NUL character in the name 'load")


@pytest.mark.parametrize("words", [["--seed", "-1"], ["--seed", 2**40], ["--jobs", 0]])
def test_numbers_that_no_library_takes_are_refused_as_options(table, words):
    assert f"Invalid value for '{words[0]}'" in run("audit", table, *PROBA, *words, code=2).stderr


def test_labels_that_are_bytes_are_refused_in_a_sentence(tmp_path):
    path = written(tmp_path, outcome=[b"yes", b"no"] * (N // 2))
    assert "y is not a column of classes" in refused("audit", path, *PROBA)
