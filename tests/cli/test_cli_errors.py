"""Failures of the command line: a sentence for what is the user's, a traceback for what is ours."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, InputError, __version__, datasets
from falcon_discover import cli as command_line
from falcon_discover.cli import app, request
from falcon_discover.cli.common import BUG, echo
from falcon_discover.data.files import write_results
from falcon_discover.models import score_columns
from falcon_discover.report import write
from falcon_discover.runtime import notices, progress
from falcon_discover.runtime.format import identifier, text

N = 240
PROBA = ("--target", "outcome", "--proba", "score")
TRAINED = ("--target", "outcome", "--backbone", "logistic_regression", "--leave-out", "score")


def run(*words: object, code: int = 0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output + result.stderr
    return result


def refused(*words: object) -> str:
    """Return the one sentence that a call ends with."""
    sentence = run(*words, code=1).stderr
    assert sentence.startswith("error: ")
    assert sentence.count("\n") == 1
    return sentence.removeprefix("error: ").rstrip("\n")


def made_up() -> pd.DataFrame:
    planted = datasets.make_planted(N, random_state=0)
    return planted.X.assign(outcome=np.where(planted.y, "yes", "no"), score=planted.proba)


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "table.csv"
    made_up().to_csv(path, index=False)
    return path


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


@pytest.mark.parametrize("kind", [ValueError, KeyError, AssertionError])
def test_an_error_of_ours_says_so_and_shows_where(table, tmp_path, monkeypatch, kind):
    def broken(*args, **kwargs):
        raise kind("the truth value is ambiguous")

    monkeypatch.setattr(request, "run", broken)
    result = run("audit", table, *PROBA, "--out", tmp_path / "out", code=BUG)
    assert result.stderr.startswith("This is a bug in falcon-discover, not in your input.")
    assert f"falcon-discover {__version__}, Python {sys.version.split()[0]}" in result.stderr
    assert "in broken" in result.stderr
    assert f"{kind.__name__}: " in result.stderr


def test_an_error_with_a_model_of_the_users_names_both(tmp_path, monkeypatch):
    from falcon_discover.scoring import run as engine

    def broken(*args, **kwargs):
        raise ValueError("unknown categories")

    monkeypatch.setattr(engine, "score_files", broken)
    words = ("score", "audit.falcon", "rows.csv", "--out", tmp_path)
    assert run(*words, code=BUG).stderr.startswith(
        "This is a bug in falcon-discover, or in the model of audit.falcon."
    )


def test_too_little_memory_is_said_in_a_sentence(table, tmp_path, monkeypatch):
    def hungry(*args, **kwargs):
        raise MemoryError("Unable to allocate 8 GiB")

    monkeypatch.setattr(request, "run", hungry)
    sentence = refused("audit", table, *PROBA, "--out", tmp_path / "out")
    assert sentence == "out of memory. Unable to allocate 8 GiB"


@pytest.fixture(scope="module")
def finished() -> request.Audit:
    """An audit of a small trained model."""
    question = request.AuditRequest(
        "outcome", backbone="logistic_regression", leave_out=("score",), contributions=False
    )
    return request.run(made_up(), question, name="table.csv")


def full_disk(*args, **kwargs):
    raise OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device")


def test_a_full_disk_is_said_in_a_sentence_that_names_the_folder(
    table, tmp_path, monkeypatch, finished
):
    monkeypatch.setattr(request, "run", lambda *args, **kwargs: finished)
    monkeypatch.setattr(write, "write_results", full_disk)
    out = tmp_path / "out"
    sentence = refused("audit", table, *PROBA, "--out", out)
    assert sentence == f"cannot write {out}: No space left on device."


def test_a_file_that_may_not_be_read_is_named_without_a_number(tmp_path, monkeypatch):
    def closed(*args, **kwargs):
        raise PermissionError(13, "Permission denied", "marks.csv")

    monkeypatch.setattr(datasets, "names", closed)
    assert refused("datasets", "list") == "cannot use marks.csv: Permission denied."


@pytest.mark.parametrize(
    ("failure", "code", "first"),
    [
        (OSError(28, "No space left on device"), 1, "error: cannot write "),
        (InputError("this model cannot be saved."), 1, "error: this model cannot be saved."),
        (KeyboardInterrupt(), 130, "Interrupted. The report was written: "),
    ],
)
def test_where_saving_fails_the_report_that_is_there_is_named(
    table, tmp_path, monkeypatch, finished, failure, code, first
):
    def fails(*args, **kwargs):
        raise failure

    monkeypatch.setattr(request, "run", lambda *args, **kwargs: finished)
    monkeypatch.setattr(FalconDiscover, "save", fails)
    out = tmp_path / "out"
    result = run("audit", table, *TRAINED, "--out", out, "--save", tmp_path / "a", code=code)
    assert result.stderr.startswith(first)
    assert (
        f"The report was written: {out / 'report.html'}. The audit was not saved." in result.stderr
    )
    assert (out / "report.html").is_file()


def test_an_interrupt_before_anything_is_written_says_that(table, tmp_path, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(request, "run", interrupted)
    result = run("audit", table, *PROBA, "--out", tmp_path / "out", code=130)
    assert result.stderr == "Interrupted. Nothing was written.\n"


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
        (["--save", "{data}"], "{data} would be overwritten"),
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


@pytest.mark.parametrize(
    ("ids", "listed"),
    [
        ([2**70, 2**70 + 1], [str(2**70), str(2**70 + 1)]),
        ([np.inf, 1.5], ["inf", "1.5"]),
        ([9007199254741048.0, 7.0], ["9007199254741048", "7"]),
        ([None, 1234636.0], [None, "1234636"]),
        ([3, 4], [3, 4]),
        (pd.array([None, 5], dtype="Int64"), [None, "5"]),
    ],
)
def test_identifiers_of_any_kind_are_written_in_full(tmp_path, ids, listed):
    review = pd.DataFrame({"key": request._as_written(pd.Series(ids))})
    path = write_results(tmp_path, review, {})[0]
    told = pd.read_parquet(path)["key"]
    assert [None if pd.isna(value) else value for value in told] == listed


def test_an_identifier_on_the_page_has_neither_separators_nor_an_exponent():
    assert identifier(1234636.0) == "1234636"
    assert identifier(9007199254741048.0) == "9007199254741048"
    assert identifier(float("inf")) == text(float("inf")) == "inf"
    assert identifier(None) == "missing"


def test_a_feature_that_names_its_rows_is_noted(tmp_path):
    rows = made_up()
    rows["customer"] = [f"c-{i}" for i in range(N)]
    rows["number"] = np.arange(N)
    rows["colour_of_few"] = np.arange(N) % 7
    with notices.collected() as notes:
        request._note_identifiers(rows, request.AuditRequest("outcome"))
    told = " ".join(notes)
    assert "column 'customer' has a different value in every row" in told
    assert "if it is one, use --id customer." in told
    assert "--id number." in told
    assert len(notes) == 2


def test_the_terminal_lists_ids_and_the_verdict_once(tmp_path):
    path = tmp_path / "rows.csv"
    # No integer of a file is as large as these.
    made_up().assign(key=[2**70 + i for i in range(N)]).to_csv(path, index=False)
    words = ("--id", "key", "--no-contributions", "--out", tmp_path / "out")
    shown = run("audit", path, *PROBA, *words).stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    review = pd.read_parquet(tmp_path / "out" / "review.parquet")
    first = 2**70 + int(review["row"].iloc[0])
    assert f"Review first:\n  key {first}: predicted" in shown
    assert shown.count(summary["evaluation"]["verdict"]) == 1


def test_no_command_of_a_terminal_is_passed_on(capsys):
    echo("na\x1b[2Jme\x07 \x9b31m\r of\ta\ncolumn \ud800")
    assert capsys.readouterr().out == "na[2Jme 31m of\ta\ncolumn ?\n"


def test_a_column_name_cannot_command_the_terminal(table):
    told = refused("audit", table, "--target", "a\x1b]0;owned\x07", "--proba", "score")
    assert "\x1b" not in told
    assert "\x07" not in told


@pytest.mark.parametrize("words", [["-h"], ["audit", "-h"], ["bench", "run", "-h"]])
def test_help_has_a_short_name(words):
    assert "Usage" in run(*words).stdout


def test_the_help_of_audit_says_what_is_trained_and_shows_an_example():
    told = " ".join(run("audit", "--help").stdout.split())
    assert "on 70% of the rows" in told
    assert "falcon-discover audit rows.csv --target" in told
    assert "lightgbm" in told


def test_a_piped_audit_says_what_it_is_at_unless_it_is_to_be_quiet(
    table, tmp_path, monkeypatch, finished
):
    def stepping(*args, **kwargs):
        progress.step("one")
        progress.step("two")
        return finished

    monkeypatch.setattr(request, "run", stepping)
    words = ("audit", table, *PROBA, "--out", tmp_path / "out")
    # The second step comes within the first seconds and has no line.
    assert run(*words).stderr == "[0 s] one\n"
    assert run(*words, "--quiet").stderr == ""
    assert run(*words, "--json").stderr == ""


def test_foreign_warnings_stay_out_of_a_command(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["falcon-discover", "settings"])
    monkeypatch.setattr(sys, "warnoptions", [])
    monkeypatch.setattr(command_line, "end_orderly", lambda: None)
    told = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *rest: told.append(str(message)))
    monkeypatch.setattr(
        command_line, "app", lambda: [warnings.warn("ill-conditioned", UserWarning, stacklevel=1),
                                      notices.warn("column 'a' is constant")],
    )  # fmt: skip
    command_line.main()
    assert told == ["column 'a' is constant"]


def test_what_is_noticed_outside_an_audit_is_told_as_a_note(table, tmp_path, monkeypatch, finished):
    def noticing(*args, **kwargs):
        notices.warn("the last line has no end")
        return finished

    monkeypatch.setattr(request, "run", noticing)
    result = run("audit", table, *PROBA, "--out", tmp_path / "out", "--quiet")
    assert result.stderr == "note: the last line has no end\n"


def test_an_interrupt_while_the_program_is_loaded_leaves_no_traceback():
    words = """
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from falcon_discover.__main__ import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "Interrupted. Nothing was written.\n")


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


def test_a_column_of_lists_is_no_identifier():
    rows = made_up().assign(load=[[1, 2]] * N)
    with notices.collected() as notes:
        request._note_identifiers(rows, request.AuditRequest("outcome"))
    assert not notes
