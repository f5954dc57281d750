from __future__ import annotations

import os
import random
from pathlib import Path

# Tests run side by side: threads that wait must not spin. Read when the libraries are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import pytest

# An assertion of a helper that fails shows its values, as those of tests do.
pytest.register_assert_rewrite("support")

# Guided fuzzing has an environment of its own, with Atheris.
collect_ignore = ["fuzz/guided.py"]
# Rooms have fixtures of their own, and doctests of two files of one name cannot be collected.
collect_ignore_glob = ["*conftest.py"]
SLOW = Path(__file__).with_name("slow.txt")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that take seconds each: `make test-slow` runs them."""
    names = {line for line in SLOW.read_text().splitlines() if line and not line.startswith("#")}
    for item in items:
        if "global_random_seed" in getattr(item, "fixturenames", ()):
            item.add_marker("seeds")
        if item.nodeid in names or item.nodeid.partition("[")[0] in names:
            item.add_marker("slow")


def _seeds() -> list[int]:
    """Return the seeds that statistical tests run under: 0, or such as 3, 0-49 or any."""
    asked = os.environ.get("FALCON_DISCOVER_TESTS_SEED", "0")
    if asked == "any":
        return [random.randrange(10**6)]
    first, _, last = asked.partition("-")
    return list(range(int(first), int(last or first) + 1))


@pytest.fixture(params=_seeds(), ids=lambda seed: f"seed{seed}")
def global_random_seed(request: pytest.FixtureRequest) -> int:
    """Return the seed of a test whose outcome must not depend on it (`make seeds`)."""
    return int(request.param)


@pytest.fixture
def data_folder() -> Path:
    folder = os.environ.get("FALCON_DISCOVER_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the folder of data sets is not here (set FALCON_DISCOVER_DATA)")
    return Path(folder)
