"""What holds of the deep backbones where torch is not installed, too."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from falcon_discover import PAPER, FalconDiscover
from falcon_discover.cli import app
from falcon_discover.data.table import Table
from falcon_discover.exceptions import InputError
from falcon_discover.models import library
from falcon_discover.models.deep.columns import Columns


def test_selection_does_not_know_them():
    assert library.names() == list(PAPER.candidates)
    assert not set(library.names()) & set(library.DEEP)


@pytest.mark.parametrize("name", library.DEEP)
def test_parameters_are_known_without_torch(name):
    model = library.DEEP[name].make(3, 1)
    assert model.get_params()["random_state"] == 3
    assert model.get_params()["n_jobs"] == 1


def test_the_two_pairs_differ_in_one_parameter():
    smoothed = library.DEEP["realmlp_smoothed"].make(0, 1).get_params()
    plain = library.DEEP["realmlp"].make(0, 1).get_params()
    assert {k for k in plain if plain[k] != smoothed[k]} == {"label_smoothing"}
    assert smoothed["label_smoothing"]
    rows, columns = (library.DEEP[n].make(0, 1).get_params() for n in ("saint_rows", "saint"))
    assert {k for k in rows if rows[k] != columns[k]} == {"rows"}


def test_a_missing_package_is_said_with_the_extra(monkeypatch):
    missing = library.TableModel(library.DEEP["saint"].make, ("no_such_module",))
    monkeypatch.setitem(library.DEEP, "saint", missing)
    with pytest.raises(InputError, match=r"'saint' needs .*falcon-discover\[deep\]"):
        FalconDiscover("saint").fit(np.zeros((40, 1)), [0, 1] * 20)


def test_no_other_extra_brings_torch():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    others = [
        *project["dependencies"],
        *(line for name, lines in extras.items() if name != "deep" for line in lines),
    ]
    assert not [line for line in others if line.startswith(("torch", "pytabkit", "rtdl"))]
    assert not [line for line in others if "deep" in line]
    assert any(line.startswith("torch") for line in extras["deep"])


def test_columns_by_hand():
    table = Table.from_input(
        pd.DataFrame({"x": [1.0, 2.0, np.nan, 6.0], "job": ["b", None, "a", "b"]})
    )
    columns = Columns.of(table, "standard")
    # The median of 1, 2, 6 is 2; mean 2.75, squared deviations 3.0625 + 2 * 0.5625 + 10.5625.
    expected = (np.array([1, 2, 2, 6]) - 2.75) / np.sqrt(14.75 / 4)
    np.testing.assert_allclose(columns.numbers(table).ravel(), expected, rtol=1e-6)
    assert columns.codes(table).ravel().tolist() == [2, 0, 1, 2]
    new = Table.from_input(pd.DataFrame({"x": [np.nan], "job": ["c"]}), table.kinds)
    assert columns.codes(new).tolist() == [[0]]
    assert columns.imputed(new).tolist() == [[2.0]]


def test_quantiles_are_normal_and_do_not_move_with_the_scale():
    x = np.random.default_rng(0).exponential(size=2_000)
    table = Table.from_input(pd.DataFrame({"x": x, "y": 1e6 * x}))
    scaled = Columns.of(table, "quantile").numbers(table)
    # The quantiles of a standard normal distribution, whatever the values are.
    expected = [-1.2816, 0.0, 1.2816]
    np.testing.assert_allclose(
        np.quantile(scaled, [0.1, 0.5, 0.9], axis=0)[:, 0], expected, atol=0.05
    )
    near = np.abs(scaled[:, 0]) < 2
    np.testing.assert_allclose(scaled[near, 0], scaled[near, 1], atol=0.02)


def test_a_deep_model_is_not_to_be_saved_and_that_is_said_before_the_work(tmp_path):
    data, out = tmp_path / "no.csv", tmp_path / "audit.falcon"
    words = ["audit", str(data), "--target", "y", "--backbone", "saint", "--save", str(out)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1
    assert "--save cannot store the deep model 'saint'" in " ".join(done.output.split())
