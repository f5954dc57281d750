"""Progress of long work: steps are announced where they happen and shown where a user looks."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from html import escape
from typing import Any, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from falcon_discover.runtime.notebook import notebook_display

# Seconds between two lines of a log, and between two states of a line that is replaced.
SELDOM, OFTEN = 5.0, 0.2


class Reporter(Protocol):
    """Somebody who wants to know how far the work is."""

    def expect(self, steps: int) -> None:
        """Add steps to what is still to come."""

    def step(self, text: str) -> None:
        """Say that the next step begins and what it is."""


_reporter: ContextVar[Reporter | None] = ContextVar("falcon_discover_reporter", default=None)


def expect(steps: int) -> None:
    """Announce steps to come to whoever watches."""
    if reporter := _reporter.get():
        reporter.expect(steps)


def step(text: str) -> None:
    """Announce the step that begins now to whoever watches."""
    if reporter := _reporter.get():
        reporter.step(text)


class _Bar:
    """A bar; where steps are announced only as they come, it moves without saying how far."""

    def __init__(self, bar: Progress, whole: bool) -> None:
        self._bar = bar
        self._whole = whole
        self._task = bar.add_task("starting", total=0 if whole else None)
        self._total = 0
        self._begun = 0

    def expect(self, steps: int) -> None:
        self._total += steps
        if self._whole:
            self._bar.update(self._task, total=self._total)

    def step(self, text: str) -> None:
        self._bar.update(self._task, completed=self._begun, description=text)
        self._begun += 1


class _Lines:
    """One line per step, for logs of work that takes an hour; steps that pass quickly have none."""

    def __init__(self, every: float, whole: bool) -> None:
        self._every = every
        self._whole = whole
        self._shown = -math.inf
        self._total = 0
        self._begun = 0
        self._started = time.monotonic()

    def expect(self, steps: int) -> None:
        self._total += steps

    def step(self, text: str) -> None:
        spent = time.monotonic() - self._started
        left = spent / self._begun * (self._total - self._begun) if self._begun else 0.0
        soon = "under a minute" if left < 60 else f"about {left / 60:.0f} min"
        when = f", {soon} left" if self._begun and self._whole else ""
        self._begun += 1
        if spent < self._shown + self._every:
            return
        self._shown = spent
        place = f"{self._begun}/{self._total}" if self._whole else f"{spent:.0f} s"
        print(f"[{place}] {text}{when}", file=sys.stderr, flush=True)


class _Notebook:
    """One line of a notebook's output, replaced as the work goes on; it needs no widget."""

    def __init__(self, display: Any) -> None:
        self._started = self._told = time.monotonic()
        self._begun = 0
        self._line = display.display(_as_output("starting"), raw=True, display_id=True)

    def expect(self, steps: int) -> None:
        """Take no note of it: what is announced may be a part only."""

    def step(self, text: str) -> None:
        self._begun += 1
        now = time.monotonic()
        if now >= self._told + OFTEN or self._begun == 1:
            self._told = now
            self._tell(text)

    def end(self, how: str) -> None:
        self._tell(how)

    def _tell(self, text: str) -> None:
        spent = time.monotonic() - self._started
        self._line.update(_as_output(f"[{spent:.0f} s] {text}"), raw=True)


def _as_output(text: str) -> dict[str, str]:
    return {"text/plain": text, "text/html": f"<pre>{escape(text)}</pre>"}


@contextmanager
def _reporting(reporter: Reporter | None) -> Iterator[None]:
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextmanager
def logged(*, every: float = 0.0, whole: bool = True) -> Iterator[None]:
    """Show a bar on a terminal, and a line per step where there is none.

    Lines come at least `every` so many seconds; `whole` is as in `shown`.
    """
    if sys.stderr.isatty():
        with shown(whole=whole):
            yield
        return
    with _reporting(_Lines(every, whole)):
        yield


@contextmanager
def watched(wanted: bool) -> Iterator[None]:
    """Show progress to whoever calls from Python, wherever the work is watched.

    That is a line in a notebook, a bar on a terminal, and a line every few seconds in a log.
    An outer bar stays in charge.
    """
    if _reporter.get() or not wanted:
        yield
        return
    display = notebook_display()
    if display is None:
        with logged(every=SELDOM, whole=False):
            yield
        return
    reporter = _Notebook(display)
    how = "stopped"
    try:
        with _reporting(reporter):
            yield
        how = "done"
    finally:
        reporter.end(how)


def silent() -> AbstractContextManager[None]:
    """Hide the steps inside the block: they are one step of the work that is watched."""
    return _reporting(None)


@contextmanager
def shown(wanted: bool = True, *, whole: bool = False) -> Iterator[None]:
    """Show a progress bar on the terminal while the block runs; silent when there is none.

    An outer bar stays in charge: a fit inside a command does not open a second one. `whole` says
    that all steps are announced before the first: only then are their number and the time left
    worth showing.
    """
    if _reporter.get() or not wanted or not sys.stderr.isatty():
        yield
        return
    columns = [
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.completed}/{task.total}" if whole else "{task.completed} steps done"),
        TimeElapsedColumn(),
        *([TextColumn("left:"), TimeRemainingColumn()] if whole else []),
    ]
    with (
        Progress(*columns, console=Console(stderr=True), transient=True) as bar,
        _reporting(_Bar(bar, whole)),
    ):
        yield
