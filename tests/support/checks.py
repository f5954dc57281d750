"""scikit-learn's own checks of estimators."""

from __future__ import annotations

import inspect

from sklearn.utils.estimator_checks import parametrize_with_checks

# Folds are dealt and neighbours counted by row, whatever a row weighs. scikit-learn's own
# cross-fitted estimators, such as CalibratedClassifierCV, do not pass this check either.
BY_ROW = {
    "check_sample_weight_equivalence_on_dense_data": "a row is one row of a fold, at any weight",
}


def scikit_learn_checks(estimators: list, failing: dict[str, str] | None = None):
    """Return scikit-learn's checks of estimators as a parametrisation; `failing` must fail."""
    failing, strict = {**BY_ROW, **(failing or {})}, {"xfail_strict": True}
    if "xfail_strict" not in inspect.signature(parametrize_with_checks).parameters:
        # Releases before 1.8 are not strict, and this check subtracts a float from integers.
        failing["check_positive_only_tag_during_fit"] = "fails before it asks"
        strict = {}
    return parametrize_with_checks(
        estimators, expected_failed_checks=lambda estimator: failing, **strict
    )
