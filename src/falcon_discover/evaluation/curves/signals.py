"""How well each signal alone tells confident errors apart; no ranker is fitted."""

from __future__ import annotations

import pandas as pd

from falcon_discover.metrics import fc_auroc
from falcon_discover.metrics.clustered import area_interval
from falcon_discover.metrics.decisions import Tau
from falcon_discover.rankers.inputs import signal_columns
from falcon_discover.runtime.types import BoolArray
from falcon_discover.signals.catalogue import INPUTS
from falcon_discover.signals.state import State


def signal_strength(state: State, events: BoolArray, tau: Tau) -> pd.DataFrame:
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
    design = None if state.design is None else state.design.take(eligible)
    weight = None if design is None else design.weight
    lines = []
    columns = signal_columns(state)
    for signal in INPUTS:
        if signal.input in columns:
            values = columns[signal.input][eligible]
            low, high = area_interval(hits, values, design)
            lines.append(
                {
                    "signal": signal.input,
                    "family": signal.family,
                    "meaning": signal.doubt,
                    "auroc": fc_auroc(hits, values, sample_weight=weight),
                    "low": low,
                    "high": high,
                }
            )
    frame = pd.DataFrame(lines)
    return frame.sort_values("auroc", ascending=False, ignore_index=True)
