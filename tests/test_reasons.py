from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from falcon_discover.reasons import review_list
from falcon_discover.signals.certainty import certainty_signals
from falcon_discover.signals.state import State
from falcon_discover.words import percent


def reason(p=0.97, share=0.9, k=25, drift=0.01, consistency=1.0, support=0.9, *, model=True):
    signals = pd.DataFrame(certainty_signals(np.array([p]))).assign(support=support)
    if model:
        signals = signals.assign(max_drift=drift, label_consistency=consistency)
    evidence = pd.DataFrame({"neighbours": [k], "labelled_as_predicted": [share]})
    state = State(np.array([p]), signals, evidence)
    frame = review_list(
        state, np.ones(1), np.ones(1, int), classes=np.array(["no", "yes"]), tau=0.90, budget=1.0,
        index=pd.RangeIndex(1),
    )  # fmt: skip
    return frame["reason"].item()


@pytest.mark.parametrize(
    ("signals", "sentence"),
    [
        (
            {"share": 9 / 25, "drift": 0.21},
            "97 % sure, but only 9 of its 25 nearest neighbours share the predicted label "
            "and the score moves by 0.21 when mixed with them",
        ),
        (
            {"share": 9 / 25, "consistency": 0.5, "drift": 0.6},
            "97 % sure, but only 9 of its 25 nearest neighbours share the predicted label "
            "and the decision flips in 50 % of the mixes with them",
        ),
        (
            {"share": 24 / 25, "drift": 0.21},
            "97 % sure, but the score moves by 0.21 when mixed with its neighbours; "
            "24 of its 25 nearest neighbours share the predicted label",
        ),
        (
            {"support": 0.05, "share": 1.0},
            "97 % sure, but few reference rows are like it; 25 of its 25 nearest neighbours "
            "share the predicted label and the score moves by at most 0.01 when mixed with them",
        ),
        (
            {"p": 0.08, "share": 1.0},
            "92 % sure, close to the 90 % threshold; 25 of its 25 nearest neighbours "
            "share the predicted label and the score moves by at most 0.01 when mixed with them",
        ),
        (
            {"p": 0.70},
            "70 % sure: below the 90 % threshold, so it cannot be a confident error",
        ),
        (
            {"model": False, "share": 0.2},
            "97 % sure, but only 5 of its 25 nearest neighbours share the predicted label",
        ),
    ],
)
def test_the_reason_says_what_the_signals_say(signals, sentence):
    assert reason(**signals) == sentence


def test_percent_never_claims_certainty_that_is_not_there():
    assert percent(0.99999) == "99.9 %"
    assert percent(0.995) == "99.5 %"
    assert percent(0.9) == "90 %"
