"""The examples run as they are, on few rows."""

import runpy
import warnings
from pathlib import Path

import pytest

from falcon_discover.exceptions import DataWarning

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, monkeypatch, capsys):
    if path.stem.startswith("catboost"):
        pytest.importorskip("catboost")
    monkeypatch.setenv("EXAMPLE_ROWS", "1500")
    with warnings.catch_warnings():
        # With so few rows some categories are new among the later ones.
        warnings.simplefilter("ignore", DataWarning)
        runpy.run_path(str(path), run_name="__main__")
    assert "confident" in capsys.readouterr().out


def test_there_are_examples():
    assert len(EXAMPLES) == 4
