"""What a command tells: a sentence for what is the user's, a traceback for what is ours, notes."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from falcon_discover import FalconDiscover, InputError, __version__, datasets
from falcon_discover import cli as command_line
from falcon_discover.cli import request
from falcon_discover.cli.common import BUG, echo
from falcon_discover.data.files import write_results
from falcon_discover.report import write
from falcon_discover.runtime import notices, progress
from falcon_discover.runtime.format import identifier, text
from support.command_line import PROBA, TRAINED, N, made_up, refused, run


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


def test_a_column_of_lists_is_no_identifier():
    rows = made_up().assign(load=[[1, 2]] * N)
    with notices.collected() as notes:
        request._note_identifiers(rows, request.AuditRequest("outcome"))
    assert not notes
