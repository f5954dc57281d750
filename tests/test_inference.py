from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta

from falcon_discover.inference import auroc_interval, share_interval


def test_share_interval_is_clopper_pearson():
    low, high = share_interval(7, 50)
    assert low == pytest.approx(beta.ppf(0.025, 7, 44))
    assert high == pytest.approx(beta.ppf(0.975, 8, 43))
    assert share_interval(0, 0) == (pytest.approx(math.nan, nan_ok=True),) * 2


def test_auroc_interval_by_hand():
    # Placements 2/3, 2/3, 1 and 1, 1, 1/3: variances 1/27 and 4/27, standard error 0.2485,
    # area 7/9, on the logit scale 1.2528 +- 1.96 * 1.4376.
    low, high = auroc_interval([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.8, 0.4, 0.7, 0.9])
    assert (low, high) == (pytest.approx(0.1730, abs=5e-4), pytest.approx(0.9832, abs=5e-4))


def test_auroc_interval_of_too_few_events_is_not_defined():
    assert np.isnan(auroc_interval([0, 0, 1], [0.1, 0.2, 0.3])).all()


def test_auroc_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    # Normal scores shifted by 1: the true area is Phi(1 / sqrt 2).
    truth, inside = 0.7602, 0
    for _ in range(400):
        events = np.arange(200) < 30
        low, high = auroc_interval(events, rng.normal(size=200) + events)
        inside += low <= truth <= high
    # Three standard errors around 95 % of 400 draws.
    assert abs(inside / 400 - 0.95) < 3 * math.sqrt(0.95 * 0.05 / 400)
