"""Whole weights are repeated rows, in every figure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from falcon_discover import metrics
from falcon_discover.exceptions import InputError

FIGURES = {
    "capture_at": lambda r, w: metrics.capture_at(r.event, r.score, 0.3, sample_weight=w),
    "fc_count_at": lambda r, w: metrics.fc_count_at(r.event, r.score, 0.2, sample_weight=w),
    "captured_surprise": lambda r, w: metrics.captured_surprise(
        r.event, r.score, r.sure, 0.2, sample_weight=w
    ),
    "fc_auroc": lambda r, w: metrics.fc_auroc(r.event, r.score, sample_weight=w),
    "label_auroc": lambda r, w: metrics.label_auroc(r.code, r.scores, sample_weight=w),
    "eligible_auroc": lambda r, w: metrics.eligible_auroc(
        r.event, r.score, r.sure, 0.7, sample_weight=w
    ),
    "eligible_average_precision": lambda r, w: metrics.eligible_average_precision(
        r.event, r.score, r.sure, 0.7, sample_weight=w
    ),
    "aurc": lambda r, w: metrics.aurc(r.event, r.score, sample_weight=w),
    "errors_among_surest": lambda r, w: metrics.errors_among_surest(
        r.event, r.p, 1, sample_weight=w
    ),
    "ece": lambda r, w: metrics.ece(r.event, r.p, sample_weight=w),
    "cumulative_calibration_error": lambda r, w: metrics.cumulative_calibration_error(
        r.event, r.p, sample_weight=w
    ),
    "brier": lambda r, w: metrics.brier(r.event, r.p, sample_weight=w),
    "brier of three": lambda r, w: metrics.brier(r.code, r.scores, sample_weight=w),
    "nll": lambda r, w: metrics.nll(r.event, r.p, sample_weight=w),
    "nll of three": lambda r, w: metrics.nll(r.code, r.scores, sample_weight=w),
}


class Rows:
    """Scores with ties, events, and classes."""

    def __init__(self, seed, n):
        rng = np.random.default_rng(seed)
        self.score = rng.integers(0, 6, n) / 6 if seed % 2 else rng.uniform(size=n)
        self.event = rng.uniform(size=n) < 0.3
        self.sure = rng.uniform(0.5, 1, n)
        self.p = rng.uniform(size=n).round(1)
        self.scores = rng.dirichlet(np.ones(3), n)
        self.code = rng.integers(0, 3, n)
        self.weight = rng.integers(0, 5, n).astype(float)
        self.weight[0] = 1.0

    def repeated(self):
        again = object.__new__(Rows)
        times = self.weight.astype(int)
        again.__dict__ = {k: np.repeat(v, times, axis=0) for k, v in vars(self).items()}
        return again


@pytest.mark.parametrize("figure", FIGURES)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 40))
def test_whole_weights_are_repeated_rows(figure, seed, n):
    rows = Rows(seed, n)
    weighted = FIGURES[figure](rows, rows.weight)
    assert weighted == pytest.approx(FIGURES[figure](rows.repeated(), None), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("figure", [name for name in FIGURES if name != "errors_among_surest"])
def test_the_scale_of_weights_hardly_matters(figure):
    rows = Rows(2, 400)
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, 400)
    once, ten = (FIGURES[figure](rows, times * weight) for times in (1.0, 10.0))
    assert ten == pytest.approx(10 * once if figure == "fc_count_at" else once, rel=1e-9)


def test_weights_must_match_the_rows():
    with pytest.raises(InputError, match="one for each row, 3"):
        metrics.fc_auroc([0, 1, 1], [0.1, 0.2, 0.3], sample_weight=[1, 2])
    with pytest.raises(InputError, match="finite numbers of 0 or more"):
        metrics.fc_auroc([0, 1, 1], [0.1, 0.2, 0.3], sample_weight=[1, 2, -1])


def test_a_budget_is_a_share_of_what_rows_stand_for():
    # The first row stands for 8 of 10: half of the budget lies inside it.
    found = metrics.fc_count_at([1, 0, 0], [3, 2, 1], 0.4, sample_weight=[8, 1, 1])
    assert found == 4
