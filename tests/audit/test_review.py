from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from falcon_discover.audit.review import review_list
from falcon_discover.runtime.words import percent
from falcon_discover.signals.certainty import certainty_signals
from falcon_discover.signals.state import State


def reason(
    p=0.97,
    share=0.9,
    k=25,
    drift=0.01,
    consistency=1.0,
    support=0.9,
    *,
    model=True,
    said=None,
    risk=None,
):
    signals = pd.DataFrame(certainty_signals(np.array([p]))).assign(support=support)
    if model:
        signals = signals.assign(max_drift=drift, label_consistency=consistency)
    evidence = pd.DataFrame({"neighbours": [k], "labelled_as_predicted": [share]})
    if said is not None:
        names = ("opinion_boosting", "opinion_forest", "opinion_linear")
        evidence = evidence.assign(**dict(zip(names, said, strict=True)))
    state = State(np.array([p]), signals, evidence)
    frame = review_list(
        state, np.ones(1), np.array([""]), np.zeros(1, int), classes=np.array(["no", "yes"]),
        tau=0.90, budget=1.0, index=pd.RangeIndex(1),
        risk=None if risk is None else np.array([risk]),
    )  # fmt: skip
    return frame["reason"].item()


@pytest.mark.parametrize(
    ("signals", "sentence"),
    [
        (
            {"share": 9 / 25, "drift": 0.21},
            "97% sure, but: only 9 of the 25 most similar cases agree and small changes move the "
            "score by 0.21.",
        ),
        (
            {"share": 9 / 25, "consistency": 0.5, "drift": 0.6},
            "97% sure, but: only 9 of the 25 most similar cases agree and small changes flip the "
            "decision in 50% of trials.",
        ),
        (
            {"share": 24 / 25, "drift": 0.21},
            "97% sure, but small changes move the score by 0.21. "
            "In its favour: 24 of the 25 most similar cases agree.",
        ),
        (
            {"support": 0.05, "share": 1.0},
            "97% sure, but there are few similar cases. In its favour: all of the 25 most similar "
            "cases agree and small changes hardly move the score (by 0.01 at most).",
        ),
        (
            {"p": 0.08, "share": 1.0},
            "92% sure, only just above the 90% threshold. In its favour: all of the 25 most "
            "similar cases agree and small changes hardly move the score (by 0.01 at most).",
        ),
        (
            {"model": False, "share": 1.0, "said": (3.0, -0.5, -2.0), "risk": 0.11},
            "Risk about 1 in 9. 97% sure, but 2 of 3 other models disagree. "
            "In its favour: all of the 25 most similar cases agree.",
        ),
        (
            {"model": False, "share": 0.2, "said": (3.0, 0.5, 2.0)},
            "97% sure, but: only 5 of the 25 most similar cases agree and another model is only "
            "62% sure.",
        ),
        (
            {"share": 0.0, "support": 0.1, "said": (3.0, -0.5, 2.0), "drift": 0.28},
            "97% sure, but: none of the 25 most similar cases agrees, there are few similar "
            "cases, 1 of 3 other models disagrees, and small changes move the score by 0.28.",
        ),
        (
            {"share": 1 / 25, "model": False},
            "97% sure, but only 1 of the 25 most similar cases agrees.",
        ),
        ({"p": 0.70}, "70% sure, below the 90% threshold: it cannot be a confident error."),
        (
            {"model": False, "share": 0.2},
            "97% sure, but only 5 of the 25 most similar cases agree.",
        ),
    ],
)
def test_the_reason_says_what_the_signals_say(signals, sentence):
    assert reason(**signals) == sentence


def test_percent_never_claims_certainty_that_is_not_there():
    assert percent(0.99999) == "99.9%"
    assert percent(0.995) == "99.5%"
    assert percent(0.9) == "90%"
