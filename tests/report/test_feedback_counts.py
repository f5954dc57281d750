"""Marks are compared with the predicted risk and the confidence as counted by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from falcon_discover import InputError
from falcon_discover.report.feedback import feedback


def review_of(n: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "row": np.arange(n) * 3,
            "suspicion": np.linspace(0.5, 0.1, n),
            "confidence": np.full(n, 0.95),
            "predicted": "yes",
            "actual": ["no", "yes"] * (n // 2),
        }
    )


def test_feedback_compares_marks_with_the_predicted_risk_by_hand():
    review = review_of(20)
    marks = pd.DataFrame({"row": review["row"][:16], "mark": ["wrong", "right"] * 8})
    found = feedback(review, marks)
    whole = found.table.iloc[0]
    # 8 of 16, Clopper-Pearson by the quantiles of Beta(8, 9) and Beta(9, 8).
    assert (whole["rows"], whole["wrong"], whole["observed"]) == (16, 8, 0.5)
    assert (round(whole["low"], 3), round(whole["high"], 3)) == (0.247, 0.753)
    assert whole["predicted"] == pytest.approx(review["suspicion"][:16].mean())
    assert whole["promised"] == pytest.approx(0.05)
    assert found.table["rows"].tolist() == [16, 6, 5, 5]
    assert found.table["predicted"].is_monotonic_decreasing is False
    assert found.table["predicted"][1:].is_monotonic_decreasing
    assert found.disputed == 0
    assert "own confidence implied 5%, which is too low" in found.words()
    assert "predicted risk implied 34%, which fits" in found.words()


def test_feedback_counts_neither_unsure_marks_nor_rows_below_the_threshold():
    review = review_of(6).assign(confidence=[0.95, 0.95, 0.95, 0.95, 0.6, 0.6])
    marks = pd.DataFrame(
        {"row": review["row"], "mark": ["right", "wrong", "unsure", "right", "wrong", "right"]}
    )
    found = feedback(review, marks, ranker="gated_confidence")
    assert (found.table.iloc[0]["rows"], found.unsure, found.below) == (3, 1, 2)
    # Marks right, wrong, right against known labels wrong, right, right.
    assert found.disputed == 2
    assert np.isnan(found.table.iloc[0]["predicted"])
    assert "predicted risk" not in found.words()


def test_feedback_by_surprise_recovers_the_risk():
    review = review_of(4).assign(confidence=0.95)
    risk = review["suspicion"].to_numpy()
    told = review.assign(suspicion=risk * -np.log(0.05))
    marks = pd.DataFrame({"row": review["row"], "mark": "wrong"})
    found = feedback(told, marks, severity="surprise")
    assert found.table.iloc[0]["predicted"] == pytest.approx(risk.mean())


@pytest.mark.parametrize(
    ("marks", "sentence"),
    [
        ({"row": [0]}, "lack the column 'mark'"),
        ({"row": [0], "mark": ["maybe"]}, "contain 'maybe' in row 0"),
        ({"row": [0, 0], "mark": ["right", "wrong"]}, "row 0 is marked more than once"),
        ({"row": [1], "mark": ["right"]}, "row 1 is marked but not in the review list"),
    ],
)
def test_bad_marks_are_refused_in_one_sentence(marks, sentence):
    with pytest.raises(InputError, match=sentence):
        feedback(review_of(4), pd.DataFrame(marks))


def test_no_judged_row_is_a_result():
    marks = pd.DataFrame({"row": [0], "mark": ["unsure"]})
    assert "mark some first" in repr(feedback(review_of(4), marks))
