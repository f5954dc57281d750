"""A check of the risks over batches that may be read after each of them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from falcon_discover import InputError
from falcon_discover.monitoring.calibration_watch import TOLERANCE, CalibrationWatch
from support.chance import often, rarely


def watched(observed, expected, **settings):
    watch = CalibrationWatch(**settings)
    for count in observed:
        watch = watch.after(int(count), expected)
    return watch


def test_the_capital_of_each_stake_is_that_of_the_formula():
    watch = CalibrationWatch(tolerance=0.0).after(30, 20.0).after(25, 20.0)
    # Saved watches hold a capital for each of these, in this order.
    stakes = (0.1, 0.2, 0.4, 0.8, -0.1, -0.2, -0.4, -0.8)
    by_hand = [s * 55 - 40 * (math.exp(s) - 1) for s in stakes]
    assert watch.capital == pytest.approx(by_hand)


@pytest.mark.parametrize("truth", [1.0, 1 + TOLERANCE, 1 / (1 + TOLERANCE)])
def test_risks_within_the_tolerance_rarely_give_an_alarm(truth, global_random_seed):
    # Errors are sums of unequal chances, as in a batch.
    rng = np.random.default_rng(global_random_seed)
    risk = rng.beta(1, 20, 400)
    alarms = []
    for _ in range(120):
        counts = (rng.uniform(size=(60, len(risk))) < np.minimum(truth * risk, 1)).sum(axis=1)
        alarms.append(watched(counts, float(risk.sum())).alarm)
    assert rarely(alarms, 0.05)


@pytest.mark.parametrize("truth", [1.3, 0.7])
def test_risks_that_are_off_by_a_third_give_an_alarm(truth, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    alarms = [watched(rng.poisson(truth * 20, 60), 20.0).alarm for _ in range(40)]
    assert often(alarms, 0.98)


def test_errors_that_come_by_the_group_rarely_give_an_alarm(global_random_seed):
    # Ten rows of each customer are wrong together, so that counts vary ten times as much.
    rng = np.random.default_rng(global_random_seed)
    together, apart = [], []
    for counts in 10 * rng.poisson(2, (200, 40)):
        watch = alone = CalibrationWatch()
        for count in counts:
            watch = watch.after(int(count), 20.0, design_effect=10.0)
            alone = alone.after(int(count), 20.0)
        together.append(watch.alarm)
        apart.append(alone.alarm)
    assert rarely(together, 0.05)
    assert np.mean(apart) > 0.3
    with pytest.raises(InputError, match=r"design_effect is 0\.5: it is 1 or more"):
        CalibrationWatch().after(3, 2.0, design_effect=0.5)


def test_an_alarm_stays():
    watch = watched([60] * 5, 20.0)
    assert watch.alarm
    assert watched([60] * 5 + [20] * 40, 20.0).raised_at == watch.raised_at


def test_it_goes_through_json_and_on():
    watch = watched([22, 18, 25], 20.0)
    kept = CalibrationWatch.from_dict(json.loads(json.dumps(watch.to_dict())))
    assert kept == watch
    assert kept.after(40, 20.0) == watch.after(40, 20.0)


def test_it_says_what_is_wrong_with_what_it_is_given():
    with pytest.raises(InputError, match="tolerance is 2: it lies between 0 and 1"):
        CalibrationWatch(tolerance=2)
    for level in (0, 1, 1.5):
        with pytest.raises(InputError, match=f"confidence_level is {level}: it lies between"):
            CalibrationWatch(confidence_level=level)
    with pytest.raises(InputError, match="observed is -1"):
        CalibrationWatch().after(-1, 2.0)
    with pytest.raises(InputError, match="it lacks 'tolerance'"):
        CalibrationWatch.from_dict({})


def test_it_says_in_words_what_to_do():
    assert "Next: compare" in repr(CalibrationWatch())
    assert "The risks hold so far. 41 confident errors were found in 2 batches" in repr(
        watched([20, 21], 20.0)
    )
    assert "Next: audit again" in repr(watched([60] * 4, 20.0))
    assert "fewer" in repr(watched([3] * 9, 20.0))
