"""Ctrl-C and SIGTERM, also in the middle of compiled code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]


class Terminated(KeyboardInterrupt):
    """The process was asked to end; what an interrupt cleans up is cleaned up too."""


def end_orderly() -> None:
    """Let SIGTERM end the process as Ctrl-C does, rather than leave half-written files behind."""

    def end(number: int, frame: FrameType | None) -> None:
        raise Terminated

    # A parent that had it ignored wants it ignored.
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)


@contextmanager
def interrupt_after(model: Any) -> Iterator[None]:
    """Let Ctrl-C wait until the block is done, if the model cannot bear it inside.

    XGBoost reads its data through a callback into Python. An interrupt raised there is lost and
    the process dies of a corrupted heap, so it is held back until the fit returns. So is SIGTERM,
    where something in Python answers it.
    """
    fragile = type(model).__module__.startswith("xgboost")
    if not fragile or threading.current_thread() is not threading.main_thread():
        yield
        return
    known = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handlers: dict[int, Handler] = {n: found for n, found in known.items() if callable(found)}
    waiting: list[int] = []
    for held in handlers:
        signal.signal(held, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        for held, handler in handlers.items():
            signal.signal(held, handler)
    if waiting:
        handlers[waiting[0]](waiting[0], None)
