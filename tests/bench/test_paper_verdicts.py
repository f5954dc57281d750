"""What the three verdicts do when the truth is known, and that every difference has a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom, nct, t

from falcon_discover.bench.check import (
    events_of_chance,
    events_of_interval,
    reason_of,
    reasons,
)
from falcon_discover.bench.verdicts import (
    AUROC,
    CAPTURE,
    COUNT,
    compare,
    compare_chance,
    kind_of,
    operating,
)

CHECK = Path(__file__).parents[2] / "results" / "check.csv"


def lines(seed_sd: float, *, half: float = np.nan, figures: int = 4) -> pd.DataFrame:
    """Return figures that are all alike: captures over four seeds."""
    return pd.DataFrame(
        {
            "figure": ["family_cap20"] * figures,
            "seeds": 4,
            "seed_sd": seed_sd,
            "finest": 0.0,
            "paper_half_width": half,
            "half_width": 0.1,
            "margin": CAPTURE.margin,
        }
    )


def test_an_exact_replication_differs_in_one_case_of_twenty():
    # Two means of four draws each: t with the pooled sqrt(2) is exact up to the added rounding.
    share = operating(lines(0.2), draws=10_000).loc[0.0]
    assert 0.03 < share["differs"] < 0.05
    # Seeds this far apart can hardly show agreement within 0.074.
    assert share["agrees"] < 0.02


def test_seeds_that_scatter_less_than_the_margin_show_agreement():
    share = operating(lines(0.01), draws=10_000)
    assert share.loc[0.0, "agrees"] > 0.99
    # One or two standard deviations are 0.01 and 0.02: too small to matter.
    assert share.loc[2.0, "agrees"] > 0.95


def test_larger_shifts_differ_more_often():
    share = operating(lines(0.2), draws=10_000)["differs"]
    assert share[0.0] < share[1.0] < share[2.0]
    # The power of that t test, by the noncentral distribution.
    limit, noncentral = t.ppf(0.975, 3), 2.0 / np.sqrt(2 / 4)
    power = nct.sf(limit, 3, noncentral) + nct.cdf(-limit, 3, noncentral)
    assert share[2.0] == pytest.approx(power, abs=0.03)


def test_agreement_needs_the_interval_within_the_margin_and_not_only_the_value():
    near = (0.70, 0.71, 0.69, 0.70)
    assert compare(0.70, near, 0.71, CAPTURE).verdict == "agrees"
    wide = (0.40, 1.00, 0.60, 0.80)
    assert compare(0.70, wide, 0.71, CAPTURE).verdict == "cannot tell"


def test_a_significant_difference_that_is_too_small_to_matter_is_agreement():
    seeds = (0.7000, 0.7001, 0.7002, 0.7001)
    found = compare(float(np.mean(seeds)), seeds, 0.710, CAPTURE)
    assert abs(found.difference) > found.half_width
    assert found.verdict == "agrees"


def test_half_width_by_hand():
    # Spread 0.1 over four seeds, t(3) = 3.182: 3.182 * 0.1 * sqrt(2/4) + 0.0005.
    seeds = np.array([-1.0, 1.0, -1.0, 1.0]) * 0.1 * np.sqrt(3 / 4)
    assert compare(0.0, tuple(seeds), 0.0, AUROC).half_width == pytest.approx(0.2255, abs=1e-4)
    # With a printed interval of +- 0.04: sqrt(0.1591^2 + 0.04^2) + 0.0005.
    found = compare(0.0, tuple(seeds), 0.0, AUROC, 0.04)
    assert found.half_width == pytest.approx(0.1646, abs=1e-4)


def test_seeds_that_agree_by_accident_are_no_certainty():
    # No event found in any of four splits with six events each, the paper found 0.167.
    assert compare(0.0, (0.0,) * 4, 0.167, CAPTURE).verdict == "differs"
    assert compare(0.0, (0.0,) * 4, 0.167, CAPTURE, finest=0.5 / 6).verdict == "cannot tell"


def test_counts_are_judged_relatively_and_undefined_figures_not_at_all():
    assert compare(102.0, (101, 103, 102, 102), 99.0, COUNT).verdict == "agrees"
    assert compare(12.0, (11, 13, 12, 12), 9.0, COUNT).verdict == "differs"
    assert compare(np.nan, (np.nan,) * 4, 0.5, AUROC).verdict == "not defined"
    assert compare(0.5, (0.5, np.nan, np.nan, np.nan), 0.5, AUROC).verdict == "cannot tell"


def test_p_values_are_judged_by_size():
    assert compare_chance(0.0001, 0.0, 300).verdict == "agrees"
    assert compare_chance(0.03, 0.052, 10_000).verdict == "agrees"
    assert compare_chance(0.002, 0.052, 10_000).verdict == "differs"
    assert compare_chance(0.9, 0.2, 10_000).verdict == "cannot tell"


@pytest.mark.parametrize(
    ("figure", "kind"),
    [
        ("auroc_catboost", "AUROC"),
        ("cap20_weighted", "share of events found or held"),
        ("learned", "share of events found or held"),
        ("learned_selected", "choice"),
        ("delta_ece", "ECE"),
        ("null_mean", "random slices"),
        ("p_not_positive", "p"),
        ("support", "support or correctness of a region"),
        ("support_only", "share of events found or held"),
    ],
)
def test_every_figure_has_its_kind(figure, kind):
    assert kind_of(figure).name == kind


def test_every_differing_value_in_the_results_has_a_reason():
    known = pd.read_csv(CHECK)
    differing = known[known["verdict"] == "differs"]
    assert len(differing) > 0
    for line in differing.itertuples():
        assert line.reason == reason_of(line.table, line.dataset, line.figure)


def test_what_no_reason_explains_is_said_to_be_unexplained():
    assert reasons()[-1].key == "not_explained"
    assert reason_of("tab:main_discrepancy_family", "adult", "family_auroc") == "not_explained"
    # Fixed backbones on Phoneme have the same base model, so its reason does not hold there.
    place = ("tab:appendix_fixed_backbone_full", "phoneme", "cap20_catboost")
    assert reason_of(*place) == "not_explained"


def test_every_reason_but_the_last_holds_for_some_printed_value():
    known = pd.read_csv(CHECK)
    places = known[["table", "dataset", "figure"]].itertuples(index=False)
    held = {reason_of(*place) for place in places}
    assert held == {reason.key for reason in reasons()}


def test_implied_events_are_those_that_give_the_interval():
    rows, events = 9_769, 117
    size = -(-rows // 5)
    low, high = hypergeom.ppf([0.025, 0.975], rows, events, size) / events
    assert events in events_of_interval(rows, low, high)
    chance = hypergeom.sf(49, rows, events, size)
    assert events in events_of_chance(rows, 50 / events, chance)
