"""Progress says how far the work is where that is known, and nothing misleading where it is not."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from falcon_discover.runtime import progress


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
