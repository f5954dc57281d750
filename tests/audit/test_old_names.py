"""What 0.1.0 had keeps working for one release, or is named here as gone."""

from __future__ import annotations

import warnings
from importlib import import_module
from pathlib import Path

import pytest

import falcon_discover
from falcon_discover import FalconDiscover, Finding, datasets
from falcon_discover.audit.curves import Curves
from support.findings import made_up

NAMES = (Path(__file__).parents[1] / "data" / "names-of-0.1.0.txt").read_text().splitlines()
# Inner parts that nobody can use alone, and that have no successor.
GONE = {
    "Answers", "BareDiscovery", "BareMeasure", "BareReference", "Board", "Evidence", "LoadedAudit",
    "Measure", "NoRegions", "OfScores", "Savable", "Shown", "calibration_plot", "canvas",
    "change_chart", "columns", "conflict_figure", "contribution_plot", "half", "interval_chart",
    "own_captures", "percent_axis", "positive_scores", "pyplot", "region_bar", "region_plot",
    "save", "shape_at", "signal_frame", "signal_plot", "ticks", "tied", "wrapped",
}  # fmt: skip


def test_every_name_of_the_first_release_is_found_or_said_to_be_gone():
    missing = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for line in NAMES:
            module, name = line.split()
            try:
                getattr(import_module(module), name)
            except (AttributeError, ModuleNotFoundError):
                missing.add(name)
    assert missing - {"shown"} == GONE


def test_an_old_module_says_where_its_content_is_now():
    with pytest.warns(DeprecationWarning, match=r"tables\.Labels is now .*data\.labels\.Labels"):
        from falcon_discover.tables import Labels
    assert Labels is import_module("falcon_discover.data.labels").Labels


def test_a_discovery_is_a_finding():
    with pytest.warns(DeprecationWarning, match="is now falcon_discover.Finding"):
        assert falcon_discover.Discovery is Finding
    rows = datasets.make_planted(200, random_state=0)
    falcon = FalconDiscover("logistic_regression", ranker="s_stab", random_state=0)
    falcon.fit(rows.X, rows.y)
    with pytest.warns(DeprecationWarning, match=r"discovery_ is now examine\(\)"):
        assert falcon.discovery_ is falcon.examine()


def test_the_level_of_a_statement_has_a_name_of_its_own():
    found = made_up(400)
    now = found.review_budget(0.05, confidence_level=0.9)
    with pytest.warns(DeprecationWarning, match="confidence is now confidence_level"):
        then = found.review_budget(0.05, confidence=0.9)
    assert then.budget == now.budget
    with pytest.warns(DeprecationWarning, match="confidence is now confidence_level"):
        assert then.confidence == 0.9
    with pytest.warns(DeprecationWarning, match="confidence is now confidence_level"):
        assert found.missed_bound(0.1, confidence=0.9) == found.missed_bound(0.1, 0.9)


def test_regions_are_unexpected_or_expected():
    regions = made_up(50).regions
    with pytest.warns(DeprecationWarning, match="rules is now unexpected"):
        assert regions.rules is regions.unexpected
    with pytest.warns(DeprecationWarning, match="foreseen is now expected"):
        assert regions.foreseen is regions.expected


def test_frames_are_drawn_by_the_old_functions():
    pytest.importorskip("matplotlib")
    from falcon_discover import plots

    with pytest.warns(DeprecationWarning, match="reliability_plot is now"):
        axes = plots.reliability_plot(Curves(made_up(400)).reliability())
    assert axes.get_xlabel() == made_up(400).plot.reliability().get_xlabel()
