"""What reviewed rows change about the risk: the correction against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from falcon_discover.rankers.correction import Correction, Judged


def judged(seed, n, odds_of_errors):
    rng = np.random.default_rng(seed)
    odds, inputs = rng.normal(-4, 1, n), rng.normal(size=(n, 2))
    wrong = rng.uniform(size=n) < expit(odds_of_errors(odds, inputs))
    return Judged(inputs, odds, wrong, rng.uniform(0.5, 2, n))


@pytest.mark.parametrize("share", [0.02, 0.5, 0.99])
def test_the_correction_is_where_its_penalised_loss_is_least(share):
    # Up to nearly all of the reviewed rows are wrong, against the odds: a full step overshoots.
    known = judged(0, 200, lambda odds, x: odds)
    reviewed = judged(1, 100, lambda odds, x: np.log(share / (1 - share)) + x[:, 0])
    found = Correction.learned(known, reviewed)
    odds, inputs, wrong, weight = (
        np.concatenate([getattr(known, name), getattr(reviewed, name)])
        for name in ("odds", "inputs", "wrong", "weight")
    )
    # The level, the share of such rows that are reviewed, the odds, the inputs.
    columns = np.column_stack(
        [
            np.ones(300),
            expit(found.chosen[0] + found.chosen[1] * odds),
            np.clip((odds - known.odds.mean()) / known.odds.std(), -4, 4),
            np.clip((inputs - known.inputs.mean(axis=0)) / known.inputs.std(axis=0), -4, 4),
        ]
    )
    # Each of the level's three is believed to double or halve the odds, two inputs together too.
    belief = np.log(2) / np.sqrt([1, 1, 1, 2, 2])

    def loss(coefficients):
        z = odds + columns @ coefficients
        far = ((coefficients / belief) ** 2).sum()
        return weight @ (np.logaddexp(0, z) - wrong * z) + 0.5 * far

    best = minimize(loss, np.zeros(5), tol=1e-10).x
    assert found.coefficients == pytest.approx(best, abs=1e-4)
