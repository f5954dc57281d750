from __future__ import annotations

import numpy as np
import pytest

from falcon_discover import metrics
from falcon_discover.bench.resampling import (
    capture_resamples,
    null_exact,
    null_simulation,
    seed_interval,
)


def test_simulated_and_exact_null_agree_to_three_standard_errors():
    splits = [(500, 40), (300, 12)]
    null, exact = null_simulation(splits), null_exact(splits)
    assert exact.sum() == pytest.approx(1)
    for found in (5, 10, 15, 18, 22):
        share, p = (null >= found).mean(), exact[found:].sum()
        assert abs(share - p) <= 3 * np.sqrt(p * (1 - p) / len(null)) + 1e-12
    assert null.mean() / 52 == pytest.approx(0.2, abs=0.005)


def test_exact_null_by_hand():
    # Five rows, one event, one reviewed: found with probability 1/5.
    np.testing.assert_allclose(null_exact([(5, 1)]), [0.8, 0.2])


def test_resampled_capture_equals_sorting_each_resample():
    rng = np.random.default_rng(0)
    events, scores = rng.uniform(size=57) < 0.3, [rng.normal(size=57) for _ in range(2)]
    fast = capture_resamples(events, scores, resamples=20, seed=4)
    again = np.random.default_rng(4)
    for b in range(20):
        drawn = again.integers(0, 57, 57)
        for i, score in enumerate(scores):
            # Copies of a row are tied: keep them in the order of the originals.
            drawn = np.sort(drawn)
            assert fast[b, i] == pytest.approx(
                metrics.capture_at(events[drawn], score[drawn], 0.20)
            )


def test_bootstrap_intervals_cover_the_truth():
    """The gain of a ranker over another, 200 times from a known population."""
    rng = np.random.default_rng(1)
    size, inside = 100_000, 0
    events = rng.uniform(size=size) < 0.05
    good, poor = rng.normal(size=size) + 1.5 * events, rng.normal(size=size) + 0.5 * events
    truth = metrics.capture_at(events, good, 0.2) - metrics.capture_at(events, poor, 0.2)
    for i in range(200):
        rows = rng.choice(size, 1500, replace=False)
        both = capture_resamples(events[rows], [good[rows], poor[rows]], resamples=200, seed=i)
        low, high = np.quantile(both[:, 0] - both[:, 1], [0.025, 0.975])
        inside += low <= truth <= high
    # Three standard errors around 95 % of 200, and percentile intervals are a little short.
    assert 0.89 <= inside / 200 <= 0.99


def test_seed_interval_of_equal_seeds_is_a_point():
    assert seed_interval([0.4] * 4) == (pytest.approx(0.4), pytest.approx(0.4))
    assert np.isnan(seed_interval([0.4, np.nan])).all()
