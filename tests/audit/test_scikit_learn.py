"""scikit-learn's own checks, without and with metadata routing."""

from __future__ import annotations

import warnings

import pytest
import sklearn
from sklearn.exceptions import SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from falcon_discover import FalconDiscover
from support.checks import BY_ROW, scikit_learn_checks

# `fit_transform` is out-of-fold, `fit().transform()` is not, and these compare the two.
OUT_OF_FOLD = dict.fromkeys(
    ["check_transformer_general", "check_transformer_data_not_an_array"],
    "fit_transform is cross-fitted, as TargetEncoder's is",
)


@scikit_learn_checks(
    [
        FalconDiscover(LogisticRegression(), cv=3),
        FalconDiscover("logistic_regression", ranker="gated_confidence", cv=2),
    ],
    OUT_OF_FOLD,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        check(estimator)


def routed(estimator):
    return estimator.set_fit_request(sample_weight=True, groups=True)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_scikit_learn_checks_hold_with_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = routed(FalconDiscover(LogisticRegression(), ranker="confidence", cv=2))
        assert get_tags(estimator).classifier_tags.multi_class
        results = check_estimator(estimator, on_skip=None, on_fail=None)
    failed = {one["check_name"] for one in results if one["status"] == "failed"}
    # The same that fail without routing, and no other.
    assert failed == {*OUT_OF_FOLD, *BY_ROW}
    assert sum(one["status"] == "passed" for one in results) > 50
