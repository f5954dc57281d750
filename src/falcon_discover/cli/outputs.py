"""Whether results can be written where they are wanted, before any work is done."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

from falcon_discover.exceptions import InputError

RESULTS = ("report.html", "report.md", "review.csv", "review.parquet", "summary.json")


def check_outputs(out: Path, save: Path | None, inputs: Sequence[Path] = ()) -> None:
    """Raise if the report or the saved audit cannot be written, or would replace an input."""
    if out.exists() and not out.is_dir():
        raise InputError(f"--out is {out}, which is a file: give a folder.")
    _check_writable(out, "--out")
    written = {(out / name).resolve() for name in RESULTS}
    if save is not None:
        # The folder of the report is made on the way.
        check_save(save, made=out)
        if save.resolve() in written:
            raise InputError(f"--save is {save}, a file of the report: choose another name.")
        written.add(save.resolve())
    for path in inputs:
        if path.resolve() in written:
            raise InputError(f"{path} would be overwritten: choose another folder for --out.")


def check_save(save: Path, inputs: Sequence[Path] = (), *, made: Path | None = None) -> None:
    """Raise if an audit cannot be saved there, or would replace a file that is not one.

    Parameters
    ----------
    made : a folder that will be made before
    """
    if save.is_dir():
        raise InputError(f"--save is {save}, which is a folder: name a file in it.")
    folder = save.parent
    if not folder.is_dir() and (made is None or folder.resolve() != made.resolve()):
        raise InputError(f"--save is {save}, but there is no folder {folder}: create it first.")
    _check_writable(folder, "--save")
    if save.resolve() in {path.resolve() for path in inputs} or not _may_be_replaced(save):
        raise InputError(
            f"--save is {save}, which is there and is not a saved audit: choose another name."
        )


def _may_be_replaced(path: Path) -> bool:
    """Return whether nothing is lost but an earlier audit if a file is replaced."""
    from falcon_discover.storage.manifest import MANIFEST

    try:
        if not path.exists() or not path.stat().st_size:
            return True
        with zipfile.ZipFile(path) as archive:
            return MANIFEST in archive.NameToInfo
    except (OSError, zipfile.BadZipFile):
        return False


def _check_writable(folder: Path, option: str) -> None:
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    if not there.is_dir():
        raise InputError(f"{option} leads through {there}, which is a file: give another folder.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{option}: the folder {there} is not writable: give another one.")
