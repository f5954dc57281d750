from __future__ import annotations

import pytest

from support.tables import awkward_table


@pytest.fixture
def table():
    return awkward_table(80, seed=0)
