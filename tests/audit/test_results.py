"""Every public result prints, shows itself in a notebook, and gives a frame and a dict."""

from __future__ import annotations

import inspect
import json
import pickle
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from falcon_discover import FalconDiscover, datasets, discover
from falcon_discover.audit import review_list
from falcon_discover.audit.curves import Curves
from falcon_discover.audit.finding import Finding
from falcon_discover.audit.review_list import ReviewList
from falcon_discover.data.table import Table
from falcon_discover.evaluation.contributions import Contributions
from falcon_discover.evaluation.risks import RiskCalibration
from falcon_discover.metrics import confidence, false_confidence
from falcon_discover.monitoring.calibration_watch import CalibrationWatch
from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.regions.rules import find_rules
from falcon_discover.report.feedback import feedback
from falcon_discover.runtime.display import MOST_ROWS, Result, html_of
from falcon_discover.runtime.records import plain
from support.findings import HOSTILE_NAME, made_up


@pytest.fixture(scope="module")
def regions() -> RegionSet:
    planted = datasets.make_planted(1_500, random_state=0)
    table, sure = Table.from_input(planted.X), confidence(planted.proba)
    events = false_confidence(planted.y, planted.proba)
    rules = find_rules(table.frame, table.kinds, sure, events, max_rules=1)
    return RegionSet(tuple(rules), (), Clusters.none())


def planted_finding() -> Finding:
    planted = datasets.make_planted(300, random_state=0)
    return discover(planted.X, planted.y, planted.proba, random_state=0)


def later_results() -> dict[str, object]:
    """What an audit says of rows that come after it."""
    rows = datasets.make_planted(700, random_state=0)
    falcon = FalconDiscover("precomputed", cv=3, random_state=0)
    falcon.fit(rows.X[:400], rows.y[:400], proba=rows.proba[:400])
    new, y, proba = rows.X[400:], rows.y[400:], rows.proba[400:]
    batch = falcon.monitor(new, proba=proba)
    compared = batch.compare(y)
    return {
        "batch": batch,
        "comparison": compared,
        "comparison of a number": batch.compare(errors=3),
        "watch": compared.watch,
        "watch of nothing": CalibrationWatch(),
        "learned": falcon.learn(new, y, proba=proba).learned_,
    }


@pytest.fixture(scope="module")
def results(regions) -> dict[str, object]:
    found = made_up(400, hostile=True)
    review = found.review()
    evaluation = found.evaluate()
    marks = pd.DataFrame({"row": review["row"].head(4), "mark": ["wrong", "right"] * 2})
    families = {"family": [HOSTILE_NAME], "loss": [0.02], "low": [0.01], "high": [0.03]}
    events = found.events[found.state.eligible(found.tau)]
    return {
        "finding": found,
        "rows without labels": made_up(50, labelled=False),
        "review list": review,
        "evaluation": evaluation,
        "sides": evaluation.sides,
        "risk": RiskCalibration.of(np.linspace(0.01, 0.3, len(events)), events),
        "review budget": found.review_budget(0.05),
        "missed bound": found.missed_bound(0.2),
        "missed bound of a batch": found.missed_bound(0.2, batch=100),
        "periods": found.by_period(np.arange(400) % 3),
        "regions": regions,
        "region": regions[0],
        "no region": RegionSet.none("there are too few rows"),
        "clusters": found.regions.clusters,
        "conflict": found.conflict(),
        "contributions": Contributions(pd.DataFrame(families), (0.1, 0.05, 0.15), 0.8, 9, 99),
        "recalibration": Curves(found).recalibration(),
        "feedback": feedback(review, marks),
        "label noise": planted_finding().label_noise(),
        **later_results(),
    }


NAMES = (
    "finding", "rows without labels", "review list", "evaluation", "sides", "risk",
    "review budget", "missed bound", "missed bound of a batch", "periods", "regions", "region",
    "no region", "clusters", "conflict", "contributions", "recalibration", "feedback",
    "label noise", "batch", "comparison", "comparison of a number", "watch", "watch of nothing",
    "learned",
)  # fmt: skip


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", NAMES)
def test_a_result_prints_shows_frames_and_serialises_itself(results, name):
    result = results[name]
    printed, page, frame = str(result), result._repr_html_(), result.frame()
    step = result.next_step()
    assert "Next: " in printed
    assert step.split()[-1] in printed
    assert "{" not in step.replace("{class: 0.95}", "")
    assert step in unescape(page)
    tags = Tags(page)
    assert tags.open == []
    assert "script" not in tags.seen
    assert {"div", "p"} <= tags.seen
    assert ("table" in tags.seen) == (name not in ("rows without labels", "no region"))
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0 or name == "no region"
    assert json.dumps(plain(result.to_dict()), allow_nan=False)


def test_no_public_result_is_left_out(results):
    """Every class of results is in the loop above, and every method that returns one."""
    seen = {type(result) for result in results.values()}

    def below(kind: type) -> set[type]:
        return {kind, *(sub for part in kind.__subclasses__() for sub in below(part))}

    concrete = {kind for kind in below(Result) if not inspect.isabstract(kind)}
    assert concrete <= seen
    returned = {
        inspect.signature(method).return_annotation
        for name, method in inspect.getmembers(Finding, inspect.isfunction)
        if not name.startswith("_")
    }
    known = {kind.__name__ for kind in (*seen, Finding)} | {"Finding"}
    plain_ones = ("FloatArray", "pd.DataFrame", "str", "bool", "Path", "dict", "None", "Self")
    rest = {kind for kind in returned if not str(kind).startswith(plain_ones)}
    assert rest - known <= {"StateCalibrator", "tuple[FloatArray, FloatArray] | None"}


def test_within_a_longer_text_a_result_has_no_next_step(results):
    found = results["evaluation"]
    assert f"{found}" == found.text()
    assert "Next:" not in found.text()
    assert f"{results['review budget']}" == results["review budget"].to_dict()["statement"]


def test_a_region_prints_in_a_line_without_its_rows(regions):
    region = regions[0]
    assert str(region).startswith(f"{region.words}: ")
    assert "array(" not in str(region)
    assert regions.shown()["region"].tolist() == regions.names()
    assert regions.shown()["wrong"].tolist() == [rule.confirmation.events for rule in regions]


def test_a_table_of_many_rows_is_cut_and_says_so():
    page = html_of("", {"": pd.DataFrame({"a": range(MOST_ROWS + 5)})}, "go on")
    assert page.count("<tr>") == MOST_ROWS + 1
    assert f"The first {MOST_ROWS} of {MOST_ROWS + 5} rows" in page


def test_names_and_values_are_escaped():
    table = pd.DataFrame({HOSTILE_NAME: [HOSTILE_NAME]})
    page = html_of(HOSTILE_NAME, {HOSTILE_NAME: table}, HOSTILE_NAME)
    assert HOSTILE_NAME not in page
    assert page.count("&lt;script&gt;") == 5


class TestReviewList:
    def test_it_prints_whole_reasons(self, results):
        review = results["review list"]
        printed = " ".join(str(review).split())
        most = review_list.MOST_ROWS
        for reason in review["reason"].head(most):
            assert " ".join(reason.split()) in printed
        assert f"... and {len(review) - most:,} more" in str(review)
        # No exponent, and no column of positions twice.
        assert "e-0" not in printed
        assert str(review).split()[0] == "row"

    def test_it_is_a_frame_through_and_through(self, results):
        review = results["review list"]
        assert isinstance(review, pd.DataFrame)
        for part in (review.head(3), review[review["confidence"] > 0.9], review.sort_values("p")):
            assert isinstance(part, ReviewList)
            assert " ".join(str(part["reason"].iloc[0]).split()) in " ".join(str(part).split())
        again = pickle.loads(pickle.dumps(review))
        pd.testing.assert_frame_equal(again, review)
        assert type(review.frame()) is pd.DataFrame
        assert len(pd.concat([review, review])) == 2 * len(review)
        assert list(review.groupby("predicted")["p"].mean().index) == sorted(
            review["predicted"].unique()
        )

    def test_parts_without_reasons_print_as_any_frame(self, results):
        part = results["review list"][["row", "p"]].head(3)
        assert str(part) == str(part.frame())
        assert part._repr_html_() == part.frame()._repr_html_()
        assert str(results["review list"].head(0)) == "No prediction to review."

    def test_labels_of_rows_are_shown(self):
        listed = ReviewList(
            {"row": [4, 1], "reason": ["a " * 90, "b"], "region": ["", "age >= 3"]},
            index=pd.Index(["c-7", "c-9"], name="customer"),
        )
        assert "c-7" in str(listed)
        assert "customer" in listed._repr_html_()
        assert "age &gt;= 3" in listed._repr_html_()
        assert max(map(len, str(listed).split("\n"))) <= 100
