"""What an estimate rests on: the audited rows as they are counted, and how sure the risk is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from falcon_discover import FalconDiscover
from falcon_discover.monitoring.baseline import Baseline
from falcon_discover.monitoring.statistics import MOVES, RISK, BatchStatistics
from falcon_discover.monitoring.sums import number
from falcon_discover.runtime import notices

ROWS = 120
X = pd.DataFrame({"a": np.random.default_rng(0).normal(size=ROWS)})
NEW = X + 0.01
P = np.random.default_rng(1).uniform(0.91, 0.99, ROWS)


def audited(errors, **drawn):
    """Return an audit of confident predictions, too few of them wrong to learn more from."""
    falcon = FalconDiscover("precomputed", ranker="gated_confidence", random_state=0)
    # The last two rows, of the other class, are right.
    proba, wrong = np.append(P[:-2], [0.05, 0.05]), np.arange(ROWS) < errors
    y = np.where((proba > 0.5) ^ wrong, "yes", "no")
    with notices.collected():
        return falcon.fit(X, y, proba=proba, **drawn)


def test_sums_move_with_the_calibration_as_the_risks_do():
    falcon = audited(4)
    known, table = Baseline.of(falcon.audit_), falcon.new_rows(NEW)
    sums = number(BatchStatistics.of(falcon.audit_, table, P).sums[0])
    state = falcon.audit_.state(table, P, only_eligible=True)
    calibration, moved = known.ranker.calibration_, []
    for name in ("shift", "slope", "gate"):
        total = []
        for step in (1e-4, -1e-4):
            other = replace(calibration, **{name: getattr(calibration, name) + step})
            known.ranker.calibration_ = other
            total.append(known.ranker.risk(state).sum())
        known.ranker.calibration_ = calibration
        moved.append((total[0] - total[1]) / 2e-4)
    assert sums[RISK] == pytest.approx(known.ranker.risk(state).sum(), abs=1e-6)
    assert sums[MOVES] == pytest.approx(moved, rel=1e-4)


@pytest.mark.parametrize("errors", [0, 3])
def test_a_level_is_as_sure_as_the_errors_that_it_was_learned_from(errors):
    falcon = audited(errors)
    found = falcon.monitor(NEW, proba=P)
    # A Poisson count and one error more.
    assert found.standard_error == pytest.approx(found.errors / np.sqrt(errors + 1))
    counts = np.array([found.errors, found.errors_low, found.errors_high])
    rates = [found.rate, found.rate_low, found.rate_high]
    assert rates == pytest.approx(counts / found.eligible)


def test_independent_rows_have_no_design_effect_and_weighted_ones_tell_less():
    alone = Baseline.of(audited(4).audit_)
    assert alone.design_effect == 1.0
    assert alone.risk_error == pytest.approx(alone.risk_spread / np.sqrt(ROWS))
    weight = np.where(np.arange(ROWS) < 60, 1.0, 3.0)
    heavy = Baseline.of(audited(4, sample_weight=weight).audit_)
    # Kish: (60 + 180)^2 / (60 + 540) rows tell as much.
    assert {one.rows for one in heavy.counted if one.what == "column"} == {96.0}
    assert {one.rows for one in alone.counted if one.what == "column"} == {120.0}
    assert heavy.risk_error == pytest.approx(heavy.risk_spread / np.sqrt(96))
