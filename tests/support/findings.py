"""Findings for tests of what is made of them: made up, so that any size is there in a second."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.audit.finding import Finding
from falcon_discover.audit.fitted import FittedAudit
from falcon_discover.data.table import Table
from falcon_discover.evaluation.sources import CROSS_FITTED
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


def made_up(n: int, *, tau: float = 0.9, labelled: bool = True, hostile: bool = False) -> Finding:
    """Return a finding on n new rows by gated confidence; labels follow the scores."""
    rng = np.random.default_rng(0)
    table = Table.from_input(_table(n, rng, hostile))
    p = rng.beta(0.3, 0.5, n)
    codes = (rng.uniform(size=n) < p).astype(np.int8)
    state = _state(p, rng)
    few = np.arange(min(n, 2_000))
    clusters = Clusters(None, (), np.arange(1), pd.DataFrame({"region": [1], "rows": [n]}))
    audit = FittedAudit(
        classes=np.array(["no", HOSTILE_LABEL if hostile else "yes"]),
        tau=tau,
        spec="gated_confidence",
        seed=0,
        kinds=table.kinds,
        table=table.take(few),
        training=TrainingRows(LabelledState(state.take(few), codes[few])),
        regions=RegionSet((), (), clusters),
        fitted_on=len(few),
        source=CROSS_FITTED,
    )
    found = Finding(audit, table, state, codes if labelled else None)
    # There is no model that other rows could be described with.
    vars(found)["regions"] = audit.regions
    return found


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


def changed(found: Finding, **new: Any) -> Finding:
    """Return a finding with other rows, or by an audit with other parts; its regions stay."""
    regions = new.pop("regions", found.regions)
    of_rows = {field.name for field in fields(Finding)}
    parts = {name: new.pop(name) for name in set(new) - of_rows}
    other = replace(found, audit=replace(found.audit, **parts, regions=regions), **new)
    vars(other)["regions"] = regions
    return other
