"""The reader's test: what the docs say answers a question is on the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from falcon_discover import discover
from falcon_discover.datasets import make_planted
from falcon_discover.report import About, Report, html
from support.pages import Page

DOCS = (Path(__file__).parents[2] / "docs" / "readers-test.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^\| (\d+) \| (.+?) \| .+ \| (.+?) \|$", DOCS, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def ids() -> set[str]:
    planted = make_planted(500, random_state=0)
    found = discover(planted.X, planted.y, planted.proba, random_state=0)
    found = found.costing([1.0] * 500)
    report = Report.of(found, About(name="planted", max_residual_rate=0.05, contributions=False))
    return {attrs["id"] for _, attrs in Page(html(report)).tags if "id" in attrs}


def test_there_are_ten_questions():
    assert [int(number) for number, _, _ in QUESTIONS] == list(range(1, 11))
    assert all(question.endswith("?") for _, question, _ in QUESTIONS)


@pytest.mark.parametrize(("number", "question", "places"), QUESTIONS)
def test_each_question_has_an_element_that_answers_it(ids, number, question, places):
    named = re.findall(r"`#([a-z-]+)`", places)
    assert named, question
    assert set(named) <= ids


def test_what_was_asked_for_is_answered_on_the_first_screen(ids):
    named = set(re.findall(r"`#(tile-[a-z]+)`", DOCS)) - {"tile-queue"}
    assert {"tile-guarantee", "tile-cost"} <= named <= ids
