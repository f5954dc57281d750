"""The model of evidence: what it may and may not learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from falcon_discover.rankers.evidence import EvidenceModel, Sample, inner_folds
from falcon_discover.rankers.inputs import for_the_class, signal_columns
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.signals.state import State


def test_a_class_is_never_less_likely_for_a_higher_score_of_the_model():
    # Labels are the opposite of what the model says, and as a second opinion says.
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 400)
    codes = (rng.uniform(size=400) > p).astype(np.int8)
    said = np.where(p > 0.5, 1.0, -1.0) * (2.0 * codes - 1.0 + rng.normal(size=400))
    opinion = pd.DataFrame({"opinion_forest": said})
    state = replace(State.from_scores(p), evidence=opinion)
    model = EvidenceModel("positive").fit(Sample.of_classes(state, codes, None))
    higher = State.from_scores(np.linspace(0.51, 0.98, 30))
    higher = replace(higher, evidence=pd.DataFrame({"opinion_forest": np.zeros(30)}))
    odds = model.log_odds(higher)
    assert (np.diff(odds) >= 0).all()
    # It did learn, from the other opinion.
    agreed = replace(higher, evidence=pd.DataFrame({"opinion_forest": np.full(30, 2.0)}))
    assert (model.log_odds(agreed) > odds + 1).all()


def test_opinions_about_a_prediction_speak_for_the_positive_class_by_hand():
    opinion = pd.DataFrame({"opinion_forest": [2.0, 3.0]})
    state = replace(State.from_scores(np.array([0.9, 0.2])), evidence=opinion)
    # The second row is predicted negative: agreement speaks against the positive class.
    expected = [[np.log(9.0), 2.0], [-np.log(4.0), -3.0]]
    np.testing.assert_allclose(for_the_class(state).signals, expected)


def test_which_class_is_decided_is_told_in_a_column_for_each_but_the_first():
    two = signal_columns(State.from_scores(np.array([0.9, 0.2])))
    three = signal_columns(State.from_scores(np.array([[0.9, 0.1, 0], [0, 0.9, 0.1], [0, 0, 1]])))
    assert two["decision"].tolist() == [1, 0]
    assert [three[f"decision_{code}"].tolist() for code in (1, 2)] == [[0, 1, 0], [0, 0, 1]]
    assert [len(found) for found in (two, three)] == [2, 3]


def test_few_rows_hardly_shrink_what_the_model_itself_says():
    p = np.tile([0.2, 0.4, 0.6, 0.8], 10)
    # Of ten rows of each score, 1, 4, 6 and 9 are positive.
    codes = (np.repeat(np.arange(10), 4) < np.tile([1, 4, 6, 9], 10)).astype(np.int8)
    silent = pd.DataFrame({"opinion_forest": np.zeros(40)})
    state = replace(State.from_scores(p), evidence=silent)
    model = EvidenceModel("positive").fit(Sample.of_classes(state, codes, None))
    free = LogisticRegression(C=np.inf).fit(logit(p)[:, None], codes)
    slope = model.linear.coef_[0, 0] / model.scale[0]
    assert slope == pytest.approx(free.coef_[0, 0], rel=0.02)


def test_confident_errors_are_spread_over_the_folds():
    p = np.concatenate([np.full(8, 0.95), np.full(8, 0.6), np.full(184, 0.95)])
    wrong = np.arange(200) < 16
    state = State.from_scores(p)
    fold = inner_folds(Sample.of_errors(state, wrong, state.eligible(0.9)), seed=0)
    # Eight confident errors and eight others, in four folds.
    assert np.bincount(fold[:8]).tolist() == [2, 2, 2, 2]
    assert np.bincount(fold[8:16]).tolist() == [2, 2, 2, 2]


def test_a_learned_ranker_does_not_outlive_its_rows():
    p = np.linspace(0.5, 0.99, 200)
    state = State.from_scores(p)
    codes = (np.arange(200) % 7 > 0).astype(np.int8)
    rows = TrainingRows(LabelledState(state, codes))
    first = rows.ranker("gated_confidence", 0.9)
    assert rows.ranker("gated_confidence", 0.9) is first
    other = replace(rows, oof=LabelledState(state, 1 - codes))
    assert other.ranker("gated_confidence", 0.9) is not first
