"""Progress of long work: steps are announced where they happen and shown where a user looks."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


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
