from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from falcon_discover import InputError, datasets
from falcon_discover.datasets import loaders

SHAPES = ("box", "categorical", "missing")


def test_the_embedded_adult_equals_the_reference_copy_cell_by_cell(data_folder):
    embedded = pd.read_parquet(loaders.Path(loaders.__file__).with_name("adult.parquet"))
    pd.testing.assert_frame_equal(embedded, pd.read_parquet(data_folder / "adult.parquet"))


def test_adult_is_there_without_any_folder(monkeypatch):
    monkeypatch.delenv(loaders.FOLDER_VARIABLE, raising=False)
    assert datasets.verify("adult").startswith("contents match")


@pytest.mark.parametrize("name", [n for n in datasets.names() if n != "miniboone"])
def test_every_data_set_holds_what_the_registry_says(name, data_folder):
    assert datasets.verify(name).startswith("contents match")


def test_the_folder_comes_before_the_package(tmp_path, monkeypatch):
    pd.DataFrame({"x": [1.0, 2.0], "target": [0, 1]}).to_parquet(tmp_path / "adult.parquet")
    monkeypatch.setenv(loaders.FOLDER_VARIABLE, str(tmp_path))
    X, _ = datasets.load("adult")
    assert X.shape == (2, 1)
    with pytest.raises(InputError, match="has 2 rows, 1 features and 1 positives, not 48,842"):
        datasets.verify("adult")


def test_one_changed_cell_is_noticed(tmp_path, monkeypatch):
    X, y = datasets.load("adult")
    X.loc[100, "age"] += 1
    X.assign(target=y).to_parquet(tmp_path / "adult.parquet")
    monkeypatch.setenv(loaders.FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(InputError, match="expected shape but different values"):
        datasets.verify("adult")


def test_a_damaged_file_is_named(tmp_path, monkeypatch):
    (tmp_path / "adult.parquet").write_bytes(b"not parquet")
    monkeypatch.setenv(loaders.FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(InputError, match=r"adult\.parquet cannot be read as parquet"):
        datasets.load("adult")


def test_fetch_keeps_a_checked_copy_in_the_cache(tmp_path, monkeypatch):
    X, y = datasets.load("adult")
    monkeypatch.setattr(loaders, "cache_folder", lambda: tmp_path / "cache")
    answer = (X, y.map({1: ">50K", 0: "<=50K"}))
    monkeypatch.setattr(loaders, "fetch_openml", lambda **_: answer)
    path = datasets.fetch("adult")
    assert path == tmp_path / "cache" / "adult.parquet"
    assert [p.name for p in path.parent.iterdir()] == ["adult.parquet"]
    monkeypatch.setattr(loaders, "fetch_openml", lambda **_: (X[:10], answer[1][:10]))
    with pytest.raises(InputError, match="has 10 rows"):
        datasets.fetch("adult")


@pytest.mark.parametrize("shape", SHAPES)
def test_the_planted_region_is_what_its_rule_says(shape):
    planted = datasets.make_planted(
        20_000, shape=shape, mass=0.08, error_density=0.6, random_state=1
    )
    wrong = (planted.proba >= 0.5) != planted.y
    inside = planted.region
    assert inside.mean() == pytest.approx(0.08, abs=0.015)
    # Three standard errors of the share of wrong predictions inside.
    slack = 3 * np.sqrt(0.6 * 0.4 / inside.sum())
    assert wrong[inside].mean() == pytest.approx(0.6, abs=slack)
    # Outside the model is calibrated: it is wrong as often as it says.
    expected = np.minimum(planted.proba, 1 - planted.proba)[~inside].mean()
    assert wrong[~inside].mean() == pytest.approx(expected, abs=0.01)
    for column in planted.columns:
        assert column in planted.rule


def test_the_rule_selects_the_region():
    box = datasets.make_planted(3_000, shape="box", random_state=2)
    low, side, left, width = (
        float(word) for word in box.rule.replace("<=", " ").split() if word[0].isdigit()
    )
    chosen = box.X["load"].between(low, side) & box.X["height"].between(left, width)
    np.testing.assert_array_equal(chosen, box.region)
    gap = datasets.make_planted(3_000, shape="missing", random_state=2)
    np.testing.assert_array_equal(gap.X["load"].isna(), gap.region)


def test_without_a_region_the_model_is_calibrated_everywhere():
    planted = datasets.make_planted(20_000, shape="none", random_state=0)
    assert not planted.region.any()
    wrong = (planted.proba >= 0.5) != planted.y
    expected = np.minimum(planted.proba, 1 - planted.proba).mean()
    assert wrong.mean() == pytest.approx(expected, abs=0.01)


def test_same_seed_same_table():
    one, two = (datasets.make_planted(300, random_state=5) for _ in range(2))
    pd.testing.assert_frame_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)


def test_bad_planted_parameters_are_named():
    with pytest.raises(InputError, match="shape is 'blob': choose one of box"):
        datasets.make_planted(10, shape="blob")
    with pytest.raises(InputError, match=r"mass must lie in \(0, 0.25\]"):
        datasets.make_planted(10, mass=0.9)
