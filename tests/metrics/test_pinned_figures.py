"""Figures of one small table, to seven digits, and some by hand: formulas stay what they are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from falcon_discover.metrics.clustered import area_interval, difference_interval
from falcon_discover.metrics.decisions import probabilities
from falcon_discover.metrics.design import Design
from falcon_discover.metrics.intervals import (
    auroc_difference,
    auroc_interval,
    joined_reach,
    newcombe,
)
from falcon_discover.metrics.ordering import scramble, tie_keys

ROWS = 80
RNG = np.random.default_rng(7)
EVENTS = np.arange(ROWS) % 5 == 0
SCORE = np.round(RNG.normal(size=ROWS) + 1.2 * EVENTS, 1)
OTHER = np.round(0.6 * SCORE + RNG.normal(size=ROWS), 1)
GROUPS = np.arange(ROWS) // 3
WEIGHT = 1.0 + np.arange(ROWS) % 3
DESIGNS = {
    "groups": Design.of(ROWS, None, GROUPS),
    "weights": Design.of(ROWS, WEIGHT, None),
    "both": Design.of(ROWS, WEIGHT, GROUPS),
}

AUROC = (0.671274208, 0.914487754)
DIFFERENCE = (0.126953125, -0.022311971, 0.276218221)
NEWCOMBE = (0.608000777, 0.906206452)
# The share of events, the AUROC, the difference of two.
BY_DESIGN = {
    "groups": (
        (0.118859086, 0.289361746),
        (0.671459203, 0.914422163),
        (0.126953125, -0.018076164, 0.271982414),
    ),
    "weights": (
        (0.109035144, 0.311772274),
        (0.611793592, 0.916286051),
        (0.191154234, 0.02451417, 0.357794298),
    ),
    "both": (
        (0.114839497, 0.300463725),
        (0.633062212, 0.909075973),
        (0.191154234, 0.027365158, 0.352294675),
    ),
}
ORDER = [2, 4, 6, 3, 0, 5, 7, 1]


def test_intervals_of_one_table():
    assert auroc_interval(EVENTS, SCORE) == pytest.approx(AUROC, abs=1e-7)
    assert auroc_difference(EVENTS, SCORE, OTHER) == pytest.approx(DIFFERENCE, abs=1e-7)
    assert newcombe(0.8, 10, 50, 0.95) == pytest.approx(NEWCOMBE, abs=1e-7)


@pytest.mark.parametrize("name", list(DESIGNS))
def test_intervals_of_groups_and_weights(name):
    design = DESIGNS[name]
    share, area, difference = BY_DESIGN[name]
    assert design.share_interval(EVENTS) == pytest.approx(share, abs=1e-7)
    assert area_interval(EVENTS, SCORE, design) == pytest.approx(area, abs=1e-7)
    assert difference_interval(EVENTS, SCORE, OTHER, design) == pytest.approx(difference, abs=1e-7)


def test_a_wider_level_gives_wider_intervals_of_groups():
    for design in DESIGNS.values():
        low, high = area_interval(EVENTS, SCORE, design, 0.8)
        lower, higher = area_interval(EVENTS, SCORE, design, 0.99)
        assert lower < low < high < higher


def test_reaches_are_joined_by_hand():
    areas, intervals = (0.8, 0.7), ((0.7, 0.9), (0.55, 0.8))
    # Down .10 and .15, up .10 and .10; half of it correlated.
    down, up = joined_reach(areas, intervals, 0.5)
    assert down == pytest.approx(math.sqrt(0.5 * (0.1**2 + 0.1**2)))
    assert up == pytest.approx(math.sqrt(0.5 * (0.1**2 + 0.15**2) + 0.5 * 0.05**2))
    down, up = joined_reach(areas, intervals, -0.5)
    assert down == pytest.approx(math.sqrt(0.1**2 + 0.1**2 + 0.1 * 0.1))
    assert up == pytest.approx(math.sqrt(0.1**2 + 0.15**2 + 0.1 * 0.15))


def test_the_ends_of_probabilities_are_probabilities():
    assert probabilities([0.0, 1.0]).tolist() == [0.0, 1.0]


def test_ties_are_drawn_by_splitmix64():
    # The first outputs of the published generator for the states 0 and 1.
    assert [hex(v) for v in scramble(np.arange(2, dtype=np.uint64)).tolist()] == [
        "0xe220a8397b1dcdaf",
        "0x910a2dec89025cc1",
    ]
    # Saved lists rest on this order.
    assert tie_keys(np.arange(8, dtype=np.uint64), 3).argsort().tolist() == ORDER
