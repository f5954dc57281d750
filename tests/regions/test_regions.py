"""Regions as a finding: each has its own figures and name, and no sentence contradicts them."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from falcon_discover import datasets
from falcon_discover.audit.curves import Curves
from falcon_discover.audit.finding import Finding
from falcon_discover.data.table import Table
from falcon_discover.evaluation.results import records
from falcon_discover.metrics import false_confidence
from falcon_discover.metrics.intervals import share_interval
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.regions.conditions import IsMissing, OneOf, Range, in_words, short_names
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.regions.retest import excess_claim, frequency_claim
from falcon_discover.regions.rules import Figures, Rule
from falcon_discover.regions.search import find_regions
from falcon_discover.report import About, Report, html, markdown
from falcon_discover.report.build import _regions
from falcon_discover.report.labels import CAPTIONS
from falcon_discover.report.sections.regions import regions_section
from falcon_discover.report.write import write_folder
from falcon_discover.signals.state import State
from support.findings import changed, made_up
from support.pages import Page, markdown_tables

START = "average_outstanding_balance_across_all_"
CURRENT, SAVINGS = f"{START}current_accounts", f"{START}savings_accounts"
LEVELS = tuple(f"{'the same words again and again ' * 3}{word}" for word in ("one", "two"))
ANY = Figures(10, 10, 5, 0.5, 0.19, 0.81, 5.0, 1.0)


def rule_of(*conditions, figures=ANY, p=0.001):
    return Rule(conditions, figures, figures, p, p, np.arange(0))


@pytest.fixture(scope="module")
def alike():
    """A finding on new rows with regions that read alike at their beginning."""
    found = made_up(600)
    rng = np.random.default_rng(1)
    table = found.table.frame.assign(
        **{CURRENT: rng.integers(0, 10, 600), SAVINGS: rng.integers(0, 12, 600)},
        branch=rng.choice([*LEVELS, "other"], 600, p=[0.2, 0.5, 0.3]),
        since=pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 600), "D"),
    )
    table.loc[::7, "income"] = np.nan
    found = changed(found, table=Table.from_input(table))
    day = pd.Timestamp("2024-03-01").timestamp()
    rules = (
        rule_of(Range(CURRENT, 9.0, None)),
        rule_of(Range(SAVINGS, 9.0, None)),
        rule_of(OneOf("branch", (LEVELS[0],))),
        rule_of(OneOf("branch", (LEVELS[1],)), Range("since", day, None, "datetime")),
        rule_of(IsMissing("income"), OneOf("job", ("cook",), negated=True)),
    )
    frequent = (rule_of(Range(CURRENT, 3.0, 5.0)),)
    regions = RegionSet(rules, frequent, found.regions.clusters)
    events = false_confidence(found.codes, found.state.p, found.tau)
    state, frame = found.state, found.table.frame
    return changed(
        found, regions=regions.described(regions.clusters, frame, state, found.tau, events)
    )


@pytest.fixture(scope="module")
def alike_report(alike):
    return Report.of(alike, About(contributions=False))


def counts(found):
    """Confident predictions and errors of each region, counted again from its conditions."""
    sure = found.state.eligible(found.tau)
    wrong = false_confidence(found.codes, found.state.p, found.tau)
    inside = [rule.holds(found.table.frame) for rule in found.regions.numbered]
    return [(int((held & sure).sum()), int((held & wrong).sum())) for held in inside]


def test_regions_that_read_alike_keep_their_own_figures(alike, alike_report):
    own = counts(alike)
    assert len(set(own)) == len(own)
    assert [(f.eligible, f.events) for f in alike.regions.here] == own
    frame = alike.regions.frame()
    assert list(zip(frame["here_eligible"], frame["here_events"], strict=True)) == own
    summary = alike_report.summary["regions"]
    assert [(r["here_eligible"], r["here_events"]) for r in summary] == own
    printed = re.findall(r"([\d,]+) of ([\d,]+) confident predictions wrong", repr(alike.regions))
    assert sorted((int(n), int(wrong)) for wrong, n in printed) == sorted(own)
    tables = [Page(html(alike_report)).tables, markdown_tables(markdown(alike_report))]
    words = [rule.words for rule in alike.regions.numbered]
    for table in tables:
        told = {row[0]: (int(row[2]), int(row[3])) for row in table[CAPTIONS["regions"]][2:]}
        assert told == dict(zip(words, own, strict=True))


def test_words_are_full_in_files_and_names_differ_where_shown(alike, alike_report, tmp_path):
    words = [rule.words for rule in alike.regions.numbered]
    names = alike.regions.names()
    assert f"{CURRENT} >= 9" in words
    assert len(set(names)) == len(names)
    assert all(len(name) <= 160 for name in names)
    assert names[0] == "average_outstanding_…ll_current_accounts >= 9"
    write_folder(alike_report, tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [r["rule"] for r in summary["regions"]] == words
    for review in (
        pd.read_csv(tmp_path / "review.csv", keep_default_na=False),
        pd.read_parquet(tmp_path / "review.parquet"),
    ):
        assert set(review["region"]) <= {"", *words}
        told = dict(zip(review["region_id"], review["region"], strict=True))
        assert told.pop(0) == ""
        assert told == {number: words[number - 1] for number in told}
        assert len(told) >= 4
    page = (tmp_path / "report.html").read_text()
    for rule, name in zip(words, names, strict=True):
        shown, full = (t.replace("<", "&lt;").replace(">", "&gt;") for t in (name, rule))
        assert f'<bdi title="{full}">{shown}</bdi>' in page
    rows = alike_report.rows
    place, row = rows["names"].index("regions"), rows["names"].index("row")
    told = alike_report.review.set_index("row")["region_id"]
    for line in rows["rows"]:
        number = told[line[row]]
        # The first region that holds the row is the one in the files; all are on the page.
        shown = rows["regions"][line[place][0]] if line[place] else None
        assert shown == (names[number - 1] if number else None)


def selected(conditions, table):
    """Rows that satisfy conditions as the summary has them, by a reader of its documentation."""
    inside = pd.Series(True, table.index)
    for condition in conditions:
        column, value = table[condition["column"]], condition["value"]
        inside &= {
            "<=": lambda c, v: c <= v,
            ">=": lambda c, v: c >= v,
            "between": lambda c, v: c.between(*v),
            "in": lambda c, v: c.isin([x for x in v if x is not None]) | (c.isna() & (None in v)),
            "not in": lambda c, v: (
                ~(c.isin([x for x in v if x is not None]) | (c.isna() & (None in v)))
            ),
            "is missing": lambda c, _: c.isna(),
            "is known": lambda c, _: c.notna(),
        }[condition["operator"]](column, value)
    return inside.to_numpy()


def test_a_program_selects_the_rows_of_a_region_by_its_conditions(alike, alike_report):
    summary = json.loads(json.dumps(alike_report.summary["regions"], allow_nan=False))
    table = alike.table.native
    for region in summary:
        assert selected(region["conditions"], table).sum() == region["here_rows"]
    assert summary[3]["conditions"][1] == {
        "column": "since", "operator": ">=", "value": "2024-03-01T00:00:00",
    }  # fmt: skip


@pytest.mark.parametrize(
    "condition",
    [
        Range("age", 25.0, 31.0),
        Range("age", None, 31.0),
        Range("age", None, None),
        IsMissing("age"),
        OneOf("job", ("clerk", None)),
        OneOf("job", ("clerk",), negated=True),
        OneOf("job", ("clerk", None), negated=True),
    ],
    ids=str,
)
def test_plain_conditions_hold_where_the_condition_does(condition):
    table = pd.DataFrame({"age": [20.0, 31.0, np.nan], "job": ["clerk", None, "cook"]})
    plain = json.loads(json.dumps(condition.to_dict()))
    held = condition.holds(Table.from_input(table).frame)
    np.testing.assert_array_equal(selected([plain], table), held)


@given(st.lists(st.text("ab …", min_size=1, max_size=4), min_size=1, max_size=5))
def test_no_two_short_names_are_equal(middles):
    rules = [[Range("x" * 30 + middle + "y" * 200, 0.5, None)] for middle in middles]
    names = short_names(rules)
    assert len(set(names)) == len(names)


def test_a_short_name_keeps_the_head_and_the_tail_and_widens_only_where_it_must():
    one, two = "a" * 60 + "b" + "c" * 60, "a" * 60 + "d" + "c" * 60
    alone = short_names([[IsMissing(one)]])
    assert alone == [f"{'a' * 20}…{'c' * 19} is missing"]
    first, second, other = short_names([[IsMissing(one)], [IsMissing(two)], [IsMissing("z" * 99)]])
    assert (first, second) == (f"{one} is missing", f"{two} is missing")
    assert len(other) < 60
    # Two columns of one rule are told apart too.
    (both,) = short_names([[IsMissing(one), IsMissing(two)]])
    assert both == f"{one} is missing and {two} is missing"


def test_bounds_are_told_to_the_last_digit():
    assert in_words([Range("x", 1234567.25, None)]) == "x >= 1234567.25"
    assert in_words([Range("x", None, 0.32)]) == "x <= 0.32"


def planted_finding(shape, seed, density=0.5):
    """The regions of planted rows, and the same regions on rows with or without them."""
    planted = datasets.make_planted(2_000, shape=shape, error_density=density, random_state=seed)
    table = Table.from_input(planted.X)
    rows = LabelledState(State.from_scores(planted.proba), planted.y.astype(np.int8))
    rules = find_regions(
        table.frame, table.kinds, rows.state.confidence, rows.events(0.9),
        n_fit=len(table), tau=0.9, seed=seed,
    )  # fmt: skip
    found = made_up(50)
    regions = RegionSet(*rules, found.regions.clusters)
    audit = replace(found.audit, training=TrainingRows(rows), regions=regions)
    own = Finding(audit, table, rows.state, rows.codes, is_fit_rows=True)
    other = "none" if seed % 2 else shape
    drawn = datasets.make_planted(600, shape=other, random_state=seed + 50)
    later, state = Table.from_input(drawn.X, table.kinds), State.from_scores(drawn.proba)
    events = false_confidence(drawn.y, drawn.proba, 0.9)
    regions = own.regions.described(own.regions.clusters, later.frame, state, 0.9, events)
    new = Finding(audit, later, state, drawn.y.astype(np.int8))
    vars(new)["regions"] = regions
    return own, new


LINE = re.compile(
    r"  (?P<name>.*): (?P<events>[\d,]+) of (?P<n>[\d,]+) confident predictions wrong "
    r"\(.*\)(, (?P<lift>[\d.]+) times the usual rate)?; (?P<expected>[\d.]+) expected"
    r"(: (?P<outcome>.*))?"
)


def follows(sentence, events, eligible, lift, expected):
    """Return whether a sentence about a region follows from the figures as shown beside it."""
    if re.search("Regions (that the fit )?confirmed", sentence):
        return True
    if "o more confident errors" in sentence:
        return events <= expected
    if "more confident errors" in sentence:
        return events > expected
    if "are not frequent" in sentence:
        return not lift or lift <= 1.5
    assert "errors are frequent" in sentence
    low, high = (eligible * bound for bound in share_interval(events, eligible))
    as_many = low - 0.05 <= expected <= high + 0.05
    return lift >= 1.5 and ("about as many" in sentence) == as_many


@pytest.mark.parametrize("shape", ["box", "categorical", "missing", "none"])
@pytest.mark.parametrize("seed", range(4))
def test_no_sentence_about_a_region_contradicts_its_figures(shape, seed):
    own, new = planted_finding(shape, seed, 0.5 if seed < 2 else 0.2)
    for found in (own, new):
        heading, said = "", 0
        for line in repr(found.regions).splitlines():
            if not line.startswith("  "):
                heading = line
                continue
            said += 1
            shown = LINE.fullmatch(line)
            if shown is None:
                assert line.endswith("no confident prediction here")
                assert follows(heading, 0, 0, None, 0.0)
                continue
            wrong, n, lift, expected = (float(v or 0) for v in shown.group(2, 3, 5, 6))
            assert follows(heading, int(wrong), int(n), lift, expected)
            assert (shown["outcome"] is not None) == (found is new)
            if shown["outcome"] == "held":
                assert wrong > expected or lift >= 1.5
        told = [*found.regions.confirmed, *found.regions.expected]
        assert said == len(told)
        if not found.regions.confirmed:
            assert repr(found.regions).startswith("No region ")
        rows = records(Curves(found).regions())
        summary = {"curves": {"regions": rows}, "regions": _regions(found), "conflict": None,
                   "left_out": {}}  # fmt: skip
        section = regions_section(summary)
        assert len(section.bars) == 1 + len(told)
        for sentence in section.lead:
            claimed = re.match(r"In (one|\d+) regions?", sentence)
            assert not (claimed and found is new)
            if claimed:
                n = 1 if claimed[1] == "one" else int(claimed[1])
                fitting = sum(row_follows(sentence, row) for row in rows if row["confirmed"])
                assert fitting >= n


def row_follows(sentence, row):
    lift, expected = row["lift"] and round(row["lift"], 1), round(row["expected"], 1)
    return follows(sentence, row["events"], row["eligible"], lift, expected)


@pytest.mark.parametrize("shape", ["box", "categorical", "missing"])
def test_no_region_is_told_twice(shape):
    """The search for frequent errors finds the planted region too, which is told already."""
    for seed in range(2):
        own, _ = planted_finding(shape, seed)
        events = false_confidence(own.codes, own.state.p, own.tau)
        (first, *_) = own.regions.confirmed
        told = np.zeros(len(events), dtype=bool)
        told[first.rows] = True
        for rule in own.regions.expected:
            wrong = rule.rows[events[rule.rows]]
            assert told[wrong].mean() < 0.5
        names = own.regions.frame().query("confirmed")["rule"]
        assert names.is_unique


def figures_of(events, eligible, lift, expected):
    low, high = share_interval(events, eligible)
    rate = events / eligible if eligible else float("nan")
    return Figures(eligible, eligible, events, rate, low, high, lift, expected)


def test_claims_follow_the_figures():
    assert frequency_claim(figures_of(98, 191, 5.0, 19.2)) == "frequent"
    assert frequency_claim(figures_of(60, 400, 2.0, 38.2)) == "frequent"
    assert frequency_claim(figures_of(45, 400, 2.0, 36.2)) == "frequent, as predicted"
    assert frequency_claim(figures_of(15, 638, 1.1, 22.2)) == "not frequent"
    assert frequency_claim(figures_of(0, 0, float("nan"), 0.0)) == "not frequent"
    assert excess_claim(figures_of(12, 90, 1.3, 11.96)) == "no more than predicted"
    assert excess_claim(figures_of(12, 90, 1.3, 11.9)) == "more than predicted"


def test_without_a_confirmed_region_the_first_sentence_leaves_room_for_the_figures_below(alike):
    clusters = alike.regions.clusters
    frequent = rule_of(Range("age", 30.0, None), figures=figures_of(98, 191, 5.0, 19.2))
    assert repr(RegionSet((), (frequent,), clusters)).startswith("No region is confirmed to have")
    none = "No region has more confident errors than the model's confidence predicts."
    assert RegionSet((), (), clusters).text() == none
    doubtful = rule_of(Range("age", 30.0, None), p=0.5)
    assert "1 candidate was not confirmed" in repr(RegionSet((doubtful,), (), clusters))


def test_a_region_is_shown_for_rows_without_labels_too(alike):
    regions = RegionSet(alike.regions.unexpected[:1], (), alike.regions.clusters)
    found = changed(alike, codes=None, regions=regions)
    section = regions_section(Report.of(found, About()).summary)
    assert [bar.words for bar in section.bars] == [f"{CURRENT} >= 9"]
    said = [words.key for words in section.lead]
    assert "regions.elsewhere" in said
    assert "regions.mark" not in said
