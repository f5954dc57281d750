"""The types that a model file or a saved audit may hold without being asked for.

skops knows scikit-learn's estimators, numpy's arrays and plain values itself. What is added here
holds numbers, texts and arrays, and runs nothing of the file's choosing: making it fills in
attributes, or hands bytes to the parser of the library that wrote them. skops takes a name for
safe in every role, so each type comes with the one role in which `skops.io.dump` writes it: a file
that asks for another role, such as calling the type with values of its own, is refused.
"""

from __future__ import annotations

OBJECT, FUNCTION, TYPE = "ObjectNode", "FunctionNode", "TypeNode"


def _named(module: str, names: str, *roles: str) -> dict[str, tuple[str, ...]]:
    return {f"{module}.{name}": roles or (OBJECT,) for name in names.split()}


# Our own classes: filled with values, they run nothing.
OWN = {
    **_named("falcon_discover.signals.opinions", "Opinions"),
    **_named("falcon_discover.storage.native", "NativeModel"),
    **_named("falcon_discover.rankers.evidence", "EvidenceModel ModelDoubt"),
    **_named("falcon_discover.rankers.refit", "RefitGain"),
    **_named("falcon_discover.rankers.risk", "Calibration"),
    **_named("falcon_discover.rankers.correction", "Correction"),
    **_named(
        "falcon_discover.rankers.fixed",
        "ConfidenceRanker DiscrepancyRanker RandomRanker StabilityRanker",
    ),
    **_named(
        "falcon_discover.rankers.gated", "GatedConfidence GatedRisk GatedSignal GatedStability"
    ),
    **_named("falcon_discover.rankers.learned", "LearnedWitness"),
    **_named("falcon_discover.regions.conditions", "IsMissing OneOf Range"),
    **_named("falcon_discover.regions.rules", "Figures Rule"),
    **_named("falcon_discover.signals.support", "Support"),
    **_named("falcon_discover.data.view", "TransformedView"),
}

# Plain containers: an ordered dict (also as what LightGBM's dict of curves begins with), the kind
# of an array's values, and matrices, whose arrays are read without pickle and then checked.
CONTAINERS = {
    "collections.OrderedDict": ("DictNode", TYPE),
    "sklearn.utils._bunch.Bunch": ("DictNode",),
    "numpy.dtype": ("DTypeNode",),
    **_named("scipy.sparse._csr", "csr_matrix csr_array", "SparseMatrixNode"),
    **_named("scipy.sparse._csc", "csc_matrix csc_array", "SparseMatrixNode"),
}

# Parts of scikit-learn's models. Trees and neighbour trees are read by compiled code that trusts
# their numbers: `checked` compares these with the arrays' bounds.
SKLEARN = {
    "sklearn.tree._tree.Tree": ("TreeNode",),
    **_named("sklearn.ensemble._hist_gradient_boosting.predictor", "TreePredictor"),
    # Newer releases of skops know these six themselves.
    **_named("sklearn.ensemble._hist_gradient_boosting.binning", "_BinMapper"),
    **_named("sklearn._loss.link", "Interval LogitLink"),
    **_named("sklearn._loss.loss", "HalfBinomialLoss"),
    **_named("sklearn._loss._loss", "CyHalfBinomialLoss CyHalfMultinomialLoss", "LossNode"),
    **_named("sklearn.neighbors._kd_tree", "KDTree"),
    **_named("sklearn.neighbors._ball_tree", "BallTree"),
    **_named("sklearn.metrics._dist_metrics", "EuclideanDistance64 ManhattanDistance64"),
    **_named(
        "sklearn.calibration", "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling"
    ),
    **_named("sklearn.compose._column_transformer", "make_column_selector _RemainderColsList"),
    **_named("sklearn.gaussian_process._gpc", "_BinaryGaussianProcessClassifierLaplace"),
    **_named(
        "sklearn.gaussian_process.kernels",
        "ConstantKernel DotProduct ExpSineSquared Exponentiation Matern Product RBF "
        "RationalQuadratic Sum WhiteKernel",
    ),
    **_named("sklearn.impute._iterative", "IterativeImputer"),
    **_named("sklearn.impute._iterative", "_ImputerTriplet", "TupleNode"),
    **_named(
        "sklearn.model_selection._split", "GroupKFold KFold ShuffleSplit StratifiedGroupKFold"
    ),
    **_named(
        "sklearn.model_selection._split", "StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit"
    ),
    **_named("sklearn.multiclass", "_ConstantPredictor"),
    **_named("sklearn.neural_network._stochastic_optimizers", "AdamOptimizer SGDOptimizer"),
    # From SciPy 1.18 on a spline is kept inside another.
    **_named("scipy.interpolate._bsplines", "BSpline _BSpline"),
}

# What a search or a tuned threshold scored by, kept with the model and not used to predict. The
# functions compute a figure from arrays and do nothing else.
SCORERS = {
    **_named("sklearn.metrics._scorer", "_CurveScorer _PassthroughScorer _Scorer"),
    **_named("sklearn.utils._metadata_requests", "MetadataRequest MethodMetadataRequest"),
    **_named(
        "sklearn.metrics._classification",
        "accuracy_score balanced_accuracy_score brier_score_loss f1_score jaccard_score log_loss "
        "matthews_corrcoef precision_score recall_score",
        FUNCTION,
    ),
    **_named("sklearn.metrics._ranking", "average_precision_score roc_auc_score", FUNCTION),
    **_named("sklearn.feature_selection._univariate_selection", "chi2 f_classif", FUNCTION),
    **_named("sklearn.feature_selection._mutual_info", "mutual_info_classif", FUNCTION),
    # A spline notes which `asarray` it was made with.
    **_named("scipy._lib.array_api_compat.numpy._aliases", "asarray", FUNCTION),
}

# Boosters as skops writes them: plain values, and one buffer that the library's own parser reads.
# That parser is native code, which a forged buffer may crash.
BOOSTERS = {
    **_named("xgboost.core", "Booster"),
    **_named("xgboost.sklearn", "XGBClassifier XGBRFClassifier"),
    **_named("lightgbm.basic", "Booster"),
    **_named("lightgbm.sklearn", "LGBMClassifier"),
    **_named("catboost.core", "CatBoostClassifier"),
}

# HistGradientBoosting passes columns of numbers through `partial(check_array, ...)`. A partial may
# hold any call, so one is known only in this very shape: see `objects.py`.
PARTIAL, CHECK_ARRAY = "functools.partial", "sklearn.utils.validation.check_array"
PASSED_ON = {PARTIAL: ("PartialNode",), CHECK_ARRAY: (FUNCTION,)}

ROLES: dict[str, tuple[str, ...]] = {
    **OWN, **CONTAINERS, **SKLEARN, **SCORERS, **BOOSTERS, **PASSED_ON
}  # fmt: skip
