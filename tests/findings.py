"""Findings for tests of what is made of them: made up, so that any size is there in a second."""

from __future__ import annotations

import numpy as np
import pandas as pd

from falcon_discover.audit.finding import Discovery
from falcon_discover.data.table import Table
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.signals.certainty import certainty_signals
from falcon_discover.signals.state import State

HOSTILE_NAME = "<script>window.hacked=1</script>"
HOSTILE_LABEL = "</script><img src=x onerror=window.hacked=1>"
FORMULA = "=HYPERLINK(1)"
RIGHT_TO_LEFT = "שלום \u202eabc"
LONG = "x" * 10_000


def made_up(n: int, *, tau: float = 0.9, labelled: bool = True, hostile: bool = False) -> Discovery:
    """Return a finding on n new rows by gated confidence; labels follow the scores."""
    rng = np.random.default_rng(0)
    table = Table.from_input(_table(n, rng, hostile))
    p = rng.beta(0.3, 0.5, n)
    codes = (rng.uniform(size=n) < p).astype(np.int8)
    state = _state(p, rng)
    few = np.arange(min(n, 2_000))
    clusters = Clusters(None, (), np.arange(1), pd.DataFrame({"region": [1], "rows": [n]}))
    return Discovery(
        table,
        state,
        codes if labelled else None,
        table.index,
        np.array(["no", HOSTILE_LABEL if hostile else "yes"]),
        tau,
        "gated_confidence",
        RegionSet((), (), clusters),
        np.zeros(n),
        TrainingRows(LabelledState(state.take(few), codes[few])),
        own_rows=False,
    )


def _table(n: int, rng: np.random.Generator, hostile: bool) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": rng.normal(3e4, 1e4, n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D"),
            "job": rng.choice(["clerk", "driver", "cook"], n),
        }
    )
    if hostile:
        table[HOSTILE_NAME] = rng.choice([FORMULA, RIGHT_TO_LEFT, HOSTILE_LABEL], n)
        table[LONG] = LONG
    return table


def _state(p: np.ndarray, rng: np.random.Generator) -> State:
    n = len(p)
    signals = {
        **certainty_signals(p),
        "support": rng.uniform(size=n),
        "label_agreement": rng.uniform(0.5, 1, n),
        "prediction_agreement": rng.uniform(size=n),
        "mean_drift": rng.exponential(0.02, n),
        "max_drift": rng.exponential(0.05, n),
        "label_consistency": 1 - rng.integers(0, 3, n) / 18,
        "logit_variance": rng.exponential(0.1, n),
    }
    evidence = {
        "neighbours": np.full(n, 25),
        "nearest_distance": rng.exponential(1, n),
        "labelled_as_predicted": rng.integers(5, 26, n) / 25,
        "log_trust_1": rng.normal(size=n),
    }
    return State(p, pd.DataFrame(signals), pd.DataFrame(evidence))
