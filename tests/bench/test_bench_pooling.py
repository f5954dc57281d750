"""Gains over seeds whose test splits share rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm, t

from falcon_discover import metrics
from falcon_discover.bench.pooling import (
    Split,
    auroc_gain,
    capture_gains,
    capture_interval,
    event_rows,
)
from falcon_discover.metrics.intervals import placements


def drawn_split(seed: int, n: int = 200, first: int = 0) -> Split:
    rng = np.random.default_rng(seed)
    events = rng.random(n) < 0.2
    other = rng.normal(size=n) + events
    score = other + 0.5 * rng.normal(size=n) + 0.5 * events
    return Split(np.arange(first, first + n), events, score, other)


def test_the_same_rows_again_are_no_new_evidence():
    split = drawn_split(0)
    assert auroc_gain([split] * 4) == pytest.approx(auroc_gain([split]))
    np.testing.assert_allclose(capture_gains([split] * 4), capture_gains([split]))
    # Four splits with other rows are: the interval is about half as wide.
    apart = [drawn_split(seed, first=1000 * seed) for seed in range(4)]
    widths = [high - low for _, low, high in (auroc_gain([split]), auroc_gain(apart))]
    assert 1.5 < widths[0] / widths[1] < 2.5


def test_the_interval_of_one_split_is_delongs_with_a_students_quantile():
    split = drawn_split(1)
    pair = [placements(split.events, score) for score in (split.score, split.other)]
    m, n = int(split.events.sum()), int((~split.events).sum())
    above, below = (first - second for first, second in zip(*pair, strict=True))
    spread = math.sqrt(above.var() / m + below.var() / n) * math.sqrt(m / (m - 1))
    gain, low, high = auroc_gain([split])
    assert gain == pytest.approx(above.mean())
    assert high - gain == pytest.approx(t.ppf(0.975, m - 1) * spread)
    assert gain - low == pytest.approx(high - gain)


def test_resampled_captures_equal_sorting_each_resample():
    whole = drawn_split(2, n=80)
    splits = [whole.take(np.arange(80) < 50), whole.take(np.arange(80) >= 30)]
    fast = capture_gains(splits, resamples=20, seed=4)
    rng = np.random.default_rng(4)
    for b in range(20):
        drawn = np.bincount(rng.integers(0, 80, 80), minlength=80)
        gains = []
        for split in splits:
            rows = np.repeat(np.arange(len(split.rows)), drawn[split.rows])
            mine, theirs = (
                metrics.capture_at(split.events[rows], score[rows], 0.2)
                for score in (split.score, split.other)
            )
            gains.append(mine - theirs)
        assert fast[b] == pytest.approx(np.mean(gains))


def test_equal_scores_are_counted_by_their_share():
    # All scores are equal and the events stand first: a fifth of them is found, not all.
    events = np.arange(1000) < 100
    split = Split(np.arange(1000), events, np.ones(1000), -np.arange(1000.0))
    assert capture_gains([split], resamples=100).mean() == pytest.approx(0.2 - 1.0, abs=0.001)


def test_undefined_gains_are_said_to_be():
    nothing = Split(np.arange(5), np.zeros(5, dtype=bool), np.arange(5.0), np.arange(5.0))
    assert np.isnan(auroc_gain([nothing])).all()
    assert np.isnan(auroc_gain([])).all()
    assert len(capture_gains([nothing])) == 0
    assert np.isnan(capture_interval(0.1, np.empty(0), [nothing])).all()
    single = Split(np.arange(5), np.arange(5) == 3, np.arange(5.0), -np.arange(5.0))
    gain, low, high = auroc_gain([single])
    assert (gain, math.isnan(low), math.isnan(high)) == (0.5, True, True)
    assert event_rows([single, single]) == 1


def test_intervals_over_overlapping_splits_cover_the_truth():
    """Four test splits of a fifth of the rows each, with fixed rankers."""
    rng = np.random.default_rng(3)
    # Shifts of 1 and of (1 + .6) / sqrt(1 + .49): the areas of two normal scores.
    truth = norm.cdf(1.6 / math.sqrt(2 * 1.49)) - norm.cdf(1 / math.sqrt(2))
    inside = 0
    for _ in range(300):
        events = rng.random(1500) < 0.1
        other = rng.normal(size=1500) + events
        score = other + 0.7 * rng.normal(size=1500) + 0.6 * events
        whole = Split(np.arange(1500), events, score, other)
        splits = [whole.take(rng.permutation(1500) < 300) for _ in range(4)]
        _, low, high = auroc_gain(splits)
        inside += low <= truth <= high
    # Three standard errors below 94%; seeds taken as independent covered 88%.
    assert inside / 300 >= 0.94 - 3 * math.sqrt(0.94 * 0.06 / 300)
