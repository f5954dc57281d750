"""What is shipped: the source distribution holds all that its own tests need."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


def test_the_source_distribution_holds_every_file_of_the_repository(tmp_path):
    if not (REPOSITORY / ".git").exists():
        pytest.skip("this is not a checkout: there is no list of files to compare with")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    wanted = {name for name in listed.stdout.split("\0") if name and (REPOSITORY / name).exists()}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
    )
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        shipped = {name.partition("/")[2] for name in archive.getnames()}
    assert sorted(wanted - shipped) == []
