"""What all commands share: options, and failures turned into one sentence and an exit code."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Annotated, ParamSpec

import typer

INTERRUPTED = 130  # what shells report for Ctrl-C
P = ParamSpec("P")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, nothing else.")]
Jobs = Annotated[int, typer.Option(help="Threads; -1 for all cores.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only where the results are.")]


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
