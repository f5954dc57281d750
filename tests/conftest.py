from __future__ import annotations

import os
from pathlib import Path

# Tests run side by side: threads that wait must not spin. Read when the libraries are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import pytest


@pytest.fixture
def data_folder() -> Path:
    folder = os.environ.get("FALCON_DISCOVER_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the folder of data sets is not here (set FALCON_DISCOVER_DATA)")
    return Path(folder)
