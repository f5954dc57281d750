"""Confirmed regions on other labelled rows: held, did not hold, or these rows cannot tell."""

import json

import numpy as np
import pandas as pd
import pytest

from falcon_discover import FalconDiscover, datasets, load
from falcon_discover.regions.confirm import STRATIFIERS, excess_p_value
from falcon_discover.regions.retest import _Count, retested, weaker_p_value
from falcon_discover.regions.rules import Rule
from falcon_discover.report.sections.regions import regions_section


@pytest.fixture(scope="module")
def audit():
    planted = datasets.make_planted(2_500, shape="categorical", random_state=1)
    return FalconDiscover(planted.model, cv=2, random_state=0).fit(planted.X, planted.y)


def examined(audit, shape, n_rows=1_500, seed=11, copies=1):
    new = datasets.make_planted(n_rows, shape=shape, random_state=seed)
    rows = np.tile(np.arange(n_rows), copies)
    return audit.examine(new.X.iloc[rows].reset_index(drop=True), new.y[rows])


def first(found):
    """The line of the planted region."""
    return found.regions.frame().iloc[0]


def test_a_region_that_is_there_again_held(audit):
    found = examined(audit, "categorical")
    line = first(found)
    assert line["outcome"] == found.regions.outcomes[0] == "held"
    assert line["here_p_value"] <= line["here_adjusted_p"] <= 0.05
    assert line["claim"] == "more than predicted"
    printed = repr(found.regions)
    assert printed.startswith("Regions that the fit confirmed to have more confident errors")
    assert "expected: held\n" in printed
    assert "independent" in printed


def test_a_region_that_is_harmless_here_did_not_hold_and_is_told_once(audit):
    found = examined(audit, "none")
    assert first(found)["outcome"] == "did not hold"
    printed = repr(found.regions)
    name = found.regions.names()[0]
    assert printed.count(name) == 1
    assert f"{name}: " in printed
    assert "expected: did not hold\n" in printed
    # What was claimed at the fit is not claimed of these rows.
    assert "Regions with more confident errors" not in printed
    assert "frequent" not in printed


def test_few_rows_cannot_tell(audit):
    new = datasets.make_planted(60, shape="none", random_state=3)
    assert first(audit.examine(new.X, new.y))["outcome"] == "cannot tell"


def test_at_the_fit_nothing_is_tested_again(audit):
    assert set(audit.regions_.outcomes) == {None}
    assert "outcome" not in audit.regions_.frame()
    assert "expected: " not in repr(audit.regions_)
    assert audit.regions_.text().endswith("independent; exact copies count once.")


def test_the_p_value_is_the_exact_test_of_the_fixed_rule_on_all_these_rows(audit):
    found = examined(audit, "none")
    rule, sure = found.regions[0], found.state.eligible(0.9)
    events = (found.state.decision != found.codes)[sure]
    inside = rule.holds(found.table.frame)[sure]
    stratum = STRATIFIERS["confidence"](found.state.confidence[sure])
    assert first(found)["here_p_value"] == excess_p_value(events, inside, stratum)


@pytest.mark.filterwarnings("ignore:.*have a twin")
def test_copies_are_no_more_evidence_here_than_one_row_each(audit):
    once, often = (examined(audit, "none", 300, 5, copies) for copies in (1, 8))
    assert first(often)["here_p_value"] >= first(once)["here_p_value"] - 1e-12
    assert first(often)["here_events"] == 8 * first(once)["here_events"]
    few = examined(audit, "none", 60, 3, copies=20)
    assert first(few)["outcome"] == "cannot tell"


def test_a_weaker_excess_is_told_from_counts_with_chance_on_both_sides():
    before = _Count(events=20, expected=5.0, eligible=100)
    # Half of 20 + 5 by chance, so five or fewer have P = .002 (binomial, n = 25).
    assert weaker_p_value(before, _Count(5, 5.0, 100)) == pytest.approx(2 * 0.00204, abs=2e-5)
    assert weaker_p_value(before, _Count(20, 5.0, 100)) == 1.0
    # Neither fewer rows of the region nor fewer errors everywhere make a weaker one.
    assert weaker_p_value(before, _Count(5, 1.2, 100)) > 0.5
    assert weaker_p_value(before, _Count(5, 5.0, 25)) > 0.5
    assert weaker_p_value(before, _Count(0, 0.0, 0)) == 1.0


def test_the_report_says_what_became_of_each_region(audit, tmp_path):
    examined(audit, "none").report(tmp_path / "r", contributions=False)
    summary = json.loads((tmp_path / "r" / "summary.json").read_text())
    assert summary["regions"][0]["outcome"] == "did not hold"
    assert summary["curves"]["regions"][1]["outcome"] == "did not hold"
    said = [words.key for words in regions_section(summary).lead]
    assert {"regions.again", "regions.did not hold", "regions.independent"} <= set(said)
    assert "regions.more than predicted" not in said
    page = (tmp_path / "r" / "report.html").read_text()
    assert all(f'data-key="{key}"' in page for key in said)


@pytest.mark.filterwarnings("ignore:.*have a twin")
def test_a_saved_audit_tests_its_regions_again_likewise(tmp_path):
    planted = datasets.make_planted(1_200, shape="missing", random_state=0)
    X, y = pd.concat([planted.X] * 2, ignore_index=True), np.tile(planted.y, 2)
    falcon = FalconDiscover("logistic_regression", cv=2, random_state=0).fit(X, y)
    again = load(falcon.save(tmp_path / "a.falcon"))
    rule = again.regions_.confirmed[0]
    assert rule.confirmation.eligible > rule.confirmed_once.eligible
    outcomes = [examined(f, "none", 600).regions.retests for f in (falcon, again)]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] is not None


def test_a_rule_saved_before_there_were_copies_to_count_is_tested_again_too(audit):
    rule = audit.regions_[0]
    old = object.__new__(Rule)
    known = {name: value for name, value in vars(rule).items() if name != "confirmed_once"}
    vars(old).update(known)
    assert old.confirmed_once is None
    new = examined(audit, "none")
    rows = new.table.frame, new.state.confidence, new.state.decision != new.codes
    tests = [retested([(r, "confidence")], *rows, new.state.eligible(0.9)) for r in (old, rule)]
    assert tests[0] == tests[1]
