"""Numbers in saved models that point outside their arrays are found before compiled code is."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import SplineTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from falcon_discover import InputError
from falcon_discover.storage import objects
from falcon_discover.storage.checked import check_models
from support.saving import NUMBERS, TRAIN

X, y = TRAIN.X[NUMBERS].fillna(0), TRAIN.y
WITH_CATEGORY = X.assign(colour=pd.Categorical(TRAIN.X["colour"].astype(object).fillna("none")))


def loaded(data: bytes):
    return objects.loaded(data, (), name="model.skops", limit=10**9)


def altered_arrays(data: bytes, change) -> bytes:
    """Return a skops file in which `change` has altered, or replaced, every array it knows."""
    out, touched = BytesIO(), 0
    with zipfile.ZipFile(BytesIO(data)) as file, zipfile.ZipFile(out, "w") as target:
        for name in file.namelist():
            content = file.read(name)
            if name.endswith(".npy"):
                values = np.load(BytesIO(content))
                if change(values):
                    touched += 1
                    written = BytesIO()
                    np.save(written, values)
                    content = written.getvalue()
            target.writestr(name, content)
    assert touched
    return out.getvalue()


def altered_schema(data: bytes, change) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as file, zipfile.ZipFile(out, "w") as target:
        for name in file.namelist():
            content = file.read(name)
            if name == "schema.json":
                schema = json.loads(content)
                change(schema["content"]["content"])
                content = json.dumps(schema).encode()
            target.writestr(name, content)
    return out.getvalue()


def of_nodes(field, value, where=0):
    """Return a change of one field of a tree's nodes."""

    def change(values):
        if values.dtype.names is None or field not in values.dtype.names:
            return False
        values[field][where] = value
        return True

    return change


TREE_FORGERIES = {
    "a child far outside": ("left_child", 10**9),
    "a child before all": ("right_child", -5),
    "a child that is its own parent": ("left_child", 0),
    "a column far outside": ("feature", 10**6),
    "a column before all": ("feature", -3),
}


@pytest.mark.parametrize("kind", TREE_FORGERIES)
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=3),
        RandomForestClassifier(2, max_depth=3),
        GradientBoostingClassifier(n_estimators=2),
        BaggingClassifier(n_estimators=2),
    ],
)
def test_forged_nodes_of_trees_are_refused(model, kind):
    data = skops.io.dumps(model.fit(X, y))
    with pytest.raises(InputError, match=r"its Tree does not fit its own arrays"):
        loaded(altered_arrays(data, of_nodes(*TREE_FORGERIES[kind])))


@pytest.mark.parametrize("count", [0, -1])
def test_a_tree_that_says_it_has_other_nodes_is_refused(count):
    def change(content):
        text = content["tree_"]["content"]["content"]["node_count"]
        text["content"] = str(count)

    data = skops.io.dumps(DecisionTreeClassifier(max_depth=3).fit(X, y))
    with pytest.raises(InputError, match="its Tree does not fit"):
        loaded(altered_schema(data, change))


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), RandomForestClassifier(2)])
def test_trees_that_look_at_more_columns_than_their_model_is_given_are_refused(model):
    data = skops.io.dumps(model.fit(X, y))

    def change(content):
        content["n_features_in_"]["content"] = "2"
        content["n_features_in_"]["__id__"] = 12345

    with pytest.raises(InputError, match="does not fit its own arrays"):
        loaded(altered_schema(data, change))


def test_what_stands_for_a_tree_must_be_one():
    def change(content):
        content["tree_"] = content["n_features_in_"]

    data = skops.io.dumps(DecisionTreeClassifier().fit(X, y))
    with pytest.raises(InputError, match="its DecisionTreeClassifier does not fit"):
        loaded(altered_schema(data, change))


HIST_FORGERIES = {
    "a child far outside": ("left", 10**6, 0),
    "a child that is its own parent": ("right", 0, 0),
    "a column far outside": ("feature_idx", 10**6, 0),
    "a number split by categories": ("is_categorical", 1, 0),
    "a last leaf that is none": ("is_leaf", 0, -1),
}


@pytest.mark.parametrize("kind", HIST_FORGERIES)
def test_forged_nodes_of_histogram_trees_are_refused(kind):
    data = skops.io.dumps(HistGradientBoostingClassifier(max_iter=2).fit(X, y))
    with pytest.raises(InputError, match="its HistGradientBoostingClassifier does not fit"):
        loaded(altered_arrays(data, of_nodes(*HIST_FORGERIES[kind])))


def test_a_forged_set_of_categories_is_refused():
    model = HistGradientBoostingClassifier(
        max_iter=2, min_samples_leaf=2, categorical_features="from_dtype"
    )
    data = skops.io.dumps(model.fit(WITH_CATEGORY[["colour"]], y))

    def change(values):
        if values.dtype.names is None or not values["is_categorical"].any():
            return False
        values["bitset_idx"][values["is_categorical"] != 0] = 10**6
        return True

    with pytest.raises(InputError, match="its HistGradientBoostingClassifier does not fit"):
        loaded(altered_arrays(data, change))


def test_sets_of_categories_that_are_too_small_are_refused():
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, y)
    # For 128 categories instead of 256: those above would be looked up elsewhere in memory.
    model._predictors[0][0].raw_left_cat_bitsets = np.zeros((1, 4), dtype=np.uint32)
    with pytest.raises(InputError, match="its HistGradientBoostingClassifier does not fit"):
        loaded(skops.io.dumps(model))


def test_forged_neighbours_are_refused():
    data = skops.io.dumps(KNeighborsClassifier(algorithm="kd_tree").fit(X, y))

    def far(values):
        if values.dtype != np.int64 or len(values) != len(X) or set(values) == {0, 1}:
            return False
        values[0] = 10**8
        return True

    with pytest.raises(InputError, match="its KDTree does not fit"):
        loaded(altered_arrays(data, far))
    with pytest.raises(InputError, match="its KDTree does not fit"):
        loaded(altered_arrays(data, of_nodes("is_leaf", 0, -1)))
    data = skops.io.dumps(KNeighborsClassifier(algorithm="brute").fit(X, y))

    def label(values):
        if values.dtype != np.int64 or len(values) != len(X):
            return False
        values[0] = 10**6
        return True

    with pytest.raises(InputError, match="its KNeighborsClassifier does not fit"):
        loaded(altered_arrays(data, label))


def test_forged_support_vectors_are_refused():
    data = skops.io.dumps(SVC().fit(X, y))

    def change(values):
        if values.dtype != np.int32 or values.shape != (2,):
            return False
        values[:] = 10**6
        return True

    with pytest.raises(InputError, match="its SVC does not fit"):
        loaded(altered_arrays(data, change))


def test_forged_splines_and_matrices_are_refused():
    data = skops.io.dumps(SplineTransformer().fit(X))
    with pytest.raises(InputError, match="its BSpline does not fit"):
        loaded(
            altered_arrays(
                data, lambda v: v.ndim == 1 and v.size > 1 and v.__setitem__(0, 1e9) is None
            )
        )
    matrix = sp.csr_matrix(np.eye(3))
    assert (loaded(skops.io.dumps(matrix)) != matrix).nnz == 0
    matrix.indices[0] = 10**6
    with pytest.raises(InputError, match="does not fit its own arrays"):
        loaded(skops.io.dumps(matrix))


def test_what_a_model_only_refers_to_as_a_module_is_not_looked_at():
    class Unreadable:
        @property
        def __class__(self):
            raise RuntimeError("unknown")

    library = ModuleType("library")
    library.part = Unreadable()
    model = LogisticRegression()
    model.library_ = library
    check_models(model, "it")
    model.library_ = [Unreadable()]
    with pytest.raises(RuntimeError, match="unknown"):
        check_models(model, "it")
