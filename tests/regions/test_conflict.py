"""The best slice of a grid is a choice, and is judged as one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from falcon_discover.metrics import capture_at
from falcon_discover.regions.chosen import _dealt, beyond_confidence, doubt_strata
from falcon_discover.regions.conflict import (
    Conflict,
    best_slice,
    chosen_gain,
    conflict_grid,
    folds_by_confidence,
    gap_interval,
)


def signals_of(rng, n, doubt=None):
    """Signals that follow doubt where it is given, as drift does in models."""
    weak = rng.random(n) if doubt is None else doubt * np.exp(0.8 * rng.normal(size=n))
    return {
        "support": 1 / (1 + weak),
        "label_agreement": rng.integers(13, 26, n) / 25,
        "mean_drift": weak * rng.random(n),
        "label_consistency": rng.integers(12, 19, n) / 18,
    }


def test_gap_by_hand():
    # 10 of 50 inside, 10 of 950 outside: Gamma = 0.2 - 20 / 1000.
    gamma, low, high = gap_interval(10, 50, 20, 1000)
    assert gamma == pytest.approx(0.18)
    assert 0 < low < gamma < high


@pytest.fixture(scope="module")
def planted():
    rng = np.random.default_rng(0)
    n = 5000
    signals = {
        "support": rng.random(n),
        "label_agreement": rng.random(n),
        "mean_drift": rng.random(n),
        "label_consistency": np.ones(n),
    }
    conflict = (signals["support"] < 0.2) & (signals["mean_drift"] > 0.8)
    return signals, rng.random(n) < np.where(conflict, 0.5, 0.01), np.full(n, 0.95)


def test_the_slice_is_found_where_it_was_planted(planted):
    best = best_slice(conflict_grid(*planted))
    assert (best.evidence, best.instability) == ("support", "mean_drift")
    assert best.evidence_at_most == pytest.approx(0.2, abs=0.02)
    assert best.instability_at_least == pytest.approx(0.8, abs=0.02)
    # Half of the slice is wrong, and 3% of all rows.
    assert 0.3 < best.excess_low < best.excess == pytest.approx(0.47, abs=0.06)
    assert best.p_value == 0.001


def shown(signals, events, confidence):
    """Whether any slice is told to be worse, by all slices together and each by itself."""
    tested = [s for s in conflict_grid(signals, events, confidence) if np.isfinite(s.p_value)]
    return any(s.excess_low > 0 for s in tested), any(s.low > 0 for s in tested)


def test_the_best_of_many_slices_is_not_shown_as_worse_by_its_choice(planted):
    signals, events, confidence = planted
    rng = np.random.default_rng(1)
    together, alone = np.sum(
        [shown(signals, rng.permutation(events), confidence) for _ in range(20)], axis=0
    )
    # Six or more of 20 have a chance of 0.03%.
    assert together <= 5
    assert alone > 5


def test_what_confidence_admits_is_no_conflict():
    """A model that is wrong as often as it says; drift is larger where it is in doubt."""
    seen = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        confidence = 1 - 0.1 * rng.random(2000) ** 2
        events = rng.random(2000) < 1 - confidence
        seen.append(shown(signals_of(rng, 2000, 1 - confidence), events, confidence))
    together, alone = np.sum(seen, axis=0)
    assert together <= 5
    # The paper's Gamma does not know confidence.
    assert alone >= 18


def test_conditions_that_all_rows_meet_make_no_slice():
    rng = np.random.default_rng(2)
    signals = signals_of(rng, 800) | {"label_consistency": np.ones(800)}
    events = rng.random(800) < 0.05
    slices = conflict_grid(signals, events, np.full(800, 0.95))
    assert {s.instability for s in slices} == {"mean_drift"}
    assert conflict_grid(signals, events, np.full(800, 0.5)) == []


def test_slices_of_a_mass_that_does_not_count_are_not_tested():
    rng = np.random.default_rng(3)
    slices = conflict_grid(signals_of(rng, 2000), rng.random(2000) < 0.05, np.full(2000, 0.95))
    tested = [s for s in slices if np.isfinite(s.p_value)]
    assert {0.01 <= s.mass <= 0.30 for s in tested} == {True}
    assert all(0.01 <= s.mass <= 0.30 for s in slices) is (len(tested) == len(slices))


def test_events_are_dealt_out_as_by_hand():
    """Within each stratum the number in a slice is hypergeometric."""
    rng = np.random.default_rng(4)
    stratum = np.repeat([0, 1], [40, 60])
    inside = np.array([rng.random(100) < 0.3, rng.random(100) < 0.5])
    events = np.isin(np.arange(100), [0, 1, 2, 50, 51, 52, 53])
    dealt = _dealt(inside, events, stratum)
    for counts, slice_ in zip(dealt.T, inside, strict=True):
        parts = [hypergeom(40, slice_[:40].sum(), 3), hypergeom(60, slice_[40:].sum(), 4)]
        mean, variance = sum(p.mean() for p in parts), sum(p.var() for p in parts)
        # Four standard errors of 999 draws.
        assert counts.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / 999))
        assert counts.var() == pytest.approx(variance, rel=0.2)


def test_bound_and_p_value_say_the_same():
    rng = np.random.default_rng(5)
    n = 1500
    confidence = 1 - 0.1 * rng.random(n)
    inside = np.array([rng.random(n) < share for share in rng.uniform(0.02, 0.3, 40)])
    events = rng.random(n) < np.where(inside[:3].any(axis=0), 0.2, 0.04)
    low, p_value = beyond_confidence(inside, events, confidence)
    assert (low > 0).tolist() == (p_value <= 0.05).tolist()
    assert 0 < (low > 0).sum() < 40
    # Rows may come in any order.
    order = rng.permutation(n)
    again = beyond_confidence(inside[:, order], events[order], confidence[order])
    np.testing.assert_allclose((low, p_value), again)


def test_rows_of_equal_confidence_share_a_stratum():
    confidence = np.repeat([0.9, 0.95, 0.99, 1.0], 250)
    strata = doubt_strata(confidence)
    assert [len(np.unique(strata[confidence == c])) for c in np.unique(confidence)] == [1] * 4
    assert doubt_strata(np.ones(5)).tolist() == [0] * 5


def test_copies_of_rows_are_no_new_evidence():
    rng = np.random.default_rng(6)
    rows = np.tile(np.arange(1000), 5)
    shown = {"all": 0, "distinct": 0}
    for _ in range(12):
        signals = {name: values[rows] for name, values in signals_of(rng, 1000).items()}
        events, confidence = (rng.random(1000) < 0.05)[rows], np.full(5000, 0.95)
        for name, distinct in (("all", None), ("distinct", np.arange(1000))):
            best = best_slice(conflict_grid(signals, events, confidence, 0.9, distinct))
            shown[name] += best.excess_low > 0
    assert shown["all"] >= 8
    assert shown["distinct"] <= 4


def test_the_luck_of_the_choice_is_not_in_the_gain():
    """Ten rankers that know nothing against one."""
    rng = np.random.default_rng(7)
    honest, lucky = [], []
    for _ in range(60):
        events = rng.random(400) < 0.1
        family, prior = list(rng.normal(size=(10, 400))), rng.normal(size=400)
        honest.append(chosen_gain(events, family, [prior], folds_by_confidence(rng.random(400))))
        found = [capture_at(events, score, 0.2) for score in (*family, prior)]
        lucky.append(max(found[:-1]) - found[-1])
    assert np.mean(lucky) > 0.05
    assert abs(np.mean(honest)) < 3 * np.std(honest) / np.sqrt(60)
    assert np.isnan(chosen_gain(np.zeros(10, dtype=bool), [prior], [prior], np.arange(10) % 2))


def test_a_regime_is_strong_only_with_evidence_and_gain(planted):
    slices = conflict_grid(*planted)
    assert Conflict.judge(slices, 100, 0.2).regime == "strong"
    assert Conflict.judge(slices, 100, 0.05).regime == "mixed"
    assert Conflict.judge(slices, 20, 0.2).regime == "boundary"
    signals, events, confidence = planted
    dealt = np.random.default_rng(1).permutation(events)
    nothing = Conflict.judge(conflict_grid(signals, dealt, confidence), 100, 0.2)
    assert nothing.regime == "mixed"
    assert "no more than chance explains" in repr(nothing)
    assert "at least +" in repr(Conflict.judge(slices, 100, 0.2))
