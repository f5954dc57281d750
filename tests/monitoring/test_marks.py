"""Marks as files hold them: empty, of any column type, with names that are long."""

from __future__ import annotations

import pandas as pd
import pytest

from falcon_discover import InputError
from falcon_discover.monitoring.marks import located, marked
from falcon_discover.report.feedback import feedback
from falcon_discover.scoring.batches import batch_names

LONG = "https://example.org/" + "a" * 200
REVIEW = pd.DataFrame(
    {"row": [0, 1], "id": ["x", "y"], "suspicion": [0.2, 0.1], "confidence": 0.95}
)


def test_long_names_that_differ_at_their_end_are_different_rows():
    rows = pd.DataFrame({"id": [f"{LONG}1", f"{LONG}2"]})
    judged, _ = marked(pd.DataFrame({"id": [f"{LONG}2"], "mark": ["wrong"]}), "marks.csv", "id")
    assert located(judged, rows, "rows.csv", "id").tolist() == [1]


def test_long_names_that_differ_at_their_end_are_different_batches():
    assert len(set(batch_names(pd.Series([f"{LONG}1", f"{LONG}2"]), "source"))) == 2


def test_no_marks_are_said_to_be_none():
    none = pd.DataFrame({"row": pd.Series([], dtype=float), "mark": [], "id": []})
    assert "No confident prediction is marked" in feedback(REVIEW, none).words()
    by_class = REVIEW.assign(predicted="no")
    found = feedback(by_class, none, tau={"no": 0.9, "yes": 0.8})
    assert found.table["rows"].iloc[0] == 0


def test_a_long_mark_is_not_repeated_in_full():
    marks = pd.DataFrame({"row": [0], "mark": ["x" * 5000]})
    for read in (lambda: feedback(REVIEW, marks), lambda: marked(marks, "marks.csv", None)):
        with pytest.raises(InputError) as refused:
            read()
        assert len(str(refused.value)) < 400


def test_rows_of_any_type_are_numbers_or_refused():
    marks = pd.DataFrame({"row": pd.Series(["0", "x"], dtype="string[pyarrow]"), "mark": "wrong"})
    judged, _ = marked(marks, "marks.csv", None)
    with pytest.raises(InputError, match="the marks give 'x' as a row"):
        located(judged, REVIEW, "rows.csv", None)


def test_doubts_that_are_missing_count_as_none():
    review = REVIEW.assign(actual="no", predicted="yes", label_doubt=["", 0.5])
    found = feedback(review, pd.DataFrame({"row": [0, 1], "mark": "label wrong"}))
    assert found.labels_expected == 0.5
