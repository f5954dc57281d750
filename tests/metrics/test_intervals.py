from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, norm

from falcon_discover.metrics.intervals import auroc_difference, auroc_interval, share_interval
from support.chance import often, rarely


def test_share_interval_is_clopper_pearson():
    low, high = share_interval(7, 50)
    assert low == pytest.approx(beta.ppf(0.025, 7, 44))
    assert high == pytest.approx(beta.ppf(0.975, 8, 43))
    assert share_interval(0, 0) == (pytest.approx(math.nan, nan_ok=True),) * 2


def test_auroc_interval_by_hand():
    # Placements 2/3, 2/3, 1 and 1, 1, 1/3: variances 1/27 and 4/27, standard error 0.2485,
    # area 7/9, on the logit scale 1.2528 +- 1.96 * 1.4376: DeLong's, the wider one here.
    low, high = auroc_interval([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.8, 0.4, 0.7, 0.9])
    assert (low, high) == (pytest.approx(0.1730, abs=5e-4), pytest.approx(0.9832, abs=5e-4))


def test_auroc_interval_of_perfect_scores_is_newcombes():
    # Two events above two others: (1 - a)^2 = 1.96^2 V(a), where
    # V(a) = a (1 - a) (1 + (1 - a) / (2 - a) + a / (1 + a)) / 4.
    low, high = auroc_interval([0, 0, 1, 1], [1, 2, 3, 4])
    variance = low * (1 - low) * (1 + (1 - low) / (2 - low) + low / (1 + low)) / 4
    assert (1 - low) ** 2 == pytest.approx(1.959964**2 * variance)
    assert (low, high) == (pytest.approx(0.3856, abs=5e-4), 1.0)


def test_auroc_interval_of_too_few_events_is_not_defined():
    assert np.isnan(auroc_interval([0, 0, 1], [0.1, 0.2, 0.3])).all()


def test_auroc_interval_covers_as_often_as_it_says(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    # Normal scores shifted by 1: the true area is Phi(1 / sqrt 2).
    truth, inside = 0.7602, []
    for _ in range(400):
        events = np.arange(200) < 30
        low, high = auroc_interval(events, rng.normal(size=200) + events)
        inside.append(low <= truth <= high)
    assert often(inside, 0.95)
    assert rarely(inside, 0.95)


@pytest.mark.parametrize(("events", "area"), [(3, 0.95), (5, 0.75), (10, 0.95), (20, 0.99)])
def test_auroc_interval_covers_with_few_events_too(events, area, global_random_seed):
    # Normal scores: DeLong's interval alone covered 70%, 87%, 86% and 88% of them.
    rng = np.random.default_rng(global_random_seed)
    event, inside = np.arange(300) < events, []
    for _ in range(300):
        low, high = auroc_interval(
            event, rng.normal(size=300) + math.sqrt(2) * norm.ppf(area) * event
        )
        inside.append(low <= area <= high)
    assert often(inside, 0.94)


@pytest.mark.parametrize(
    ("events", "areas", "rho"), [(3, (0.95, 0.85), 0.9), (5, (0.95, 0.75), 0.9)]
)
def test_differences_of_auroc_are_covered_with_few_events_too(
    events, areas, rho, global_random_seed
):
    # DeLong's interval alone covered 77% and 87% of them.
    rng = np.random.default_rng(global_random_seed)
    event, inside = np.arange(200) < events, []
    shift = math.sqrt(2) * norm.ppf(areas) * event[:, None]
    for _ in range(300):
        score = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 200) + shift
        _, low, high = auroc_difference(event, *score.T)
        inside.append(low <= areas[0] - areas[1] <= high)
    assert often(inside, 0.94)


def test_an_interval_has_no_width_only_where_scores_order_rows_alike():
    events = [0, 0, 0, 1, 1]
    low, high = auroc_interval(events, [1, 1, 1, 1, 1])
    assert low < 0.5 < high
    # Both scores are perfect, but not the same.
    gain, low, high = auroc_difference(events, [1, 2, 3, 4, 5], [2, 1, 3, 4, 5])
    assert (gain, low < 0 < high) == (0.0, True)
    assert auroc_difference(events, [1, 2, 3, 4, 5], [2, 4, 6, 8, 10]) == (0.0, 0.0, 0.0)


def test_a_difference_is_found_where_there_is_one():
    # 40 events, 300 other rows, areas of .92 and .5: the interval must still be of use.
    rng = np.random.default_rng(3)
    events = np.arange(340) < 40
    _, low, high = auroc_difference(events, rng.normal(size=340) + 2 * events, rng.normal(size=340))
    assert 0.2 < low < high < 0.7
