"""A recalibrated model is a scikit-learn classifier like any other."""

from __future__ import annotations

import pickle
import warnings
from inspect import Parameter, signature

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibrationDisplay
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.utils.validation import check_is_fitted

from falcon_discover import FalconDiscover, datasets, load
from falcon_discover.audit.finding import Finding
from falcon_discover.calibration import CalibratedModel
from falcon_discover.exceptions import InputError
from support.checks import scikit_learn_checks

FALCON = FalconDiscover(
    LogisticRegression(), ranker="gated_confidence", cv=2, tau=0.8, random_state=0
)


@scikit_learn_checks([CalibratedModel(FALCON, "platt")])
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        check(estimator)


@pytest.fixture(scope="module")
def rows():
    planted = datasets.make_planted(240, random_state=0)
    return planted.X.select_dtypes("number").fillna(0), planted.y


@pytest.fixture(scope="module")
def falcon(rows):
    return clone(FALCON).fit(*rows)


@pytest.mark.parametrize("method", ["beta", "discrepancy"])
def test_a_calibrated_model_is_fitted_and_a_copy_of_it_can_be(falcon, rows, method):
    X, y = rows
    model = falcon.calibrated(method)
    check_is_fitted(model)
    assert is_classifier(model)
    assert model.falcon_ is falcon
    assert model.classes_.tolist() == [0, 1]
    assert model.feature_names_in_.tolist() == list(X.columns)
    copy = clone(model)
    with pytest.raises(NotFittedError):
        copy.predict_proba(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows of the fit are asked for
        expected = model.predict_proba(X)
        np.testing.assert_array_equal(copy.fit(X, y).predict_proba(X), expected)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), expected)
    assert copy.falcon_ is not falcon


def test_its_parameters_can_be_read_and_set(falcon):
    model = falcon.calibrated("discrepancy", caution=0.1, weighted=True)
    found = model.get_params()
    assert (found["method"], found["weighted"], found["caution"]) == ("discrepancy", True, 0.1)
    assert clone(model).set_params(method="platt", falcon__tau=0.7).falcon.tau == 0.7
    assert falcon.tau == 0.8


def test_it_works_where_scikit_learn_takes_classifiers(falcon, rows):
    X, y = rows
    model = falcon.calibrated("platt")
    assert len(CalibrationDisplay.from_estimator(model, X, y, n_bins=4).prob_true) <= 4
    assert (cross_val_score(clone(model), X, y, cv=2) > 0.5).all()
    voting = VotingClassifier([("a", clone(model)), ("b", LogisticRegression())], voting="soft")
    assert voting.fit(X, y).score(X, y) > 0.5


def test_an_audit_that_was_loaded_is_recalibrated_alike(falcon, rows, tmp_path):
    loaded = load(falcon.save(tmp_path / "a.falcon"))
    for method in ("isotonic", "platt"):
        np.testing.assert_array_equal(
            loaded.calibrated(method).predict_proba(rows[0]),
            falcon.calibrated(method).predict_proba(rows[0]),
        )


def test_caution_is_refused_where_there_is_none(falcon):
    with pytest.raises(InputError, match="only 'discrepancy' uses it"):
        falcon.calibrated("platt", caution=0.2)


def test_a_report_takes_the_same_options_from_the_audit_and_from_a_finding(falcon, tmp_path):
    def options(function):
        return {
            name: parameter.default
            for name, parameter in signature(function).parameters.items()
            if parameter.kind is Parameter.KEYWORD_ONLY
        }

    # An audit is told which rows it reports on; a finding knows them.
    rows = {"proba": None, "groups": None, "sample_weight": None}
    assert options(FalconDiscover.report) == {**options(Finding.report), **rows}
    page = falcon.report(tmp_path / "r.html", how={"version": "2.3"}, contributions=False)
    assert "2.3" in page.read_text().partition('id="fact-version"')[2][:100]
