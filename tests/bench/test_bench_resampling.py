from __future__ import annotations

import numpy as np
import pytest

from falcon_discover.bench.tables.chance import (
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


def test_seed_interval_of_equal_seeds_is_a_point():
    assert seed_interval([0.4] * 4) == (pytest.approx(0.4), pytest.approx(0.4))
    assert np.isnan(seed_interval([0.4, np.nan])).all()
