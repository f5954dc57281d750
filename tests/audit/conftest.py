from __future__ import annotations

import pytest

from support.tables import awkward_table


@pytest.fixture
def table():
    return awkward_table(80, seed=0)


@pytest.fixture
def figures_are_closed():
    plt = pytest.importorskip("matplotlib.pyplot")
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Return where audits of every kind are saved, each of them once."""
    return tmp_path_factory.mktemp("saved")
