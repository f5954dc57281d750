from __future__ import annotations

import os
from pathlib import Path

# Tests run side by side: threads that wait must not spin. Read when the libraries are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import pytest

# Guided fuzzing has an environment of its own, with Atheris.
collect_ignore = ["fuzz/guided.py"]
SLOW = Path(__file__).with_name("slow.txt")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that take seconds each: `make test-slow` runs them."""
    names = {line for line in SLOW.read_text().splitlines() if line and not line.startswith("#")}
    for item in items:
        if item.nodeid in names or item.nodeid.partition("[")[0] in names:
            item.add_marker("slow")


@pytest.fixture
def data_folder() -> Path:
    folder = os.environ.get("FALCON_DISCOVER_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the folder of data sets is not here (set FALCON_DISCOVER_DATA)")
    return Path(folder)
