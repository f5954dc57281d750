"""Fitted models whose numbers compiled code would follow without looking.

Trees name their children and columns by number, and scikit-learn follows these without comparing
them with the arrays' lengths: a forged number would read, or write, elsewhere in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import BSpline
from sklearn.compose import ColumnTransformer
from sklearn.ensemble._bagging import BaseBagging
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.neighbors import BallTree, KDTree
from sklearn.neighbors._base import NeighborsBase
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder
from sklearn.svm._base import BaseLibSVM
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree
from sklearn.utils.validation import check_array

from falcon_discover.exceptions import InputError

LEAF = -1
BITSET_WORDS = 8  # 256 categories


def check_models(content: Any, name: str) -> None:
    """Raise if a fitted model anywhere in `content` points outside its own arrays."""
    for value in _everything(content):
        for kind, (fitted, is_sound) in CHECKS.items():
            if not isinstance(value, kind):
                continue
            try:
                unfitted = fitted is not None and not hasattr(value, fitted)
                sound = unfitted or is_sound(value)
            except Exception:  # attributes that are missing, or of any other type
                sound = False
            if not sound:
                raise InputError(
                    f"{name} is damaged: its {type(value).__name__} does not fit its own arrays."
                )


def _everything(root: Any) -> Iterator[Any]:
    """Yield every object inside `root`, each once."""
    waiting, seen = [root], {}
    while waiting:
        value = waiting.pop()
        # Modules are those of this process, and not of the file.
        if isinstance(value, str | bytes | int | float | type | ModuleType) or id(value) in seen:
            continue
        # Kept alive, so that no other object gets its id meanwhile.
        seen[id(value)] = value
        yield value
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                waiting.extend(value.ravel().tolist())
            continue
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple | set):
            waiting.extend(value)
        waiting.extend(getattr(value, "__dict__", {}).values())


def _within(numbers: Any, low: int, high: int) -> bool:
    """Return whether all numbers are at least `low` and less than `high`."""
    return bool(np.all((numbers >= low) & (numbers < high)))


def _are_after(children: Any, parents: Any, count: int) -> bool:
    """Return whether children come after their parents, so that every way down ends in a leaf."""
    return bool(np.all(children > parents)) and _within(children, 0, count)


def _tree(tree: Tree) -> bool:
    # Only then are its arrays as long as it says.
    if not 1 <= tree.node_count <= tree.capacity:
        return False
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = np.flatnonzero(left != LEAF)
    return (
        _are_after(left[inner], inner, tree.node_count)
        and _are_after(right[inner], inner, tree.node_count)
        and _within(feature[inner], 0, tree.n_features)
    )


def _decision_tree(model: BaseDecisionTree) -> bool:
    return type(model.tree_) is Tree and model.tree_.n_features == model.n_features_in_


def _trees(ensemble: Any, members: Any) -> bool:
    """Return whether all members are trees that look at as many columns as the ensemble has."""
    width = ensemble.n_features_in_
    return all(isinstance(m, BaseDecisionTree) and m.n_features_in_ == width for m in members)


def _forest(model: BaseForest) -> bool:
    return _trees(model, model.estimators_)


def _gradient_boosting(model: BaseGradientBoosting) -> bool:
    stages = model.estimators_
    # One tree per stage, as for two classes: there is one column of scores to add to.
    return stages.ndim == 2 and stages.shape[1] == 1 and _trees(model, stages.ravel())


def _bagging(model: BaseBagging) -> bool:
    chosen = zip(model.estimators_, model.estimators_features_, strict=True)
    return all(
        _within(np.asarray(columns), 0, model.n_features_in_)
        and getattr(member, "n_features_in_", len(columns)) == len(columns)
        for member, columns in chosen
    )


def _hist_gradient_boosting(model: BaseHistGradientBoosting) -> bool:
    mapper = model._bin_mapper
    categorical = np.asarray(mapper.is_categorical_, dtype=bool)
    if type(mapper) is not _BinMapper or categorical.shape != (model._n_features,):
        return False
    predictors = [predictor for stage in model._predictors for predictor in stage]
    return (
        model._n_features == model.n_features_in_
        and (model._preprocessor is None or _keeps_columns(model._preprocessor))
        and all(type(predictor) is TreePredictor for predictor in predictors)
        and all(_hist_tree(predictor, categorical) for predictor in predictors)
    )


def _keeps_columns(preprocessor: ColumnTransformer) -> bool:
    """Return whether every column comes out once: encoded, or as it is."""
    (_, encoder, texts), (_, same, numbers), *_ = preprocessor.transformers_
    width = np.arange(preprocessor.n_features_in_)
    return (
        type(preprocessor) is ColumnTransformer
        and type(encoder) is OrdinalEncoder
        and type(same) is FunctionTransformer
        and same.func.func is check_array
        and np.array_equal(np.sort(np.concatenate([width[texts], width[numbers]])), width)
    )


def _hist_tree(predictor: TreePredictor, categorical: Any) -> bool:
    nodes, sets = predictor.nodes, predictor.raw_left_cat_bitsets
    if nodes.ndim != 1 or not len(nodes) or sets.shape[1:] != (BITSET_WORDS,):
        return False
    at = np.flatnonzero(nodes["is_leaf"] == 0)
    inner = nodes[at]
    if not _within(inner["feature_idx"], 0, len(categorical)):
        return False
    by_category = inner[inner["is_categorical"] != 0]
    return (
        _are_after(inner["left"].astype(np.int64), at, len(nodes))
        and _are_after(inner["right"].astype(np.int64), at, len(nodes))
        and _within(by_category["bitset_idx"], 0, len(sets))
        and bool(categorical[by_category["feature_idx"]].all())
    )


def _neighbour_tree(tree: KDTree | BallTree) -> bool:
    data, index, nodes, node_bounds = (np.asarray(part) for part in tree.get_arrays())
    stated = tree.__getstate__()[6]
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    return (
        len(nodes) == stated >= 1
        and index.shape == (len(data),)
        and _within(index, 0, len(data))
        and _within(nodes["idx_start"], 0, len(data) + 1)
        and _within(nodes["idx_end"], 0, len(data) + 1)
        and _within(2 * inner + 2, 0, len(nodes))
        and node_bounds.shape == (2 if isinstance(tree, KDTree) else 1, len(nodes), data.shape[1])
    )


def _neighbours(model: NeighborsBase) -> bool:
    known, tree = model._fit_X, getattr(model, "_tree", None)
    labels = getattr(model, "_y", None)
    return (
        known.shape[1] == model.n_features_in_
        and (tree is None or np.asarray(tree.data).shape == known.shape)
        and (labels is None or len(labels) == known.shape[0])
        and (not hasattr(model, "classes_") or _within(labels, 0, len(model.classes_)))
    )


def _support_vectors(model: BaseLibSVM) -> bool:
    counts, vectors = np.asarray(model._n_support), model.support_vectors_
    classes = len(counts)
    pairs = classes * (classes - 1) // 2
    return (
        _within(counts, 0, vectors.shape[0] + 1)
        and int(counts.sum()) == vectors.shape[0] == len(model.support_)
        and model._dual_coef_.shape == (classes - 1, vectors.shape[0])
        and len(model._intercept_) == pairs
        and all(len(part) in (0, pairs) for part in (model._probA, model._probB))
        and vectors.shape[1] == model.n_features_in_
    )


def _spline(spline: BSpline) -> bool:
    knots, degree = np.asarray(spline.t), int(spline.k)
    return (
        degree >= 0
        and knots.ndim == 1
        and len(knots) >= 2 * degree + 2
        and bool(np.isfinite(knots).all() and (np.diff(knots) >= 0).all())
        and len(spline.c) >= len(knots) - degree - 1
    )


def _matrix(matrix: Any) -> bool:
    matrix.check_format(full_check=True)
    return True


# By kind: an attribute of fitted ones only (None where all are), and whether they are sound.
CHECKS: dict[Any, tuple[str | None, Callable[[Any], bool]]] = {
    Tree: (None, _tree),
    BaseDecisionTree: ("tree_", _decision_tree),
    BaseForest: ("estimators_", _forest),
    BaseGradientBoosting: ("estimators_", _gradient_boosting),
    BaseBagging: ("estimators_", _bagging),
    BaseHistGradientBoosting: ("_predictors", _hist_gradient_boosting),
    (KDTree, BallTree): (None, _neighbour_tree),
    NeighborsBase: ("_fit_X", _neighbours),
    BaseLibSVM: ("support_vectors_", _support_vectors),
    BSpline: (None, _spline),
    (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array): (None, _matrix),
}
