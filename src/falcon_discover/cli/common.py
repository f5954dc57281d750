"""What all commands share: options, and failures turned into one sentence and an exit code."""

from __future__ import annotations

import errno
import functools
import json
import os
import platform
import re
import shlex
import shutil
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ParamSpec

import typer

from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices, room
from falcon_discover.runtime.interrupts import Terminated
from falcon_discover.runtime.optional import hint, is_installed
from falcon_discover.runtime.versions import __version__

FAILED = 1
BUG = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # what shells report for Ctrl-C
TERMINATED = 143  # and for SIGTERM
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
# All control characters but tab and newline: the others move the cursor or begin a command.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
P = ParamSpec("P")
# Longer lines are hard to read.
MAX_WIDTH = 100
MAX_SEED = 2**31 - 1  # numpy takes twice as many; splits use seeds beside the one that is given


def _not_zero(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("0 is not a number of threads: give 1 or more, or -1 for all.")
    return jobs


def budget_of(text: str | float) -> float:
    """Return a review budget as it was written: whole numbers are rows, fractions shares.

    Examples
    --------
    >>> budget_of("50"), budget_of("0.2"), budget_of("1.0")
    (50, 0.2, 1.0)
    """
    if not isinstance(text, str):
        # The default comes as it is.
        return text
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number: give 0.2 or 50.") from None


# Facts that the audit itself knows, which nobody else may state.
KNOWN_FACTS = ("mode", "library", "rows", "candidates", "absent")


def facts_of(given: Iterable[str]) -> dict[str, str]:
    """Return what the caller says about the audit, by name.

    Examples
    --------
    >>> facts_of(["version=2.3", "owner = Credit risk"])
    {'version': '2.3', 'owner': 'Credit risk'}
    """
    facts: dict[str, str] = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise InputError(f"--about is {text!r}: write name=text, such as version=2.3.")
        if name in KNOWN_FACTS:
            raise InputError(f"--about gives {name!r}, which the audit knows itself: leave it out.")
        if name in facts:
            raise InputError(f"--about gives {name!r} twice: give it once.")
        facts[name] = value
    return facts


# Panels of the help, in the order of a user's questions.
DATA, MODEL, RULE = "Data", "Model", "What counts as a confident error"
REVIEW, OUTPUT, RUNNING = "Review", "Output", "Running"
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON.", rich_help_panel=OUTPUT)]
Jobs = Annotated[
    int,
    typer.Option(
        callback=_not_zero, help="Number of threads; -1 uses all cores.", rich_help_panel=RUNNING
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", help="Print only where the results are.", rich_help_panel=OUTPUT),
]
EngineName = Annotated[
    str, typer.Option("--engine", help="Where to run: local or dask.", rich_help_panel=RUNNING)
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Address of a Dask scheduler. Default: start a local one.", rich_help_panel=RUNNING
    ),
]
Workers = Annotated[
    int,
    typer.Option(help="Processes of a Dask cluster started here.", rich_help_panel=RUNNING),
]
GivenScores = Annotated[
    list[str] | None,
    typer.Option(
        "--proba",
        help="For an audit of predictions: the column with the scores of these rows; with more "
        "classes one column each, p_a,p_b.",
        rich_help_panel=DATA,
    ),
]
Trusted = Annotated[
    list[str] | None,
    typer.Option(
        help="Type in the file that you trust although it is not known to be safe. Repeatable.",
        rich_help_panel=MODEL,
    ),
]
ENGINES = ("local", "dask")


def is_dask(engine: str, scheduler: str | None) -> bool:
    """Return whether Dask was asked for, and is there."""
    if engine not in ENGINES:
        raise InputError(f"--engine is {engine!r}: choose one of {', '.join(ENGINES)}.")
    if engine != "dask":
        if scheduler is not None:
            raise InputError("--scheduler only applies with --engine dask: add that option.")
        return False
    if not is_installed("distributed"):
        raise InputError(hint("--engine dask", "dask"))
    return True


def echo(text: str = "", *, err: bool = False) -> None:
    """Print text as it can be shown: names and labels may hold what a terminal would obey."""
    stream = sys.stderr if err else sys.stdout
    coding = stream.encoding or "utf-8"
    shown = _CONTROL.sub("", text).encode(coding, "replace").decode(coding)
    typer.echo(shown, err=err)


def paragraph(text: str, indent: int = 0) -> None:
    """Print a paragraph, wrapped where people read it; files and pipes get it on one line."""
    if sys.stdout.isatty():
        width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
        text = textwrap.fill(
            text,
            width,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    echo(text)


def echo_json(content: Any) -> None:
    """Print JSON, nothing else."""
    echo(json.dumps(content, indent=2))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name what was being written in an error of the system, rather than a scratch file."""
    try:
        yield
    except OSError as error:
        raise OSError(f"cannot write {path}: {_reason(error)}") from error


def command(function: Callable[P, None], *, kept: str = "Nothing was written") -> Callable[P, None]:
    """Turn expected failures into one sentence on standard error and an exit code.

    What is wrong with the input or the machine is said in a sentence; anything else is an error of
    this program, which says so and shows where. Notes on an exception say what is there already;
    `kept` says what an interrupted command leaves behind.
    """

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            room.require()
            room.spare()
            with notices.collected() as noticed:
                function(*args, **kwargs)
            for note in noticed:
                echo(f"note: {note}", err=True)
        except typer.Exit:
            # A command's own exit code.
            raise
        except BrokenPipeError:
            # Whoever read our output has seen enough; Python must not flush into the closed pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (InputError, OSError, MemoryError) as error:
            echo(f"error: {_sentence(error)}", err=True)
            for note in getattr(error, "__notes__", ()):
                echo(note, err=True)
            raise typer.Exit(FAILED) from error
        except KeyboardInterrupt as error:
            left = " ".join(getattr(error, "__notes__", ())) or f"{kept}."
            stopped = isinstance(error, Terminated)
            echo(f"{'Stopped' if stopped else 'Interrupted'}. {left}", err=True)
            raise typer.Exit(TERMINATED if stopped else INTERRUPTED) from error
        except Exception as error:
            if _no_room(error):
                echo("error: out of memory. A library could not be loaded.", err=True)
                raise typer.Exit(FAILED) from error
            # The two ways in which a model comes from outside: audit --model, and a saved audit.
            given = kwargs.get("model") or kwargs.get("saved")
            echo(_unexpected(error, None if given is None else str(given)), err=True)
            raise typer.Exit(BUG) from error

    return guarded


def _no_room(error: Exception) -> bool:
    """Return whether memory was too short for a library to be loaded."""
    words = ("failed to map segment", "cannot allocate memory")
    return isinstance(error, ImportError) and any(word in str(error).lower() for word in words)


def _sentence(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"out of memory. {error}".strip()
    if not isinstance(error, OSError) or error.errno is None:
        return str(error)
    verb = "write" if error.errno in _FULL else "use"
    where = f" {error.filename}" if error.filename else ""
    return f"cannot {verb}{where}: {_reason(error)}"


def _reason(error: OSError) -> str:
    return str(error) if error.errno is None else f"{os.strerror(error.errno)}."


def _unexpected(error: Exception, model: str | None) -> str:
    whose = "not in your input" if model is None else f"or in the model of {model}"
    ask = "" if model is None else " If the last lines are the model's own code, look there first."
    return (
        f"This is a bug in falcon-discover, {whose}. Please report it to the project's "
        f"maintainers with the lines below.{ask}\n\n"
        f"falcon-discover {__version__}, Python {platform.python_version()}, "
        f"{platform.system()}\n{''.join(traceback.format_exception(error))}"
    )


@contextmanager
def command_to_trust() -> Iterator[None]:
    """Answer types that are not known to be safe with the command that trusts them."""
    from falcon_discover.storage.objects import UntrustedTypesError

    try:
        yield
    except UntrustedTypesError as error:
        program, *arguments = sys.argv
        name = Path(program).name
        called = ["python", "-m", "falcon_discover"] if name == "__main__.py" else [name]
        for found in error.types:
            arguments += ["--trust", found]
        raise InputError(
            f"{error.about} If you trust its author, run\n  {shlex.join([*called, *arguments])}"
        ) from error
