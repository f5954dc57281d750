"""Models that --model and saved audits take without being told, and payloads that they refuse."""

from __future__ import annotations

import functools
import json
import operator
import os
import shlex
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import pytest
import skops.io
from catboost import CatBoostClassifier
from sklearn import ensemble, linear_model, model_selection, neural_network, preprocessing, tree
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from typer.testing import CliRunner
from xgboost import XGBClassifier

from falcon_discover import DataWarning, FalconDiscover, InputError, load
from falcon_discover.cli import app
from falcon_discover.storage import known
from falcon_discover.storage.objects import UntrustedTypesError, read_model
from support.saving import NEW, NUMBERS, OTHER, TRAIN, rewritten, small_audit

ROWS, LABELS = TRAIN.X[NUMBERS].fillna(0), TRAIN.y
TABLE = ROWS.assign(colour=pd.Categorical(TRAIN.X["colour"].astype(object).fillna("none")))
TREES = {"n_estimators": 3, "random_state": 0}


def encoded(encoder):
    """Return a pipeline that tells columns apart by their types."""
    numbers, texts = (
        make_column_selector(dtype_include="number"),
        make_column_selector(dtype_exclude="number"),
    )
    columns = make_column_transformer((StandardScaler(), numbers), (encoder, texts))
    return make_pipeline(columns, LogisticRegression())


def transformed(*steps):
    return make_pipeline(*steps, LogisticRegression())


MODELS = {
    "hist_gradient_boosting": (ensemble.HistGradientBoostingClassifier(max_iter=3), ROWS),
    "hist_gradient_boosting with a category column": (
        ensemble.HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype"),
        TABLE,
    ),
    "random_forest": (ensemble.RandomForestClassifier(**TREES), ROWS),
    "extra_trees": (ensemble.ExtraTreesClassifier(**TREES), ROWS),
    "gradient_boosting": (ensemble.GradientBoostingClassifier(**TREES), ROWS),
    "decision_tree": (tree.DecisionTreeClassifier(max_leaf_nodes=9), ROWS),
    "pruned_tree": (tree.DecisionTreeClassifier(ccp_alpha=0.01), ROWS),
    "mlp": (neural_network.MLPClassifier((5,), solver="adam", max_iter=200, tol=0.1), ROWS),
    "calibrated": (CalibratedClassifierCV(GaussianNB(), cv=2), ROWS),
    "calibrated, isotonic": (CalibratedClassifierCV(GaussianNB(), cv=2, method="isotonic"), ROWS),
    "adaboost": (ensemble.AdaBoostClassifier(**TREES), ROWS),
    "bagging": (ensemble.BaggingClassifier(max_features=0.5, **TREES), ROWS),
    "voting": (
        ensemble.VotingClassifier([("a", GaussianNB()), ("b", GaussianNB())], voting="soft"),
        ROWS,
    ),
    "stacking": (
        ensemble.StackingClassifier(
            [("a", GaussianNB()), ("b", ensemble.RandomForestClassifier(**TREES))], cv=2
        ),
        ROWS,
    ),
    "selector, one-hot": (encoded(OneHotEncoder(handle_unknown="ignore")), TABLE),
    "selector, ordinal": (encoded(preprocessing.OrdinalEncoder()), TABLE),
    "selector, target": (encoded(preprocessing.TargetEncoder(cv=2)), TABLE),
    "bins": (transformed(preprocessing.KBinsDiscretizer(3, strategy="uniform")), ROWS),
    "imputers": (transformed(SimpleImputer(add_indicator=True), KNNImputer()), ROWS),
    "splines": (transformed(preprocessing.SplineTransformer()), ROWS),
    "numpy's functions": (transformed(FunctionTransformer(np.arctan)), ROWS),
    "fixed threshold": (model_selection.FixedThresholdClassifier(LogisticRegression()), ROWS),
    "tuned threshold": (
        model_selection.TunedThresholdClassifierCV(LogisticRegression(), cv=2),
        ROWS,
    ),
    "search": (model_selection.GridSearchCV(LogisticRegression(), {"C": [1]}, cv=2), ROWS),
    "neighbours": (KNeighborsClassifier(), ROWS),
    "support vectors": (SVC(), ROWS),
    "sgd": (linear_model.SGDClassifier(loss="log_loss", random_state=0), ROWS),
    "xgboost": (XGBClassifier(n_estimators=3), ROWS),
    "lightgbm": (lightgbm.LGBMClassifier(n_estimators=3, verbose=-1), ROWS),
    "catboost": (CatBoostClassifier(iterations=3, verbose=0, allow_writing_files=False), ROWS),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_common_model_is_taken_and_predicts_the_same(name, tmp_path):
    model, X = MODELS[name]
    model.fit(X, LABELS)
    skops.io.dump(model, tmp_path / "model.skops")
    again = read_model(tmp_path / "model.skops")
    ask = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    assert np.array_equal(getattr(again, ask)(X), getattr(model, ask)(X))


def test_a_frozen_model_with_a_category_column_is_saved_and_loaded(tmp_path):
    model = ensemble.HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype")
    other = OTHER.X[NUMBERS].assign(colour=pd.Categorical(OTHER.X["colour"]))
    falcon = FalconDiscover(FrozenEstimator(model.fit(other, OTHER.y)), cv=2, random_state=0)
    falcon.fit(TABLE, LABELS)
    again = load(falcon.save(tmp_path / "audit.falcon"))
    new = NEW.X[NUMBERS].assign(colour=pd.Categorical(NEW.X["colour"]))
    assert np.array_equal(again.score_samples(new), falcon.score_samples(new))


def test_every_known_type_has_a_role_and_none_can_be_called_with_values_of_a_file():
    called = {"ConstructorFromReduceNode", "ListNode", "SetNode", "MethodNode", "OperatorFuncNode"}
    assert not [name for name, roles in known.ROLES.items() if called & set(roles)]
    functions = [name for name, roles in known.ROLES.items() if "FunctionNode" in roles]
    assert all(name.startswith(("sklearn.", "scipy._lib.array_api_compat")) for name in functions)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return small_audit().save(tmp_path_factory.mktemp("saved") / "audit.falcon")


class Reduced:
    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return (os.system, (self.command,))


def forged(content, change) -> bytes:
    """Return a skops file whose schema `change` has altered."""
    with zipfile.ZipFile(BytesIO(skops.io.dumps(content))) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    schema = json.loads(parts["schema.json"])
    change(schema)
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in (parts | {"schema.json": json.dumps(schema).encode()}).items():
            file.writestr(name, data)
    return out.getvalue()


def function(module, name):
    return {"__loader__": "FunctionNode", "__module__": module, "__class__": name, "__id__": 1}


def called(loader, module, name, command):
    """Return a schema that calls a function with a command."""

    def change(schema):
        inner = dict(schema)
        schema.clear()
        schema |= {"__loader__": loader, "__module__": module, "__class__": name, "__id__": 7}
        whole = loader == "ConstructorFromReduceNode"
        content = inner if whole else inner["content"]
        schema |= {"content": content, "protocol": inner["protocol"]}

    return forged([command], change)


def hidden_in_an_array(command) -> bytes:
    """Return a model whose array of numbers is an array of pickled objects."""
    data = skops.io.dumps(LogisticRegression().fit(ROWS, LABELS))
    array, out = BytesIO(), BytesIO()
    np.save(array, np.array([Reduced(command)], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(BytesIO(data)) as file, zipfile.ZipFile(out, "w") as target:
        for name in file.namelist():
            target.writestr(name, array.getvalue() if name.endswith(".npy") else file.read(name))
    return out.getvalue()


def partial_of(module, name, command) -> bytes:
    """Return the partial of HistGradientBoosting with another function in it."""
    from sklearn.utils.validation import check_array

    def change(schema):
        schema["content"]["func"] = function(module, name)

    return forged(functools.partial(check_array, command), change)


def smuggled_partial(command) -> bytes:
    """Return a partial that looks right, but whose function has the id of another one."""
    from sklearn.utils.validation import check_array

    def change(schema):
        first, second = schema["content"]
        second["content"]["func"]["__id__"] = first["__id__"]

    return forged([np.log1p, functools.partial(check_array, ensure_all_finite=False)], change)


def payloads(mark: Path) -> dict[str, bytes]:
    command = f"touch {shlex.quote(str(mark))}"
    dumps = skops.io.dumps
    as_tree = "sklearn.tree._tree", "Tree"
    return {
        "os.system": dumps(os.system),
        "eval": dumps(eval),
        "eval, called with a text": called("ListNode", "builtins", "eval", command),
        "os.system, called with a text": called(
            "ConstructorFromReduceNode", "posix", "system", command
        ),
        "a partial of os.system": dumps(functools.partial(os.system, command)),
        "a partial in the known shape": partial_of("posix", "system", command),
        "a partial with a borrowed function": smuggled_partial(command),
        "a transformer that calls os.system": dumps(
            make_pipeline(FunctionTransformer(os.system), LogisticRegression())
        ),
        "a transformer that calls a partial": dumps(
            FunctionTransformer(functools.partial(os.system, command))
        ),
        "an object with __reduce__": dumps(Reduced(command)),
        "pickled objects in an array": hidden_in_an_array(command),
        "operator.methodcaller": dumps(operator.methodcaller("system", command)),
        "a known type in another role": called("ListNode", *as_tree, command),
        "a known type as a function": forged(
            FunctionTransformer(np.log1p),
            lambda schema: schema["content"]["content"].update(func=function(*as_tree)),
        ),
    }


@pytest.mark.parametrize("kind", payloads(Path("unused")))
def test_a_payload_is_refused_and_does_nothing(kind, tmp_path):
    mark = tmp_path / "mark"
    (tmp_path / "model.skops").write_bytes(payloads(mark)[kind])
    with pytest.raises(InputError, match=r"model\.skops"):
        read_model(tmp_path / "model.skops")
    assert not mark.exists()


@pytest.mark.parametrize("kind", payloads(Path("unused")))
def test_a_payload_in_a_saved_audit_is_refused_and_does_nothing(kind, saved, tmp_path):
    mark = tmp_path / "mark"
    part = {"objects.skops": payloads(mark)[kind]}
    altered = rewritten(saved, lambda parts, _: parts.update(part))
    with pytest.raises(InputError, match=r"part objects\.skops"):
        load(altered)
    assert not mark.exists()


def test_the_payloads_would_leave_a_mark_if_they_were_run(tmp_path):
    made = skops.io.loads(
        payloads(tmp_path / "mark")["a partial of os.system"],
        trusted=["functools.partial", "posix.system"],
    )
    made()
    assert (tmp_path / "mark").exists()


def test_a_partial_of_ones_own_can_be_trusted(tmp_path):
    skops.io.dump(functools.partial(np.clip, a_min=0), tmp_path / "model.skops")
    with pytest.raises(UntrustedTypesError, match=r"functools\.partial") as refused:
        read_model(tmp_path / "model.skops")
    assert read_model(tmp_path / "model.skops", refused.value.types).func is np.clip


class Own(LogisticRegression):
    """A type that nobody knows."""


def test_the_command_line_answers_with_the_command_to_paste(tmp_path, monkeypatch):
    folder = tmp_path / "a folder"
    folder.mkdir()
    skops.io.dump(Own().fit(ROWS, LABELS), folder / "model.skops")
    ROWS.assign(outcome=LABELS).to_csv(folder / "rows.csv", index=False)
    words = ["audit", folder / "rows.csv", "--target", "outcome", "--model", folder / "model.skops"]
    words = [str(word) for word in [*words, "--out", folder / "out"]]
    monkeypatch.setattr(sys, "argv", ["/usr/bin/falcon-discover", *words])
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code == 1
    wanted = ["falcon-discover", *words, "--trust", f"{Own.__module__}.Own"]
    assert refused.stderr.splitlines()[-1] == f"  {shlex.join(wanted)}"


def test_saving_and_scoring_say_what_must_be_trusted(tmp_path, monkeypatch):
    falcon = FalconDiscover(FrozenEstimator(Own().fit(ROWS, LABELS)), random_state=0)
    falcon.fit(OTHER.X[NUMBERS].fillna(0), OTHER.y)
    own = f"{Own.__module__}.Own"
    with pytest.warns(DataWarning, match=f"--trust {own}"):
        saved = falcon.save(tmp_path / "audit.falcon")
    with pytest.raises(InputError, match=rf"load it with trusted=\['{own}'\]"):
        load(saved)
    ROWS.to_parquet(tmp_path / "rows.parquet")
    words = ["score", str(saved), str(tmp_path / "rows.parquet"), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["falcon-discover", *words])
    said = CliRunner().invoke(app, words).stderr
    assert said.endswith(f"  {shlex.join(['falcon-discover', *words, '--trust', own])}\n")
