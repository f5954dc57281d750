"""What reviewed rows change about the risk, and the correction against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from falcon_discover.rankers.correction import SURER, Correction, Judged, held_out


def judged(seed, n=6_000, true=lambda odds, x: odds, width=3):
    """Rows whose risk is that of `odds`, and which are wrong as often as `true` says."""
    rng = np.random.default_rng(seed)
    odds, x = rng.normal(-4, 1, n), rng.normal(size=(n, width))
    wrong = rng.uniform(size=n) < expit(true(odds, x))
    return Judged(x, odds, wrong, np.ones(n))


def weighed(rows, seed):
    """The same rows with weights."""
    weight = np.random.default_rng(seed).uniform(0.5, 2, len(rows.odds))
    return Judged(rows.inputs, rows.odds, rows.wrong, weight)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.99])
def test_the_correction_is_where_its_penalised_loss_is_least(share):
    # Up to nearly all of the reviewed rows are wrong, against the odds: a full step overshoots.
    known = weighed(judged(0, 200, width=2), 2)
    level = np.log(share / (1 - share))
    reviewed = weighed(judged(1, 100, lambda odds, x: level + x[:, 0], width=2), 3)
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

    def likeliest(surer):
        """Return coefficients under one belief, and how likely the labels are under it."""
        # Each of the level's three may double or halve the odds; the inputs together at most so.
        precision = np.array([1, 1, 1, 2 * surer, 2 * surer]) / np.log(2) ** 2

        def loss(coefficients):
            z = odds + columns @ coefficients
            return weight @ (np.logaddexp(0, z) - wrong * z) + 0.5 * precision @ coefficients**2

        best = minimize(loss, np.zeros(5), tol=1e-10).x
        p = expit(odds + columns @ best)
        curvature = columns.T @ (columns * (weight * p * (1 - p))[:, None]) + np.diag(precision)
        volume = np.log(precision).sum() - np.log(np.linalg.det(curvature))
        return 0.5 * volume - loss(best), best

    _, best = max((likeliest(surer) for surer in SURER), key=lambda pair: pair[0])
    assert found.coefficients == pytest.approx(best, abs=1e-4)


def test_inputs_that_say_nothing_are_left_out_and_those_that_say_much_are_not():
    def told_by_two(odds, x):
        return odds + 1.5 * x[:, 0] - 1.5 * x[:, 1]

    known = judged(0, width=5)
    nothing = Correction.learned(known, judged(1, width=5)).coefficients[3:]
    much = Correction.learned(known, judged(1, true=told_by_two, width=5)).coefficients[3:]
    assert np.abs(nothing).max() < 0.05
    assert much[0] > 0.3
    assert much[1] < -0.3
    assert np.abs(much[2:]).max() < 0.2


def test_where_the_risk_was_right_it_stays():
    known, batch = judged(0), judged(1)
    top = batch.odds > np.quantile(batch.odds, 0.9)
    found = Correction.learned(known, batch.take(top))
    new = judged(2)
    shift = found.shift(new.inputs, new.odds)
    # The top is wrong far more often than all rows are.
    assert batch.wrong[top].mean() > 3 * batch.wrong.mean()
    assert expit(new.odds + shift).sum() == pytest.approx(expit(new.odds).sum(), rel=0.1)


def test_what_is_seen_at_the_top_does_not_move_the_rest():
    def lower_at_the_top(odds, x):
        return np.where(odds > -2.7, odds - 1.2, odds)

    known, batch = judged(0, true=lower_at_the_top), judged(1, true=lower_at_the_top)
    top = batch.odds > -2.7
    found = Correction.learned(known, batch.take(top))
    new = judged(2, n=20_000)
    after = expit(new.odds + found.shift(new.inputs, new.odds))
    truth = expit(lower_at_the_top(new.odds, new.inputs))
    high = new.odds > -2.7
    assert after[high].sum() == pytest.approx(truth[high].sum(), rel=0.15)
    assert after[~high].sum() == pytest.approx(truth[~high].sum(), rel=0.15)
    # One shift for all rows, learned from the top, would be far off for the rest.
    assert expit(new.odds[~high] - 1.2).sum() < 0.4 * truth[~high].sum()


def test_no_row_of_the_fit_is_moved_by_its_own_label():
    known, batch = judged(0, n=300), judged(1, n=100)
    fold = np.arange(300) % 5
    was = held_out(known, batch, fold)
    flipped = known.wrong.copy()
    flipped[fold == 2] = ~flipped[fold == 2]
    now = held_out(Judged(known.inputs, known.odds, flipped, known.weight), batch, fold)
    np.testing.assert_array_equal(was[fold == 2], now[fold == 2])
    assert (was[fold != 2] != now[fold != 2]).all()


def test_weights_count_as_repeated_rows():
    known, batch = judged(0, n=300), judged(1, n=80)
    twice = np.repeat(np.arange(80), 2)
    heavy = Judged(batch.inputs, batch.odds, batch.wrong, np.full(80, 2.0))
    repeated = batch.take(twice)
    # How often such rows are reviewed is counted by rows there are.
    one, two = (Correction.learned(known, rows) for rows in (heavy, repeated))
    assert one.coefficients[0] == pytest.approx(two.coefficients[0], abs=0.1)


def test_the_doubt_is_what_a_correction_varies_by_from_draw_to_draw():
    new = judged(0, n=60)
    drawn = [Correction.learned(judged(seed), judged(100 + seed, n=1_500)) for seed in range(60)]
    shifts, doubts = (
        np.array([getattr(one, name)(new.inputs, new.odds) for one in drawn])
        for name in ("shift", "doubt")
    )
    assert doubts.mean() == pytest.approx(shifts.std(axis=0).mean(), rel=0.2)


def test_how_likely_a_row_of_such_odds_is_reviewed_is_learned():
    known, batch = judged(0), judged(1)
    top = batch.odds > np.quantile(batch.odds, 0.9)
    intercept, slope = Correction.learned(known, batch.take(top)).chosen
    high, low = (expit(intercept + slope * odds) for odds in (-1.0, -6.0))
    assert high > 0.5
    assert low < 0.01
    # As many as there are: an intercept is free.
    every = np.concatenate([known.odds, batch.odds[top]])
    assert expit(intercept + slope * every).sum() == pytest.approx(top.sum(), rel=1e-3)
    assert Correction.learned(known.take(np.zeros(6_000, bool)), batch).chosen == (0.0, 0.0)
