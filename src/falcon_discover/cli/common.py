"""What all commands share: options, and failures turned into one sentence and an exit code."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Annotated, ParamSpec

import typer

from falcon_discover.exceptions import InputError

INTERRUPTED = 130  # what shells report for Ctrl-C
P = ParamSpec("P")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, nothing else.")]
Jobs = Annotated[int, typer.Option(help="Threads; -1 for all cores.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only where the results are.")]
EngineName = Annotated[str, typer.Option("--engine", help="local or dask.")]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler; without it one is started.")
]
Workers = Annotated[int, typer.Option(help="Processes of a Dask cluster started here.")]
ENGINES = ("local", "dask")


def is_dask(engine: str, scheduler: str | None) -> bool:
    """Return whether Dask was asked for, and is there."""
    if engine not in ENGINES:
        raise InputError(f"--engine is {engine!r}: choose one of {', '.join(ENGINES)}.")
    if engine != "dask":
        if scheduler is not None:
            raise InputError("--scheduler belongs to --engine dask.")
        return False
    if find_spec("distributed") is None:
        raise InputError(
            "--engine dask needs a package that is not installed: "
            "pip install 'falcon-discover[dask]'."
        )
    return True


def command(function: Callable[P, None], *, kept: str = "nothing was written") -> Callable[P, None]:
    """Turn foreseeable failures into one sentence on standard error and an exit code.

    Parameters
    ----------
    kept : what an interrupted command leaves behind, in words
    """

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except BrokenPipeError:
            # Whoever read our output has seen enough; Python must not flush into the closed pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (ValueError, OSError) as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(1) from error
        except KeyboardInterrupt as error:
            typer.echo(f"interrupted: {kept}.", err=True)
            raise typer.Exit(INTERRUPTED) from error

    return guarded
