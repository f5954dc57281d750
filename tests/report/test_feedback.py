"""`feedback` on files that were changed since they were written."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from falcon_discover.cli import app

SETTINGS = {"tau": 0.9, "ranker": "auto", "severity": "count", "budget": 0.2, "seed": 7}


def review_of(n: int = 6) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "key": [f"{i:06d}" for i in range(n)],
            "row": np.arange(n) * 3,
            "suspicion": np.linspace(0.5, 0.1, n),
            "confidence": np.full(n, 0.95),
            "predicted": "yes",
            "actual": ["no", "yes"] * (n // 2),
        }
    )


def told(folder, *, review=None, summary=None, marks=None, code=1) -> str:
    """Run `feedback` on a folder with these files and return what it says."""
    (review_of() if review is None else review).to_parquet(folder / "review.parquet")
    words = json.dumps({"settings": SETTINGS}) if summary is None else summary
    (folder / "summary.json").write_text(words)
    marks = pd.DataFrame({"row": [0, 3], "mark": ["wrong", "right"]}) if marks is None else marks
    marks.to_csv(folder / "marks.csv", index=False)
    result = CliRunner().invoke(app, ["feedback", str(folder), str(folder / "marks.csv")])
    assert result.exit_code == code, result.stderr
    if code:
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
    return result.stdout + result.stderr


def test_marks_of_this_audit_are_compared(tmp_path):
    assert "of 2 reviewed confident" in told(tmp_path, code=0)


@pytest.mark.parametrize(
    ("summary", "sentence"),
    [
        ("", "is not a summary written by audit"),
        ("{", "is not a summary written by audit"),
        ("[]", "is not a summary written by audit"),
        ("null", "is not a summary written by audit"),
        ("{}", "is not a summary written by audit"),
        ('{"settings": 3}', "is not a summary written by audit"),
        ('{"settings": {"tau": 0.9}}', "is not a summary written by audit"),
        (json.dumps({"settings": SETTINGS | {"tau": "high"}}), "has the threshold 'high'"),
        (json.dumps({"settings": SETTINGS | {"tau": 95}}), "has the threshold 95"),
        (json.dumps({"settings": SETTINGS | {"severity": []}}), "names an unknown ranker"),
        (json.dumps({"settings": SETTINGS | {"ranker": None}}), "names an unknown ranker"),
    ],
)
def test_a_changed_summary_is_said_in_a_sentence(tmp_path, summary, sentence):
    assert f"summary.json {sentence}" in told(tmp_path, summary=summary)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda r: r.drop(columns="row"), "lacks the column 'row'"),
        (lambda r: r.drop(columns="suspicion"), "lacks the column 'suspicion'"),
        (lambda r: r.drop(columns="confidence"), "lacks the column 'confidence'"),
        (
            lambda r: r.assign(confidence="high"),
            "has values that are not numbers in its column 'conf",
        ),
        (
            lambda r: r.assign(suspicion=np.nan),
            "has values that are not numbers in its column 'susp",
        ),
        (lambda r: r.assign(confidence=95.0), "has a confidence that is not between 0 and 1"),
        (lambda r: r.assign(row=0), "has a row more than once"),
    ],
)
def test_a_changed_review_list_is_said_in_a_sentence(tmp_path, change, sentence):
    assert f"the review list {sentence}" in told(tmp_path, review=change(review_of()))


@pytest.mark.parametrize(
    ("marks", "sentence"),
    [
        ({"Row": [0], "mark": ["right"]}, "the marks lack the column 'row'"),
        (
            {"row": ["a"], "mark": ["right"]},
            "the column 'row' of the marks has values that are not numbers",
        ),
        ({"row": [1], "mark": ["right"]}, "row 1 is marked but not in the review list"),
        (
            {"row": [0, 3], "key": ["000000", "000009"], "mark": ["right", "right"]},
            "row 3 has the key '000009' in the marks and '000001' in the review list",
        ),
    ],
)
def test_marks_of_another_audit_are_refused(tmp_path, marks, sentence):
    assert sentence in told(tmp_path, marks=pd.DataFrame(marks))


def test_marks_whose_ids_were_read_as_numbers_are_those_of_this_audit(tmp_path):
    marks = pd.DataFrame({"row": [0, 3], "key": ["000000", "000001"], "mark": "right"})
    assert "of 2 reviewed confident" in told(tmp_path, marks=marks, code=0)


def test_ids_that_look_like_gaps_are_those_of_this_audit(tmp_path):
    review = review_of().assign(key=["NA", "null", "1e3", "7", "8", "9"])
    marks = pd.DataFrame({"row": [0, 3, 6], "key": ["NA", "null", "1e3"], "mark": "right"})
    assert "of 3 reviewed confident" in told(tmp_path, review=review, marks=marks, code=0)


def test_marks_quoted_for_a_spreadsheet_are_those_of_this_audit(tmp_path):
    review = review_of().assign(key=[f"=cmd{i}" for i in range(6)])
    marks = pd.DataFrame({"row": [0, 3], "key": ["'=cmd0", "'=cmd1"], "mark": "right"})
    assert "of 2 reviewed confident" in told(tmp_path, review=review, marks=marks, code=0)


def test_wrong_labels_are_reported_beside_wrong_predictions(tmp_path):
    review = review_of().assign(label_doubt=[0.8, np.nan, 0.6, np.nan, 0.1, np.nan])
    marks = pd.DataFrame(
        {"row": [0, 3, 6, 12], "mark": ["label wrong", "right", "Model wrong", "label wrong"]}
    )
    said = told(tmp_path, review=review, marks=marks, code=0)
    assert "1 of 4 reviewed confident" in said
    # By hand: 0.8 + 0.6 + 0.1 of the four that were judged.
    assert "Reviewers marked 2 labels wrong; the audit expected about 1.5." in said
    assert "contradict the label" not in said
    result = CliRunner().invoke(
        app, ["feedback", str(tmp_path), str(tmp_path / "marks.csv"), "--json"]
    )
    found = json.loads(result.stdout)
    assert (found["model_wrong"], found["label_wrong"]) == (1, 2)
    assert found["disputed_labels"] == 2
    assert found["label_wrong_expected"] == pytest.approx(1.5)


def test_a_contradiction_that_is_not_marked_as_a_wrong_label_is_still_said(tmp_path):
    marks = pd.DataFrame({"row": [0, 6], "mark": ["label wrong", "right"]})
    said = told(tmp_path, marks=marks, code=0)
    assert "Reviewers marked 1 label wrong." in said
    assert "1 other mark contradicts the label" in said


def test_a_label_that_agrees_with_the_prediction_cannot_be_the_wrong_one(tmp_path):
    marks = pd.DataFrame({"row": [3], "mark": ["label wrong"]})
    assert "row 3 is marked 'label wrong', but its label agrees with" in told(tmp_path, marks=marks)


def test_a_label_that_is_not_known_cannot_be_marked(tmp_path):
    marks = pd.DataFrame({"row": [0], "mark": ["label wrong"]})
    review = review_of().drop(columns="actual")
    assert "the audit has no labels" in told(tmp_path, review=review, marks=marks)
