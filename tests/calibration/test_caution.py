"""Recalibration gives calibrated probabilities unless caution is asked for, and tells its price."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from falcon_discover import FalconDiscover, metrics
from falcon_discover.audit.curves import Curves
from falcon_discover.exceptions import InputError
from falcon_discover.report import About, Report, markdown
from support.findings import made_up

KNOWN, NEW = slice(0, 1_500), slice(1_500, 4_500)


def interaction(seed, n=4_500):
    """Rows whose probabilities are known; a linear model misses the product of two columns."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    odds = 1.5 * X["a"] + X["b"] + 2.0 * X["c"] * X["d"]
    return X, (rng.uniform(size=n) < expit(odds)).to_numpy().astype(int)


@pytest.fixture(scope="module")
def rows():
    return interaction(seed=0)


@pytest.fixture(scope="module")
def falcon(rows):
    X, y = rows
    model = make_pipeline(StandardScaler(), LogisticRegression())
    return FalconDiscover(model, random_state=0, n_jobs=1).fit(X[KNOWN], y[KNOWN])


@pytest.fixture(scope="module")
def scores(falcon, rows):
    X = rows[0][NEW]
    state = falcon.examine(X).state
    found = {"model": state.p}
    for name, method, options in (
        ("platt", "platt", {}),
        ("default", "discrepancy", {}),
        ("auto", "discrepancy", {"caution": "auto"}),
    ):
        calibrator = falcon.calibrated(method, **options).calibrator_
        found[name] = calibrator.predict(state)
    return found


def test_no_caution_is_the_default(falcon):
    model = falcon.calibrated()
    assert model.caution == 0
    assert model.calibrator_.caution_ == 0.0
    assert falcon.examine().calibrator("discrepancy").caution_ == 0.0


@pytest.mark.parametrize("figure", [metrics.nll, metrics.brier])
def test_by_default_probabilities_are_better_than_the_models_and_than_platts(scores, rows, figure):
    found = {name: figure(rows[1][NEW], p) for name, p in scores.items()}
    assert found["default"] < 0.95 * min(found["model"], found["platt"])


def test_by_default_a_calibrated_model_stays_calibrated(scores, rows):
    found = {name: metrics.ece(rows[1][NEW], p) for name, p in scores.items()}
    assert found["default"] < found["model"] + 0.01 < found["auto"]


def test_the_ranking_improves_and_so_do_errors_at_equal_coverage(scores, rows):
    y = rows[1][NEW]
    area = {name: metrics.fc_auroc(y, p) for name, p in scores.items()}
    assert area["default"] > area["platt"] + 0.05
    sure = int((metrics.confidence(scores["model"]) >= 0.9).sum())
    errors = {name: metrics.errors_among_surest(y, p, sure) for name, p in scores.items()}
    assert errors["default"] < 0.8 * errors["model"]


def test_caution_costs_calibration_and_confident_predictions_and_earns_nothing_else(scores, rows):
    y = rows[1][NEW]
    sure = {name: int((metrics.confidence(p) >= 0.9).sum()) for name, p in scores.items()}
    assert sure["auto"] < 0.8 * sure["default"]
    assert metrics.ece(y, scores["auto"]) > 2 * metrics.ece(y, scores["default"])
    assert metrics.nll(y, scores["auto"]) > metrics.nll(y, scores["default"])
    for k in (50, sure["model"]):
        with_it, without = (
            metrics.errors_among_surest(y, scores[name], k) for name in ("auto", "default")
        )
        assert with_it == pytest.approx(without)


@pytest.mark.parametrize("caution", ["auto", 0.15])
def test_a_caution_that_was_chosen_stays_in_copies_and_in_saved_models(falcon, rows, caution):
    model = falcon.calibrated(caution=caution)
    assert clone(model).caution == caution
    kept = pickle.loads(pickle.dumps(model))
    assert kept.caution == caution
    assert kept.calibrator_.caution_ == model.calibrator_.caution_ > 0
    X = rows[0][NEW][:50]
    np.testing.assert_array_equal(kept.predict_proba(X), model.predict_proba(X))


def test_plain_methods_refuse_a_caution_but_not_one_that_is_none(falcon):
    plain = falcon.calibrated("platt").calibrator_.predict(falcon.examine().state)
    # The parameters of models saved when "auto" was the default.
    for none in (0, "auto"):
        again = falcon.calibrated("platt", caution=none).calibrator_
        np.testing.assert_array_equal(again.predict(falcon.examine().state), plain)
    with pytest.raises(InputError, match="only 'discrepancy' uses it"):
        falcon.calibrated("platt", caution=0.1)


@pytest.mark.parametrize("caution", [1, -0.1, "much", None, True, float("nan")])
def test_what_is_no_caution_is_refused(falcon, caution):
    with pytest.raises(InputError, match=r"caution is .*: give a number of at least 0 and below 1"):
        falcon.calibrated(caution=caution)


def test_errors_among_the_surest_are_the_mean_over_all_orders_of_tied_rows():
    y = np.array([0, 1, 1, 0, 1])
    p = np.array([0.9, 0.9, 0.1, 0.6, 0.99])
    wrong, sure = (p >= 0.5) != y, np.maximum(p, 1 - p)
    for k in range(6):
        counts = []
        for order in itertools.permutations(range(5)):
            kept = sorted(order, key=lambda row: -sure[row])  # stable: ties as in the order
            counts.append(wrong[kept[:k]].sum())
        assert metrics.errors_among_surest(y, p, k) == pytest.approx(np.mean(counts))
    with pytest.raises(InputError, match="k is 6: give a number of rows from 0 to 5"):
        metrics.errors_among_surest(y, p, 6)


def test_the_table_before_and_after_has_both_cautions_from_the_calibrators_themselves():
    found = made_up(900)
    table = Curves(found).recalibration().table.set_index("method")
    for name, caution in (("discrepancy", 0), ("discrepancy_auto", "auto")):
        p = found.calibrator("discrepancy", caution=caution).predict(found.state)
        assert table.loc[name, "nll"] == pytest.approx(metrics.nll(found.codes, p))
        sure = int(found.state.eligible(found.tau).sum())
        errors = metrics.errors_among_surest(found.codes, p, sure)
        assert table.loc[name, "errors_at_coverage"] == pytest.approx(errors)


def test_the_report_compares_errors_at_equal_coverage_and_tells_the_price_of_caution():
    report = Report.of(made_up(600), About(contributions=False))
    text = markdown(report)
    assert "errors at equal coverage |" in text
    assert "| discrepancy, caution auto |" in text
    assert "at the price of worse calibration" in text
    before = report.summary["calibration"]["methods"][0]
    assert before["errors_at_coverage"] == before["confident_errors"]
