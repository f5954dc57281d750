"""How well each signal alone tells confident errors apart; no ranker is fitted."""

from __future__ import annotations

import pandas as pd

from falcon_discover.metrics import fc_auroc
from falcon_discover.metrics.intervals import auroc_interval
from falcon_discover.rankers.inputs import FAMILIES, signal_columns
from falcon_discover.runtime.types import BoolArray
from falcon_discover.signals.state import State

# What a large value of each directed signal means.
MEANING = {
    "doubt": "the model's own doubt",
    "support": "few reference rows are like it",
    "neighbour_distance": "its neighbours are far",
    "labelled_otherwise": "neighbours carry the other label",
    "log_trust_1": "nearest row of the other class is near",
    "log_trust_5": "5th nearest row of the other class is near",
    "log_trust_25": "25th nearest row of the other class is near",
    "log_drift": "score moves when mixed with neighbours",
    "signed_drift": "mixing speaks against the prediction",
    "worst_drift": "some mix speaks against the prediction",
    "opinion_boosting": "boosted trees doubt it",
    "opinion_forest": "extra trees doubt it",
    "opinion_linear": "a logistic regression doubts it",
    "opinion_mean": "second opinions doubt it on average",
    "opinion_spread": "second opinions differ",
    "opinion_worst": "the least favourable second opinion",
}


def signal_strength(state: State, events: BoolArray, tau: float) -> pd.DataFrame:
    """Return the eligible AUROC of each signal alone with its interval, best first.

    Parameters
    ----------
    events : which rows are confident errors at `tau`

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([0.91, 0.92, 0.97, 0.99, 0.6])
    >>> events = np.array([True, True, False, False, False])
    >>> signal_strength(State.from_scores(p), events, 0.9)[["signal", "auroc"]].values.tolist()
    [['doubt', 1.0]]
    """
    eligible = state.eligible(tau)
    hits = events[eligible]
    lines = []
    for family in FAMILIES:
        others = set(FAMILIES) - {family}
        for name, values in signal_columns(state, others).items():
            if name in MEANING:
                low, high = auroc_interval(hits, values[eligible])
                lines.append(
                    {
                        "signal": name,
                        "family": family,
                        "meaning": MEANING[name],
                        "auroc": fc_auroc(hits, values[eligible]),
                        "low": low,
                        "high": high,
                    }
                )
    frame = pd.DataFrame(lines)
    return frame.sort_values("auroc", ascending=False, ignore_index=True)
