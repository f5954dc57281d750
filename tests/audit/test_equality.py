"""Records that hold arrays, tables or models are compared by identity; plain ones by value."""

import importlib
import inspect
import pkgutil
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import falcon_discover
from falcon_discover import FalconDiscover, datasets, discover
from falcon_discover.cli import app

# What a record may hold to be compared by value: texts, numbers, and tuples or records of these.
PLAIN = {
    "str", "int", "float", "bool", "bytes", "None", "tuple", "list", "dict", "Mapping", "Kind",
    "Path", "Markup", "Factory", "Spread", "Slice", "Source", "Grid", "Bar", "Figure",
    "Outcome", "Axis", "Direction", "Side",
}  # fmt: skip


def records():
    walk = pkgutil.walk_packages(falcon_discover.__path__, "falcon_discover.")
    # Networks need torch, which may not be there, and hold no records.
    names = (found.name for found in walk)
    modules = [
        importlib.import_module(name)
        for name in names
        if not name.endswith(("__main__", "deep.networks"))
    ]
    kinds = {
        value for module in modules for value in vars(module).values() if isinstance(value, type)
    }
    own = (
        kind
        for kind in kinds
        if is_dataclass(kind)
        and kind.__module__.startswith("falcon")
        and not inspect.isabstract(kind)
    )
    return sorted(own, key=lambda kind: f"{kind.__module__}.{kind.__name__}")


def names_in(annotation):
    words = annotation.replace("npt.", "").replace("pd.", "").replace("np.", "")
    for sign in "[],|.()":
        words = words.replace(sign, " ")
    return set(words.split())


@pytest.mark.parametrize("kind", records(), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_no_record_raises_when_it_is_compared(kind):
    """Each is filled with arrays, unless it is one that holds nothing but plain values."""
    if "__eq__" in vars(kind):
        held = {name for field in fields(kind) for name in names_in(field.type)}
        assert held <= PLAIN
        return
    first, second = object.__new__(kind), object.__new__(kind)
    for record in (first, second):
        for field in fields(kind):
            object.__setattr__(record, field.name, np.arange(3))
    assert (first == first) is True
    assert first != second
    assert len({hash(first), hash(second)}) == 2
    assert first in [second, first]


def test_records_of_plain_values_are_compared_by_value():
    from falcon_discover.regions.conditions import OneOf, Range
    from falcon_discover.scoring.plan import Part

    assert Range("age", None, 31.0) == Range("age", None, 31.0)
    assert OneOf("job", ("cook",)) != OneOf("job", ("clerk",))
    assert len({Part(0, "a", 0, 5), Part(0, "a", 0, 5)}) == 1


def scored_alike(sure=1.0, n=400):
    """Rows that all have the same confidence, wrong half of the time where `k` is u."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    k = np.where(np.arange(n) % 2, "u", "x")
    bad = (k == "u") & (rng.random(n) < 0.5)
    p = np.where((y == 1) ^ bad, sure, 1 - sure)
    return pd.DataFrame({"k": k, "a": rng.normal(size=n)}), y, p


@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
@pytest.mark.parametrize("sure", [1.0, 0.97])
def test_scores_of_one_confidence_are_audited(sure, tmp_path):
    X, y, p = scored_alike(sure)
    found = discover(X, y, p, random_state=0)
    frame = found.regions.frame()
    assert frame["rule"][0].startswith("k is u")
    assert frame["confirmed"][0]
    assert found.report(tmp_path / "report.json", contributions=False).is_file()


@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
@pytest.mark.parametrize("model", [DecisionTreeClassifier(random_state=0), KNeighborsClassifier(1)])
def test_models_that_are_always_certain_are_audited(model):
    planted = datasets.make_planted(600, shape="missing", random_state=4)
    X = planted.X.select_dtypes("number").fillna(-9)
    frozen = FrozenEstimator(model.fit(X[:200], planted.y[:200]))
    falcon = FalconDiscover(frozen, random_state=0, n_jobs=1).fit(X[200:], planted.y[200:])
    assert len(falcon.regions_.frame()) >= len(falcon.regions_)


def test_the_command_line_audits_decisions_without_scores(tmp_path):
    X, y, p = scored_alike()
    X.assign(outcome=y, score=p).to_csv(tmp_path / "hard.csv", index=False)
    asked = ["audit", str(tmp_path / "hard.csv"), "--target", "outcome", "--proba", "score"]
    done = CliRunner().invoke(app, [*asked, "--out", str(tmp_path / "out"), "--no-contributions"])
    assert done.exit_code == 0, done.output
    assert "k is u" in done.output
