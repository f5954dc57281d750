"""The command line: parse, call, exit code.

Heavy libraries are imported inside the commands that need them, so that the light ones answer at
once.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated

import typer

from falcon_discover.cli.audit import AUDIT_EXAMPLES, DEMO_EXAMPLE, audit, demo
from falcon_discover.cli.bench import bench_app
from falcon_discover.cli.common import AsJson, command, echo, echo_json
from falcon_discover.cli.data import data_app
from falcon_discover.cli.feedback import FEEDBACK_EXAMPLE, feedback
from falcon_discover.cli.learn import LEARN_EXAMPLE, learn
from falcon_discover.cli.monitor import MONITOR_EXAMPLES, monitor
from falcon_discover.cli.score import INSPECT_EXAMPLE, SCORE_EXAMPLES, inspect, score
from falcon_discover.exceptions import DataWarning
from falcon_discover.runtime.interrupts import end_orderly
from falcon_discover.runtime.versions import __version__
from falcon_discover.settings import PAPER

app = typer.Typer(
    name="falcon-discover",
    help="Find the confident predictions of a classifier that you should not trust.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: falcon-discover demo",
)
app.command(epilog=DEMO_EXAMPLE)(demo)
app.command(epilog=AUDIT_EXAMPLES)(audit)
app.command(epilog=INSPECT_EXAMPLE)(inspect)
app.command(epilog=SCORE_EXAMPLES)(score)
app.command(epilog=MONITOR_EXAMPLES)(monitor)
app.command(epilog=FEEDBACK_EXAMPLE)(feedback)
app.command(epilog=LEARN_EXAMPLE)(learn)
app.add_typer(bench_app, name="bench")
app.add_typer(data_app, name="datasets")


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    # Threads that wait must not spin: on a busy machine they would take the cores from those
    # that work. Read by the libraries when they are loaded, so it is set before.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if version:
        echo(__version__)
        raise typer.Exit


@app.command(epilog="Example: falcon-discover settings --json")
@command
def settings(as_json: AsJson = False) -> None:
    """Print the paper's constants that this package uses."""
    values = PAPER.to_dict()
    if as_json:
        echo_json(values)
        return
    width = max(map(len, values))
    for name, value in values.items():
        echo(f"{name:<{width}}  {value}")


def main() -> None:
    """Run the command line in a process of its own."""
    if not sys.warnoptions:
        # Libraries warn their callers, that is us; what a user must know is a DataWarning.
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", DataWarning)
    end_orderly()
    app()
