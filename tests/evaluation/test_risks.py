"""Whether risks hold: in the large, in their slope, in the riskiest tenth, and row by row."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit, logit

from falcon_discover import datasets, discover
from falcon_discover.evaluation.risks import RiskCalibration, observed_per_expected, slope_interval
from falcon_discover.rankers.risk import Calibration, calibrate


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(1)
    risk = rng.beta(1, 15, 6_000)
    return risk, rng.uniform(size=6_000) < risk


@pytest.mark.parametrize(("factor", "said"), [(0.6, "too low"), (1.6, "too high")])
def test_risks_that_are_off_in_the_large_are_called_so(drawn, factor, said):
    risk, events = drawn
    found = RiskCalibration.of(np.minimum(factor * risk, 1.0), events)
    assert not found.low <= 1 <= found.high
    assert said in found.words()


def test_true_risks_are_not_accused(drawn):
    found = RiskCalibration.of(*drawn)
    assert found.low < 1 < found.high
    assert found.slope_low < 1 < found.slope_high
    assert found.top_low < 1 < found.top_high
    assert "too" not in found.words()


@pytest.mark.parametrize("stretch", [0.5, 2.0])
def test_the_slope_tells_risks_that_differ_too_much_or_too_little(drawn, stretch):
    risk, events = drawn
    odds = logit(np.clip(risk, 1e-6, 1 - 1e-6))
    stretched = expit(odds.mean() + stretch * (odds - odds.mean()))
    _, low, high = slope_interval(stretched, events)
    assert low < 1 / stretch < high
    assert not low < 1 < high


def test_rows_of_one_group_count_once_for_the_interval_of_the_slope(drawn):
    risk, events = (np.tile(values, 4) for values in drawn)
    rows = np.tile(np.arange(len(drawn[0])), 4)
    _, low, high = slope_interval(risk, events)
    _, wide_low, wide_high = slope_interval(risk, events, rows)
    assert (wide_high - wide_low) / (high - low) == pytest.approx(2.0, rel=0.02)


def test_few_events_have_no_slope_and_none_has_an_upper_end():
    risk = np.full(100, 0.02)
    few = RiskCalibration.of(risk, np.arange(100) < 3)
    assert math.isnan(few.slope)
    assert few.to_dict()["slope"] is None
    ratio, low, high = observed_per_expected(0, 2.0)
    assert (ratio, low) == (0.0, 0.0)
    assert high == pytest.approx(3.689 / 2, rel=1e-3)


def test_the_figures_of_an_evaluation_are_those_of_the_eligible_rows():
    planted = datasets.make_planted(800, random_state=0)
    found = discover(planted.X, planted.y, planted.proba, random_state=0)
    evaluation = found.evaluate(taus=())
    figures = evaluation.risk
    assert figures.events == evaluation.captures["events"].iloc[0]
    assert figures.rows == int(found.state.eligible(0.9).sum())
    # Ties in risk go together into the riskiest tenth.
    tied = RiskCalibration.of(np.repeat([0.1, 0.2], 50), np.tile([True, False], 50))
    assert tied.top_rows == 50


def test_the_interval_of_a_calibration_narrows_with_its_events():
    rng = np.random.default_rng(0)
    own = rng.normal(-3, 1, 20_000)
    wrong = rng.uniform(size=20_000) < expit(own)
    at = np.array([-3.0])
    widths = []
    for n in (500, 20_000):
        found = calibrate(own[:n], own[:n], wrong[:n])
        low, high = found.interval(at, at)
        assert low < expit(-3.0) < high
        widths.append(float(high[0] - low[0]))
    assert widths[1] < widths[0] / 3
    assert [float(end[0]) for end in Calibration().interval(at, at)] == [0.0, 1.0]


def test_the_review_list_says_between_which_rates_rows_like_it_are_wrong():
    planted = datasets.make_planted(800, random_state=0)
    found = discover(planted.X, planted.y, planted.proba, random_state=0)
    low, high = found.risk_interval()
    risk = found.risk()
    assert ((low <= risk) & (risk <= high)).all()
    first = found.review(0.01).iloc[0]
    assert first["reason"].split(":")[0].count(" in ") == 3
