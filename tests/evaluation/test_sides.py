"""Confident errors by predicted class: counted, found, told; and said where there is one side."""

from __future__ import annotations

import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from falcon_discover import DataWarning, FalconDiscover, discover
from falcon_discover.cli import app
from falcon_discover.cli.request import AuditRequest, run
from falcon_discover.evaluation.sides import by_predicted_class, notice
from falcon_discover.report import About, Report, html, markdown
from falcon_discover.report.sections import sections
from falcon_discover.runtime import notices
from falcon_discover.runtime.records import json_text
from falcon_discover.signals.state import State
from support.findings import HOSTILE_LABEL, changed, made_up

CLASSES = np.array(["no", "yes"])
ONE_SIDED = "confident errors are rows of class 'yes' that the model calls 'no'"


def rare(n=400, seed=0):
    """A rare class that is never called confidently: its rows that score low are missed."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    y = np.zeros(n, dtype=int)
    y[: n // 20] = 1
    p = np.where(y == 1, rng.uniform(0.01, 0.55, n), rng.uniform(0.01, 0.3, n))
    p[-1] = 0.7
    return X, y, p


def audited(X, y, p, **options):
    with notices.collected() as notes:
        found = discover(X, y, p, ranker="gated_confidence", random_state=0, **options)
    return found, list(notes)


def table_of(p, y, classes=CLASSES, tau=0.9):
    return by_predicted_class(
        State.from_scores(np.asarray(p)), np.asarray(y, np.int8), classes, tau
    )


def test_the_sides_are_counted_by_hand_on_ten_rows():
    p = [0.01, 0.02, 0.05, 0.08, 0.30, 0.60, 0.92, 0.95, 0.97, 0.99]
    y = [0, 1, 0, 1, 1, 0, 1, 0, 1, 1]
    table = table_of(p, y).set_index("predicted")
    called_no, called_yes = table.loc["no"], table.loc["yes"]
    assert called_no[["actual", "rows", "eligible", "events"]].tolist() == ["yes", 5, 4, 2]
    assert called_yes[["actual", "rows", "eligible", "events"]].tolist() == ["no", 5, 4, 1]
    assert called_no["of_events"] == pytest.approx(2 / 3)
    # Six rows are "yes", and two of them are confidently missed.
    assert (called_no["class_rows"], called_no["of_class"]) == (6, pytest.approx(2 / 6))
    assert (called_yes["class_rows"], called_yes["of_class"]) == (4, pytest.approx(1 / 4))
    assert called_yes["surest"] == 0.99
    # Clopper and Pearson's interval of 2 out of 4, from their tables.
    assert (called_no["low"], called_no["high"]) == (
        pytest.approx(0.0676, abs=1e-4),
        pytest.approx(0.9324, abs=1e-4),
    )


def test_both_sides_together_are_all_that_is_found():
    found = made_up(1_000)
    evaluation = found.evaluate()
    captures = evaluation.captures
    own = captures[(captures["tau"] == found.tau) & (captures["ranker"] == evaluation.ranker)]
    together = evaluation.sides.captures.groupby("budget")["captured"].sum()
    assert together.to_dict() == dict(zip(own["budget"], own["captured"], strict=True))
    assert evaluation.sides.frame()["eligible"].sum() == own["eligible"].iloc[0]


@pytest.mark.parametrize(
    "classes", [CLASSES, np.array([0, 1]), np.array([False, True]), np.array([1.5, 2.5])]
)
def test_labels_of_any_kind_go_into_frames_and_json(classes):
    found = changed(made_up(300), classes=classes)
    evaluation = found.evaluate(taus=())
    assert evaluation.sides.frame()["predicted"].tolist() == classes.tolist()
    told = json.loads(json_text(evaluation.to_dict()))["sides"]
    assert [side["actual"] for side in told["classes"]] == classes[::-1].tolist()
    assert {line["budget"] for line in told["captures"]} == {0.05, 0.1, 0.15, 0.2}


def test_a_rare_class_that_is_only_missed_is_told():
    X, y, p = rare()
    found, notes = audited(X, CLASSES[y], p)
    missed = int(((p <= 0.1) & (y == 1)).sum())
    told = found.one_sided
    assert told.startswith(f"All {missed} {ONE_SIDED} ({100 * missed / 20:.2g}% of all 20 rows")
    assert "it never calls a row 'yes' with at least 90% confidence" in told
    assert "usual for a rare class ('yes': 5% of the rows)" in told
    assert "set tau to 0.70 or less" in told
    assert told in notes
    assert found.evaluate(taus=()).text().endswith(f"NOTE: {told}")
    with pytest.warns(DataWarning, match="rows of class 'yes' that the model calls 'no'"):
        discover(X, CLASSES[y], p, ranker="gated_confidence", random_state=0)


def test_its_advice_on_tau_shows_the_other_side():
    X, y, p = rare()
    found, _ = audited(X, CLASSES[y], p, tau=0.7)
    assert found.one_sided == ""
    assert found.evaluate(taus=()).sides.frame()["events"].tolist()[1] == 1


def test_it_is_told_of_the_first_class_too():
    X, y, p = rare()
    found, _ = audited(X, CLASSES[1 - y], 1 - p)
    assert "rows of class 'no' that the model calls 'yes'" in found.one_sided


def test_a_class_that_is_called_confidently_and_rightly_a_few_times_changes_little():
    p = np.r_[np.full(300, 0.02), 0.95, 0.96]
    y = np.r_[np.zeros(290), np.ones(10), 1, 1]
    assert "only 2 are 'yes'" in notice(table_of(p, y))
    # One error there, or one call in a hundred, and it is an ordinary model.
    assert notice(table_of(p, np.r_[y[:-1], 0])) == ""
    assert notice(table_of(np.r_[p, 0.95, 0.95], np.r_[y, 1, 1])) == ""


def test_a_model_that_never_calls_the_class_gets_no_advice_on_tau():
    told = notice(table_of(np.full(50, 0.02), np.r_[np.ones(1), np.zeros(49)]))
    assert told.startswith("The one confident error is a row of class 'yes' that the model calls")
    assert "it never calls a row 'yes'." in told
    assert "set tau" not in told


def test_a_frequent_class_is_not_called_rare():
    told = notice(table_of(np.full(50, 0.02), np.r_[np.ones(20), np.zeros(30)]))
    assert "All 20 confident errors" in told
    assert "rare" not in told


@pytest.mark.parametrize(
    ("p", "y"),
    [
        ([0.02, 0.03, 0.98], [0, 0, 1]),  # no confident error
        ([0.45, 0.55, 0.6], [1, 0, 1]),  # nothing confident
        ([0.02, 0.03, 0.98], [1, 0, 0]),  # errors on both sides
        ([], []),
    ],
)
def test_nothing_is_told_where_there_is_nothing_to_tell(p, y):
    table = table_of(p, y)
    assert len(table) == 2
    assert notice(table) == ""


def test_doubtful_scores_are_not_explained_by_a_rare_class():
    X, y, p = rare()
    found, notes = audited(X, y, np.where(y == 1, 0.001, 0.3 + p / 3))
    assert "backwards" in found.alerts[0]
    assert found.one_sided == ""
    assert not any("confident error" in note for note in notes[1:])


def test_rows_without_labels_have_no_sides():
    found = made_up(200, labelled=False)
    assert found.one_sided == ""
    report = Report.of(found, About())
    assert "sides" not in [section.key for section in sections(report.summary)]


def test_the_report_tells_the_sides_and_the_notice_once():
    X, y, p = rare()
    found, _ = audited(X, CLASSES[y], p)
    report = Report.of(found, About(contributions=False))
    assert report.summary["notes"] == [found.one_sided]
    assert report.summary["evaluation"]["sides"]["notice"] == found.one_sided
    text = markdown(report)
    assert text.count("confident errors are rows of class") == 1
    missed = int(((p <= 0.1) & (y == 1)).sum())
    row = next(line for line in text.splitlines() if line.startswith("| no | yes |"))
    assert f"| {missed} |" in row
    assert f"{100 * missed / 20:.1f}%" in row


def test_an_ordinary_report_says_how_many_of_each_side():
    report = Report.of(made_up(400), About(contributions=False))
    classes = report.summary["evaluation"]["sides"]["classes"]
    told = next(s for s in sections(report.summary) if s.key == "sides").lead
    for side, words in zip(classes, told, strict=True):
        figures = [f"{side[name]:,}" for name in ("events", "eligible")]
        assert re.findall(r"[\d,]+", words)[:2] == figures
        assert f"{side['predicted']!r}" in words
        assert f"{side['actual']!r}" in words


def test_labels_that_are_markup_stay_text_in_the_section():
    text = html(Report.of(made_up(150, hostile=True), About(contributions=False)))
    section = text.split('<h2 id="h-sides">')[1].split("</section>")[0]
    assert HOSTILE_LABEL not in section
    assert HOSTILE_LABEL in unescape(section)


def test_the_command_line_prints_both_sides_and_the_notice_of_the_audited_rows(tmp_path):
    X, y, p = rare()
    X.assign(outcome=CLASSES[y], score=p).to_csv(tmp_path / "rare.csv", index=False)
    asked = ["audit", str(tmp_path / "rare.csv"), "--target", "outcome", "--proba", "score"]
    asked += ["--ranker", "gated_confidence", "--out", str(tmp_path / "out"), "--no-contributions"]
    asked += ["--details"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert "predicted 'no', was 'yes'" in done.output
    assert "predicted 'yes', was 'no'" in done.output
    assert done.output.count(ONE_SIDED) == 1


def test_a_trained_backbone_is_told_about_on_the_audited_rows_only():
    X, y, _ = rare(600)
    question = AuditRequest("outcome", backbone="logistic_regression", ranker="gated_confidence",
                        contributions=False, n_jobs=1)  # fmt: skip
    result = run(X.assign(outcome=CLASSES[y]), question, name="rare")
    told = [note for note in result.summary["notes"] if "that the model calls 'no'" in note]
    assert told == [result.summary["evaluation"]["sides"]["notice"]]
    assert result.evaluation.sides.frame()["rows"].sum() == 120


def test_new_rows_are_judged_by_themselves():
    X, y, _ = rare(600)
    model = LogisticRegression()
    falcon = FalconDiscover(model, ranker="gated_confidence", cv=2, random_state=0)
    with pytest.warns(DataWarning, match="rows of class 'yes'"):
        falcon.fit(X, CLASSES[y])
    with notices.collected() as notes:
        found = falcon.examine(X[-300:], CLASSES[y[-300:]])
    assert found.one_sided == ""
    assert not any("confident error" in note for note in notes)
