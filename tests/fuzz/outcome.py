"""What may come of a call: a right answer, or an `InputError` with a sentence."""

from __future__ import annotations

import pickle
import re
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.exceptions import DataConversionWarning

import falcon_discover
from falcon_discover import DataWarning, InputError

# More than any case needs on a busy machine; longer is a hang.
PATIENCE = 60
LONGEST_SENTENCE = 2_000
PACKAGE = str(Path(falcon_discover.__file__).parent)
ANSWERED, REFUSED = "answered", "refused"


class Hang(BaseException):
    """A call took longer than any should."""


class WrongError(AssertionError):
    """An answer that is not right, a sentence that is none, or data of the caller that changed."""


@contextmanager
def patience(seconds: int = PATIENCE) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise Hang(f"longer than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(call: Callable[[], Any], *given: Any, allowed: tuple[type[Exception], ...] = ()) -> str:
    """Return whether a call was answered or refused; anything else is raised.

    Parameters
    ----------
    given : what the caller handed in: it must be the same afterwards
    allowed : the caller's own errors, which may pass through
    """
    before = [snapshot(value) for value in given]
    try:
        with patience(), warnings.catch_warnings():
            # What a library warns about, a user should not have to read.
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", DataWarning)
            warnings.simplefilter("ignore", DataConversionWarning)
            # scikit-learn's own words about columns by position.
            warnings.filterwarnings("ignore", "X (does not have|has) .*feature names")
            call()
        found = ANSWERED
    except InputError as error:
        check_sentence(str(error))
        found = REFUSED
    except allowed:
        found = REFUSED
    for value, was in zip(given, before, strict=True):
        if snapshot(value) != was:
            raise WrongError("the caller's data changed")
    return found


def check_sentence(text: str) -> None:
    if not text.strip() or len(text) > LONGEST_SENTENCE or " object at 0x" in text:
        raise WrongError(f"not a sentence: {text[:200]!r}")


def snapshot(value: Any) -> Any:
    """Return something that is equal as long as a value is as it was."""
    if isinstance(value, pd.DataFrame):
        cells = [snapshot(value.iloc[:, i]) for i in range(value.shape[1])]
        return repr(value.columns), cells
    if isinstance(value, pd.Series):
        return str(value.dtype), repr(value.index[:5]), _content(list(value.array))
    return _content(value)


def _content(value: Any) -> Any:
    try:
        return pickle.dumps(value)
    except Exception:
        try:
            return repr(value)
        except Exception:
            return id(value)


def place(error: BaseException) -> str:
    """Return what an error is, and where in the package or its tests it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(PACKAGE)]
    last = ours[-1] if ours else frames[-1]
    where = f"{Path(last.filename).name}:{last.lineno} {last.name}"
    # Numbers differ from case to case, and the fault is one.
    said = re.sub(r"[0-9]+", "N", str(error))[:120]
    return f"{type(error).__name__} at {where}: {said!r}"
