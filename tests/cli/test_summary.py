"""What `audit` prints: the judgement first, the next step last, on one screen."""

from __future__ import annotations

import re
import shutil
import sys
from os import terminal_size

import pandas as pd
import pytest

from falcon_discover import datasets
from falcon_discover.cli import request, summary
from falcon_discover.cli.common import paragraph


@pytest.fixture(scope="module")
def audited():
    planted = datasets.make_planted(900, random_state=0)
    table = planted.X.assign(
        outcome=planted.y, score=planted.proba, key=[f"case-{i}" for i in range(900)]
    )
    wanted = request.AuditRequest(
        "outcome", proba=("score",), identity="key", contributions=False, n_jobs=1
    )
    return request.run(table, wanted, name="table.csv"), wanted


def test_the_summary_fits_one_screen_and_begins_with_the_verdict(audited, capsys, monkeypatch):
    result, _ = audited
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: terminal_size((80, 24)))
    summary.show(result, "key", details=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    # Paths and the next step take the rest of 24 lines.
    assert len(lines) <= 21
    verdict = result.evaluation.verdict()
    assert verdict.startswith(lines[0])
    assert verdict in " ".join(lines)


def test_rows_are_called_by_their_id(audited, capsys):
    result, _ = audited
    summary.show(result, "key", details=False)
    first = result.review["key"].iloc[0]
    assert f"Review first:\n  key {first}: predicted" in capsys.readouterr().out


def test_details_hold_every_table(audited, capsys):
    result, _ = audited
    summary.show(result, None, details=True)
    text = capsys.readouterr().out
    assert result.evaluation.figures() in text
    assert repr(result.regions) in text
    assert repr(result.missed) in text


def test_reviews_per_error_are_reviewed_rows_over_errors_found(audited):
    result, _ = audited
    own = result.evaluation.captures.query("tau == 0.9 and ranker == 'auto'")
    last = own.sort_values("reviewed").iloc[-1]
    words = summary.reviews_per_error(result.evaluation)
    shown = re.findall(r"[\d.]+(?= in the riskiest 20%| at random)", words)
    assert float(shown[0]) == pytest.approx(last["reviewed"] / last["captured"], abs=0.5)
    assert float(shown[1]) == pytest.approx(last["rows"] / last["events"], abs=0.5)


def test_the_next_step_is_a_command_that_scores_with_the_same_columns(audited, tmp_path):
    _, wanted = audited
    saved = tmp_path / "my audit.falcon"
    text = summary.next_step(tmp_path, "report.html", saved, wanted, ())
    assert f"'{saved}'" in text
    assert "--queue 50 --proba score --id key" in text
    alerted = summary.next_step(tmp_path, "report.html", saved, wanted, ("odd",))
    assert "warning" in alerted
    assert "--queue" not in alerted


def test_a_paragraph_is_one_line_in_a_pipe(capsys):
    paragraph("word " * 60)
    assert capsys.readouterr().out.count("\n") == 1


def test_notes_that_are_many_are_counted(capsys):
    notes = [f"note {i}" for i in range(5)]
    summary._notes({"notes": notes, "alerts": []})
    text = capsys.readouterr().out
    assert text.count("note: ") == 2
    assert "3 more notes" in text


def test_an_empty_review_list_is_said_to_be(capsys):
    summary._first_rows(pd.DataFrame(), None)
    assert "no row" in capsys.readouterr().out
