"""Progress says how far the work is where that is known, and nothing misleading where it is not."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest

from falcon_discover import FalconDiscover, datasets
from falcon_discover.runtime import notices, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch) -> Callable[[], Terminal]:
    """Turn standard error into a terminal; inside the test, since pytest sets it before each."""

    def opened() -> Terminal:
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "160")
        return screen

    return opened


def work(parts: int) -> None:
    """Steps that are announced a part at a time, as those of an audit are."""
    for part in range(parts):
        progress.expect(2)
        progress.step(f"part {part}: begin")
        progress.step(f"part {part}: end")


def test_no_total_and_no_time_left_while_steps_may_still_come(terminal):
    screen = terminal()
    with progress.shown():
        work(3)
    shown = screen.getvalue()
    assert "5 steps done" in shown
    assert "left:" not in shown
    assert "/2" not in shown


def test_work_that_is_announced_as_a_whole_has_a_total_and_a_time_left(terminal):
    screen = terminal()
    with progress.logged():
        work(1)
    assert "1/2" in screen.getvalue()
    assert "left:" in screen.getvalue()


def test_an_inner_bar_does_not_replace_the_outer_one(terminal):
    screen = terminal()
    with progress.shown(), progress.shown(whole=True):
        work(1)
    assert "1 steps done" in screen.getvalue()
    assert "left:" not in screen.getvalue()


class Line:
    """A line of a notebook's output, with all that it has shown."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def display(self, output, *, raw, display_id):
        assert raw
        assert display_id
        self.shown.append(output)
        return self

    def update(self, output, *, raw):
        self.shown.append(output)


@pytest.fixture
def notebook(monkeypatch) -> Line:
    """Have Python run in a notebook."""
    line, shell, display = Line(), ModuleType("IPython"), ModuleType("IPython.display")
    shell.get_ipython = lambda: SimpleNamespace(kernel=object())
    display.display = line.display
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(progress, "OFTEN", 0.0)
    return line


def test_a_notebook_shows_one_line_that_moves(notebook, capsys):
    with progress.watched(True):
        progress.step("<fold> 1")
        progress.step("fold 2")
    assert [output["text/plain"][-6:] for output in notebook.shown] == [
        "arting", "old> 1", "fold 2", "] done",
    ]  # fmt: skip
    assert "&lt;fold&gt; 1" in notebook.shown[1]["text/html"]
    assert capsys.readouterr() == ("", "")


def test_a_notebook_says_when_the_work_was_stopped(notebook):
    with pytest.raises(KeyboardInterrupt), progress.watched(True):
        raise KeyboardInterrupt
    assert notebook.shown[-1]["text/plain"].endswith("stopped")


def test_a_log_has_lines_that_say_since_when(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SELDOM", 0.0)
    with progress.watched(True):
        work(1)
    assert capsys.readouterr().err == "[0 s] part 0: begin\n[0 s] part 0: end\n"


def test_who_did_not_ask_sees_nothing(notebook, capsys):
    with progress.watched(False):
        work(1)
    with progress.silent(), progress.watched(False):
        work(1)
    assert notebook.shown == []
    assert capsys.readouterr() == ("", "")


def test_an_outer_bar_stays_in_charge_of_what_is_watched(notebook):
    with progress.watched(True), progress.watched(True):
        progress.step("inner")
    assert len([output for output in notebook.shown if "starting" in output["text/plain"]]) == 1


def test_every_long_call_shows_progress(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SELDOM", 0.0)
    rows = datasets.make_planted(90, random_state=0)
    falcon = FalconDiscover(
        "precomputed", ranker="gated_confidence", tau=0.7, cv=3, verbose=1, random_state=0
    )
    calls = {
        "state of 30 rows, part 1 of 1": lambda: falcon.fit(rows.X, rows.y, proba=rows.proba),
        "state of 9 rows": lambda: falcon.examine(rows.X[:9], proba=rows.proba[:9]),
        "ranker: random": lambda: falcon.evaluate(taus=()),
        "calibrator: platt": lambda: falcon.calibrated("platt"),
    }
    for expected, call in calls.items():
        with notices.collected():
            call()
        assert expected in capsys.readouterr().err
