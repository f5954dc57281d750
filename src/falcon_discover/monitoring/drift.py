"""What changed: the rows of a batch against those of the audit, the size of each change first."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import chi2, kstwobign
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold

from falcon_discover.metrics import label_auroc
from falcon_discover.monitoring.baseline import Baseline, Counted
from falcon_discover.monitoring.cells import Cells
from falcon_discover.monitoring.sample import RowSample
from falcon_discover.monitoring.statistics import BatchStatistics
from falcon_discover.regions.confirm import holm
from falcon_discover.runtime.threads import one_blas_thread
from falcon_discover.runtime.types import FloatArray

COLUMNS = ["name", "what", "distance", "p_value", "adjusted_p", "changed", "missing", "was_missing"]
# A change that is sure to be there counts from this distance on: in a batch of millions every
# change is sure. New rows have signals a little unlike those of the audited rows in any case:
# these are measured with a fold less to compare with.
LEAST = {"column": 0.05, "prediction": 0.05, "signal": 0.15}
LEVEL = 0.05
FOLDS = 3
# A kind of row that no more of the audited ones are of is rare.
RARE = 0.01


def drift(statistics: BatchStatistics, baseline: Baseline) -> pd.DataFrame:
    """Return how far each column, signal and the predictions are from the audited rows.

    Returns
    -------
    frame, largest change first: name; what it is; distance, from 0 (alike) to 1 (nothing in
    common): of numbers the largest difference of the two distribution functions (Kolmogorov and
    Smirnov's), of categories the share of rows that would have to change (total variation);
    p_value that no change at all would look so; adjusted_p, for all lines together (Holm);
    changed: sure and large enough to matter; share of values missing, and at the audit
    """
    lines = []
    for known, counts in zip(baseline.counted, statistics.counts, strict=True):
        here, then = counts.astype(np.float64), known.counts
        if not here.sum() or not then.sum():
            continue
        own, other = here / here.sum(), then / then.sum()
        lines.append(
            {
                "name": known.cells.name,
                "what": known.what,
                "distance": distance_of(known, own, other),
                "p_value": p_value_of(known, here, own, other),
                "missing": float(own[0]),
                "was_missing": float(other[0]),
            }
        )
    found = pd.DataFrame(lines, columns=[c for c in COLUMNS if c not in ("adjusted_p", "changed")])
    found["adjusted_p"] = holm(found["p_value"].to_numpy(dtype=np.float64))
    least = found["what"].map(LEAST)
    found["changed"] = (found["adjusted_p"] <= LEVEL) & (found["distance"] >= least)
    order = np.lexsort((found["name"], -found["distance"]))
    return found[COLUMNS].iloc[order].reset_index(drop=True)


def distance_of(known: Counted, own: FloatArray, other: FloatArray) -> float:
    """Return how far the shares of the cells are from each other, from 0 to 1."""
    if known.cells.numeric:
        return float(np.abs(np.cumsum(own - other)).max())
    return float(np.abs(own - other).sum() / 2)


def p_value_of(known: Counted, counts: FloatArray, own: FloatArray, other: FloatArray) -> float:
    """Return the chance that rows of the same kind would look so different."""
    here, then = float(counts.sum()), known.rows
    effective = here * then / (here + then)
    if known.cells.numeric:
        return float(kstwobign.sf(math.sqrt(effective) * distance_of(known, own, other)))
    pooled = (here * own + then * other) / (here + then)
    there = pooled > 0
    statistic = effective * float(((own - other)[there] ** 2 / pooled[there]).sum())
    return float(chi2.sf(statistic, max(int(there.sum()) - 1, 1)))


@dataclass(frozen=True)
class Domain:
    """How well a classifier tells rows of a batch from audited ones, on rows it has not seen.

    Attributes
    ----------
    auroc : 0.5 if they cannot be told apart, 1 if they always can
    novel : share of the batch that is of a rare kind: only 1 in 100 audited rows is like that. A
        batch that is a part of the audited rows, such as one category, has a high AUROC and few
        such rows; one that is unlike all of them has many
    rows : rows of the batch that were told apart
    """

    auroc: float
    novel: float
    rows: int

    @classmethod
    def of(cls, baseline: Baseline, batch: RowSample) -> Domain:
        """Tell rows apart; not defined (NaN) where the batch has fewer rows than folds.

        Dates do not count: those of a batch are always new.
        """
        audited = baseline.sample
        columns = [c.cells for c in baseline.counted if c.what == "column" and not c.dates]
        if min(len(audited), len(batch)) < FOLDS or not columns:
            return cls(math.nan, math.nan, len(batch))
        rows = np.vstack([_coded(part.frame, columns) for part in (audited, batch)])
        here = np.repeat([0, 1], [len(audited), len(batch)])
        weight = np.append(baseline.sample_weight, np.ones(len(batch)))
        model = HistGradientBoostingClassifier(
            max_iter=60, max_leaf_nodes=16, min_samples_leaf=5, early_stopping=False,
            class_weight="balanced", random_state=0,
        )  # fmt: skip
        odds = np.zeros(len(rows))
        with one_blas_thread(openmp=1):
            for fit, asked in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(
                rows, here
            ):
                # A column without a value tells nothing, and cannot be cut.
                told = ~np.isnan(rows[fit]).all(axis=0)
                if told.any():
                    model.fit(rows[fit][:, told], here[fit], weight[fit])
                    odds[asked] = model.decision_function(rows[asked][:, told])
        own = weight[here == 0]
        rare = np.quantile(odds[here == 0], 1 - RARE, weights=own, method="inverted_cdf")
        novel = float((odds[here == 1] > rare).mean())
        return cls(label_auroc(here, odds, sample_weight=weight), novel, len(batch))


def _coded(frame: pd.DataFrame, columns: list[Cells]) -> FloatArray:
    """Return rows as numbers; categories by how frequent they are among the audited rows."""
    coded = []
    for cells in columns:
        values = frame[cells.name].to_numpy()
        if cells.numeric:
            coded.append(values.astype(np.float64))
        else:
            places = cells.codes(values).astype(np.float64)
            coded.append(np.where(places == 0, np.nan, places))
    return np.column_stack(coded)
