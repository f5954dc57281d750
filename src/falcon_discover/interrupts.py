"""Ctrl-C in the middle of compiled code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupt_after(model: Any) -> Iterator[None]:
    """Let Ctrl-C wait until the block is done, if the model cannot bear it inside.

    XGBoost reads its data through a callback into Python. An interrupt raised there is lost and
    the process dies of a corrupted heap, so it is held back until the fit returns.
    """
    fragile = type(model).__module__.startswith("xgboost")
    listening = signal.getsignal(signal.SIGINT) != signal.SIG_IGN
    if not (fragile and listening and threading.current_thread() is threading.main_thread()):
        yield
        return
    waiting: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        raise KeyboardInterrupt
