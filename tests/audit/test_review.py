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
            "97% sure, but only 9 of its 25 nearest neighbours share the predicted label "
            "and the score moves by 0.21 when mixed with them",
        ),
        (
            {"share": 9 / 25, "consistency": 0.5, "drift": 0.6},
            "97% sure, but only 9 of its 25 nearest neighbours share the predicted label "
            "and the decision flips in 50% of the mixes with them",
        ),
        (
            {"share": 24 / 25, "drift": 0.21},
            "97% sure, but the score moves by 0.21 when mixed with its neighbours; "
            "24 of its 25 nearest neighbours share the predicted label",
        ),
        (
            {"support": 0.05, "share": 1.0},
            "97% sure, but few reference rows are like it; 25 of its 25 nearest neighbours "
            "share the predicted label and the score moves by at most 0.01 when mixed with them",
        ),
        (
            {"p": 0.08, "share": 1.0},
            "92% sure, close to the 90% threshold; 25 of its 25 nearest neighbours "
            "share the predicted label and the score moves by at most 0.01 when mixed with them",
        ),
        (
            {"model": False, "share": 1.0, "said": (3.0, -0.5, -2.0), "risk": 0.11},
            "1 in 9: 97% sure, but 2 of 3 other models predict otherwise; "
            "25 of its 25 nearest neighbours share the predicted label",
        ),
        (
            {"model": False, "share": 0.2, "said": (3.0, 0.5, 2.0)},
            "97% sure, but only 5 of its 25 nearest neighbours share the predicted label "
            "and another model is only 62% sure",
        ),
        (
            {"p": 0.70},
            "70% sure: below the 90% threshold, so it cannot be a confident error",
        ),
        (
            {"model": False, "share": 0.2},
            "97% sure, but only 5 of its 25 nearest neighbours share the predicted label",
        ),
    ],
)
def test_the_reason_says_what_the_signals_say(signals, sentence):
    assert reason(**signals) == sentence


def test_percent_never_claims_certainty_that_is_not_there():
    assert percent(0.99999) == "99.9%"
    assert percent(0.995) == "99.5%"
    assert percent(0.9) == "90%"
