from __future__ import annotations

from pathlib import Path

import pytest

from falcon_discover.cli import request
from support.command_line import made_up


@pytest.fixture(scope="session")
def table(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "table.csv"
    made_up().to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def finished() -> request.Audit:
    """An audit of a small trained model."""
    question = request.AuditRequest(
        "outcome", backbone="logistic_regression", leave_out=("score",), contributions=False
    )
    return request.run(made_up(), question, name="table.csv")
