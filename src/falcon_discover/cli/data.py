"""`datasets list | fetch | verify`."""

from __future__ import annotations

from typing import Annotated

import typer

from falcon_discover.cli.common import AsJson, command, echo, echo_json

data_app = typer.Typer(
    help="List, download and check the data sets of the study.",
    no_args_is_help=True,
    epilog="Example: falcon-discover datasets list",
)


@data_app.command("list", epilog="Example: falcon-discover datasets list --json")
@command
def list_datasets(as_json: AsJson = False) -> None:
    """List the known data sets and where they are."""
    import pandas as pd

    from falcon_discover import datasets

    found = {name: datasets.find(name) for name in datasets.names()}
    if as_json:
        echo_json({name: path and str(path) for name, path in found.items()})
        return
    rows = []
    for name, path in found.items():
        known = datasets.entry(name)
        rows.append(
            {
                "name": name,
                "OpenML": known.openml_id or "-",
                "rows": f"{known.rows:,}",
                "features": known.features,
                "positive": f"{known.positives:,}",
                "where": path or "not on this machine",
            }
        )
    echo(pd.DataFrame(rows).to_string(index=False))


@data_app.command(epilog="Example: falcon-discover datasets fetch phoneme spambase")
@command
def fetch(names: Annotated[list[str], typer.Argument(help="Data sets to download.")]) -> None:
    """Download data sets from OpenML into the user's cache."""
    from falcon_discover import datasets

    for name in names:
        echo(f"{name}: {datasets.fetch(name)}")


@data_app.command(epilog="Example: falcon-discover datasets verify adult")
@command
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="Data sets to check. Default: all.")
    ] = None,
) -> None:
    """Check the local copies against the expected contents."""
    from falcon_discover import datasets

    for name in names or datasets.names():
        echo(f"{name}: {datasets.verify(name)}")
