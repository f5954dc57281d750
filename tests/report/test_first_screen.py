"""The first screen of a report: facts, verdict, key figures, next steps; by keys and figures."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from falcon_discover import FalconDiscover, datasets
from falcon_discover.report import About, Report, html, labels
from falcon_discover.report.figures import judgement
from falcon_discover.report.sections import facts, next_steps, sections, tiles, title, verdict
from falcon_discover.report.text import SENTENCES
from support.findings import made_up


def figures(words: str) -> list[str]:
    return re.findall(r"\d[\d,.]*\d|\d", words)


def keys(said) -> list[str]:
    return [one.key for one in said]


@pytest.fixture(scope="module")
def planted():
    return datasets.make_planted(900, random_state=0)


@pytest.fixture(scope="module")
def falcon(planted):
    falcon = FalconDiscover("precomputed", random_state=0)
    return falcon.fit(planted.X[:600], planted.y[:600], proba=planted.proba[:600])


@pytest.fixture(scope="module")
def labelled(falcon):
    about = About(name="loans.csv", target="default", max_residual_rate=0.05, contributions=False)
    return Report.of(falcon.examine(), about)


@pytest.fixture(scope="module")
def queue(falcon, planted):
    found = falcon.examine(planted.X[600:], proba=planted.proba[600:])
    return Report.of(found, About(budget=0.1)), found


@pytest.mark.parametrize(
    ("errors", "low", "high", "kind"),
    [(40, 0.032, 0.06, "more"), (20, 0.014, 0.034, "same"), (2, 0.0003, 0.008, "fewer")],
)
def test_the_judgement_compares_the_interval_with_what_confidence_implies(errors, low, high, kind):
    # 900 predictions whose doubts add up to 20: a rate of 0.0222.
    eligible = {"rows": 900, "errors": errors, "promised_errors": 20.0, "low": low, "high": high}
    assert judgement(eligible, ()) == kind
    assert judgement(eligible, ("backwards",)) == "doubtful"


def test_nothing_confident_and_nothing_wrong_are_judgements_too():
    none = {"rows": 900, "errors": 0, "promised_errors": 20.0, "low": 0.0, "high": 0.004}
    assert judgement(none, ()) == "none"
    assert judgement(none | {"rows": 0}, ()) == "never"
    assert judgement(none | {"errors": None}, ()) == "unlabelled"


def test_the_verdict_has_the_errors_the_confident_rows_and_what_is_implied(labelled):
    sure, words = labelled.summary["eligible"], verdict(labelled.summary)
    assert words.key == f"verdict.{labelled.summary['judgement']}"
    said = figures(words)
    assert said[:2] == [str(sure["errors"]), str(sure["rows"])]
    assert float(said[-1]) == pytest.approx(sure["promised_errors"], abs=0.51)


def test_the_facts_say_what_was_audited(labelled):
    known = {fact.key: fact.value for fact in facts(labelled.summary)}
    assert "loans.csv" in known["data"]
    assert "600" in known["data"]
    assert known["target"].startswith("default: ")
    assert "1" in known["score"]
    page = html(labelled)
    for key in known:
        assert f'id="fact-{key}"' in page


def test_what_the_caller_knows_of_the_model_is_shown():
    how = {"model": "scorecard", "version": "7", "owner": "risk", "mode": "backbone"}
    report = Report.of(made_up(80), About(how=how, times=np.arange(80.0), contributions=False))
    known = {fact.key: fact.value for fact in facts(report.summary)}
    assert known["model"].startswith("scorecard")
    assert (known["version"], known["owner"]) == ("7", "risk")
    assert known["period"] == "0 to 79"


def test_a_report_without_a_name_is_called_by_its_rows():
    report = Report.of(made_up(60), About(how={"rows": "new rows"}, contributions=False))
    assert title(report.summary) == "New rows"
    assert title(Report.of(made_up(60), About(name="mine", contributions=False)).summary) == "mine"


def test_reviews_per_error_are_counted_in_the_list_itself(labelled):
    review = labelled.summary["review"]
    wrong = (labelled.review["predicted"] != labelled.review["actual"]).sum()
    assert review["errors"] == wrong > 0
    assert review["reviews_per_error"] == pytest.approx(len(labelled.review) / wrong)
    shown = {tile.key: tile for tile in tiles(labelled.summary)}
    assert shown["yield"].value == f"1 in {round(len(labelled.review) / wrong)}"
    assert figures(shown["capture"].words) == [
        str(wrong),
        str(labelled.summary["eligible"]["errors"]),
    ]


def test_the_answer_to_a_residual_rate_is_a_figure_and_the_first_step(labelled):
    asked = labelled.summary["guarantee"]
    shown = {tile.key: tile for tile in tiles(labelled.summary)}
    assert float(figures(shown["guarantee"].value)[0]) == pytest.approx(
        100 * asked["budget"], abs=1
    )
    assert next_steps(labelled.summary)[0].key.startswith("next.guarantee")
    without = labelled.summary | {"guarantee": None}
    assert "guarantee" not in {tile.key for tile in tiles(without)}
    assert not any(key.startswith("next.guarantee") for key in keys(next_steps(without)))


def test_the_last_step_is_to_rank_new_rows(labelled):
    steps = next_steps(labelled.summary)
    assert steps[-1].key == "next.score"
    assert len(steps) <= 4


def test_a_queue_says_how_many_errors_to_expect(queue):
    report, found = queue
    review = report.summary["review"]
    top = np.argsort(-found.suspicion(), kind="stable")[: review["listed"]]
    # The sum of the risks of the rows that are listed.
    assert review["expected_errors"] == pytest.approx(found.risk()[top].sum())
    said = verdict(report.summary)
    assert said.key == "verdict.queue"
    assert figures(said)[0] == str(review["listed"])
    assert {"queue", "queue.yield", "queue.all"} <= {tile.key for tile in tiles(report.summary)}
    assert keys(next_steps(report.summary)) == ["next.check", "next.feedback", "next.again"]
    assert (
        sections(report.summary)[0].title
        != sections(Report.of(made_up(60), About()).summary)[0].title
    )


def test_a_queue_by_a_ranker_without_risks_says_what_confidence_implies():
    report = Report.of(made_up(200, labelled=False), About())
    said = verdict(report.summary)
    assert said.key == "verdict.queue.unknown"
    implied = report.summary["eligible"]["promised_errors"]
    assert any(float(f.replace(",", "")) == pytest.approx(implied, abs=0.51) for f in figures(said))


def test_an_alert_comes_before_any_other_step(labelled):
    assert keys(next_steps(labelled.summary | {"alerts": ["backwards"]})) == ["next.alert"]


def test_the_list_ends_where_confident_rows_end():
    found = made_up(400, tau=0.99)
    report = Report.of(found, About(budget=0.9, contributions=False))
    review = report.summary["review"]
    assert review["asked"] == 360
    assert review["listed"] == len(report.review) == report.summary["eligible"]["rows"] < 360
    assert (report.review["confidence"] >= 0.99).all()
    ends = next(words for words in sections(report.summary)[0].lead if words.key == "review.ends")
    assert {"360", str(review["listed"])} <= set(figures(ends))
    short = Report.of(found, About(budget=5, contributions=False))
    assert "review.ends" not in keys(sections(short.summary)[0].lead)


def test_a_list_without_a_confident_row_is_empty_and_says_so():
    report = Report.of(made_up(120, tau=0.9999999999), About(contributions=False))
    assert report.summary["review"]["listed"] == len(report.review) == 0
    assert keys(sections(report.summary)[0].lead) == ["review.empty"]
    assert keys(next_steps(report.summary)) == ["next.lower"]
    assert 'data-key="review.empty"' in html(report)


def test_every_sentence_is_used_and_none_holds_what_readers_stumbled_over():
    folder = Path(labels.__file__).parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    texts = [*SENTENCES.values(), *labels.PAGE.values(), *labels.TILES.values()]
    texts += [*labels.CAPTIONS.values(), *labels.FIGURES.values()]
    for phrase in (
        "lets expect", "foresee", "foreseen", "as sure as right", "of twenty", "admits", " %",
        "left unread", "earns", "regime", "suspicious",
    ):  # fmt: skip
        assert [text for text in texts if phrase in text.lower()] == []
    used = re.findall(r'say\(\s*f?"([^"]+)"', code)
    families = tuple(key.split("{")[0] for key in used if "{" in key)
    choices = set(re.findall(r'"([a-z_. ,]+)"', code))
    assert [k for k in SENTENCES if k not in choices and not k.startswith(families)] == []
