from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from falcon_discover import metrics
from support import oracle

# A busy machine takes its time over the checks that scikit-learn makes.
unhurried = settings(deadline=None)
EPS = float(np.finfo(np.float64).eps)
cases = st.lists(
    st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 0.95, 1.0])),
    min_size=1,
    max_size=40,
)


def columns(case):
    events, scores = zip(*case, strict=True)
    return np.array(events), np.array(scores)


@given(cases)
def test_auroc_equals_counting_pairs(case):
    events, scores = columns(case)
    assert metrics.fc_auroc(events, scores) == pytest.approx(
        oracle.auroc(events, scores), nan_ok=True
    )


@given(cases)
def test_capture_is_one_at_full_budget(case):
    events, scores = columns(case)
    assume(events.any())
    assert metrics.capture_at(events, scores, 1.0) == 1.0


@given(cases, st.floats(0.01, 1.0), st.floats(0.01, 1.0))
def test_capture_grows_with_the_budget(case, a, b):
    events, scores = columns(case)
    assume(events.any())
    low, high = sorted((a, b))
    assert metrics.capture_at(events, scores, low) <= metrics.capture_at(events, scores, high)


@unhurried
@given(cases, st.integers(0, 1000))
def test_order_free_metrics_do_not_depend_on_row_order(case, seed):
    events, scores = columns(case)
    order = np.random.default_rng(seed).permutation(len(events))
    for metric in (metrics.fc_auroc, metrics.aurc, metrics.ece, metrics.brier, metrics.nll):
        assert metric(events, scores) == pytest.approx(
            metric(events[order], scores[order]), nan_ok=True
        )


@unhurried
@given(cases)
def test_swapping_the_classes_changes_nothing(case):
    y, p = columns(case)
    assume((p != 0.5).all())
    swapped = metrics.false_confidence(~y, 1 - p, 0.9)
    np.testing.assert_array_equal(metrics.false_confidence(y, p, 0.9), swapped)
    assert metrics.ece(y, p) == pytest.approx(metrics.ece(~y, 1 - p))
    assert metrics.brier(y, p) == pytest.approx(metrics.brier(~y, 1 - p))


@given(cases)
def test_monotone_transforms_change_no_ranking_metric(case):
    events, scores = columns(case)
    for metric in (metrics.fc_auroc, metrics.aurc):
        assert metric(events, scores) == pytest.approx(
            metric(events, np.exp(3 * scores)), nan_ok=True
        )


@unhurried
@given(cases)
def test_brier_and_nll_equal_plain_sums(case):
    y, p = columns(case)
    given = [min(max(score if event else 1 - score, EPS), 1 - EPS) for event, score in case]
    assert metrics.brier(y, p) == pytest.approx(sum((s - e) ** 2 for e, s in case) / len(case))
    assert metrics.nll(y, p) == pytest.approx(-sum(map(math.log, given)) / len(case))


@unhurried
@given(cases)
def test_average_precision_equals_scikit_learn(case):
    y, p = columns(case)
    assume(y.any())
    assert metrics.eligible_average_precision(y, p, np.ones(len(p))) == pytest.approx(
        average_precision_score(y, p)
    )


def test_budget_is_rounded_up_and_not_by_floating_point():
    assert metrics.review_size(10, 0.05) == 1
    assert metrics.review_size(100, 0.07) == 7  # 0.07 * 100 > 7 in floating point
    assert metrics.review_size(9769, 0.20) == 1954  # by hand: 1953.8


def test_tied_rows_share_their_events():
    # By hand: half of four tied rows hold, on average, half of their two events.
    assert metrics.fc_count_at([1, 1, 0, 0], [0.5] * 4, 0.5) == 1
    assert metrics.fc_count_at([0, 0, 1, 1], [0.5] * 4, 0.5) == 1
    # One row is above the three that are tied: one of these finds two thirds of an event.
    assert metrics.capture_at([0, 1, 1, 0], [0.9, 0.5, 0.5, 0.5], 0.5) == pytest.approx(1 / 3)


def test_no_event_is_not_defined_rather_than_zero():
    events, scores = np.zeros(5, bool), np.arange(5.0)
    assert math.isnan(metrics.capture_at(events, scores, 0.2))
    assert math.isnan(metrics.fc_auroc(events, scores))
    assert math.isnan(metrics.eligible_auroc(events, scores, np.ones(5)))
    assert math.isnan(metrics.eligible_average_precision(events, scores, np.ones(5)))
    assert metrics.fc_count_at(events, scores, 0.2) == 0


def test_only_events_is_not_defined_either():
    assert math.isnan(metrics.fc_auroc(np.ones(3, bool), np.arange(3.0)))


def test_eligible_auroc_ignores_rows_below_the_threshold():
    events = np.array([1, 0, 0, 0], bool)
    confidence = np.array([0.95, 0.99, 0.60, 0.55])
    # By hand: among the two eligible rows the event has the higher score.
    assert metrics.eligible_auroc(events, [0.2, 0.1, 0.9, 0.8], confidence, 0.9) == 1.0
    assert metrics.fc_auroc(events, [0.2, 0.1, 0.9, 0.8]) == pytest.approx(1 / 3)


def test_aurc_by_hand():
    # Accepted from the least suspicious: risks 0/1, 1/2, 1/3, 2/4.
    assert metrics.aurc([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]) == pytest.approx(
        (0 + 1 / 2 + 1 / 3 + 2 / 4) / 4
    )
    # All tied: every coverage has the average risk.
    assert metrics.aurc([0, 1, 0, 1], [0.5] * 4) == pytest.approx(0.5)


def test_ece_by_hand():
    # Confidences 0.9 (right), 0.9 (wrong), 0.6 (right) fall in two of the 15 bins.
    value = metrics.ece([1, 0, 1], [0.9, 0.9, 0.6])
    assert value == pytest.approx(2 / 3 * abs(0.5 - 0.9) + 1 / 3 * abs(1 - 0.6))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: metrics.false_confidence([0, 2], [0.1, 0.2]), "y must contain only 0/1"),
        (lambda: metrics.false_confidence([0, 1], [0.1, 1.2]), "p is 1.2 in row 1"),
        (lambda: metrics.false_confidence([0, 1], [0.1, np.nan]), "p is nan in row 1"),
        (lambda: metrics.capture_at([0, 1], [0.1, 0.2], 0), "budget is 0"),
        (lambda: metrics.capture_at([0, 1], [0.1, 0.2], 20.0), "budget is 20"),
        (lambda: metrics.fc_auroc([0, 1], [0.1, np.nan]), "score is NaN in 1 row"),
        (lambda: metrics.fc_auroc([0, 1, 1], [0.1, 0.2]), "3 and 2 rows"),
    ],
)
def test_bad_arrays_get_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
