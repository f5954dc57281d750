"""Calibration before and after, on rows that the calibrators have not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from falcon_discover import metrics
from falcon_discover.calibration import Discrepancy, fitted_calibrator
from falcon_discover.data.drawing import group_folds
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import Tau, level_of
from falcon_discover.metrics.design import Design, counted, rate_interval
from falcon_discover.rankers.training import LabelledState
from falcon_discover.runtime import notices
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import records
from falcon_discover.runtime.threads import limited
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.signals.state import State

BEFORE = "before"
CAUTIOUS = "discrepancy_auto"
SHOWN = ("platt", "discrepancy", CAUTIOUS)
# More rows make the figures no clearer and cost seconds.
MAX_ROWS = 10_000
MAX_MEASURED = 100_000
FOLDS = 3
# With fewer of either class there is nothing to fit and to measure apart.
MIN_OF_A_CLASS = 10


@dataclass(frozen=True, eq=False, repr=False)
class Recalibration(Result):
    """What calibrators change, measured on rows they were not fitted on.

    Attributes
    ----------
    table : one row per method, "before" first, "discrepancy_auto" (with caution "auto") last: log
        loss, Brier score, ECE, AUROC, accuracy, confident predictions, confident errors, their
        rate and its interval, and the errors at the coverage before: among as many of the surest
        predictions as were confident before
    tau : confidence from which a prediction counts as confident, before and after alike
    words : which rows the calibrators were fitted and evaluated on
    """

    table: pd.DataFrame
    tau: Tau
    words: str

    def frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        return {"tau": self.tau, "words": self.words, "methods": records(self.table)}

    NEXT = 'falcon.calibrated("discrepancy") returns the recalibrated model.'

    def headline(self) -> str:
        """Return which rows the calibrators learned from and which were measured."""
        return self.words

    def text(self) -> str:
        """Return the table, and which rows it is about."""
        return f"{self.table.to_string(index=False, float_format='{:.4f}'.format)}\n{self.words}"


def recalibrated(learn: LabelledState, measure: LabelledState, tau: Tau) -> Recalibration:
    """Return the effect of calibrators fitted on some rows and measured on others."""
    fit, measure = _sample(learn), _sample(measure, MAX_MEASURED)
    scores = _scores(fit, measure.state)
    words = (
        f"Calibrators were fitted on {len(fit.codes):,} rows and evaluated on "
        f"{len(measure.codes):,} others."
    )
    return Recalibration(_table(measure, scores, tau), tau, words)


def cross_recalibrated(rows: LabelledState, tau: Tau, seed: int = 0) -> Recalibration:
    """Return the effect of calibrators on the rows there are, each by one that has not seen it."""
    rows = _sample(rows)
    scores = {method: np.empty(rows.state.p.shape) for method in SHOWN}
    for seen, held_out in _folds(rows, seed):
        part, rest = _take(rows, seen), rows.state.take(held_out)
        for method, p in _scores(part, rest).items():
            scores[method][held_out] = p
    words = (
        f"Cross-fitted on {len(rows.codes):,} rows in {FOLDS} folds: each fold is evaluated with "
        "calibrators fitted on the others."
    )
    return Recalibration(_table(rows, scores, tau), tau, words)


def _folds(rows: LabelledState, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    if rows.state.group is None:
        splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        # Of more than two classes some may have fewer rows than there are parts.
        with notices.ignoring(UserWarning, "The least populated class"):
            parts = list(splitter.split(rows.codes, rows.codes))
        yield from parts
        return
    count = min(FOLDS, len(np.unique(rows.state.group)))
    for seen, held_out in group_folds(rows.codes, rows.state.group, count, seed):
        if len(np.unique(rows.codes[seen])) < 2:
            raise InputError(
                "one class occurs in too few groups to recalibrate: give more groups of rows."
            )
        yield seen, held_out


def enough_labels(codes: npt.ArrayLike) -> bool:
    """Return whether there are rows of two classes or more to fit on and to measure.

    Examples
    --------
    >>> enough_labels([0, 1] * 20), enough_labels([0] * 30 + [1])
    (True, False)
    """
    counts = np.bincount(np.asarray(codes, dtype=np.intp), minlength=2)
    return bool(np.sort(counts)[-2] >= MIN_OF_A_CLASS)


def _scores(learn: LabelledState, state: State) -> dict[str, FloatArray]:
    # Small fits: more threads would only wait for each other.
    with limited(1, 1):
        weight = learn.state.weight
        platt = fitted_calibrator("platt", learn.state, learn.codes, weight)
        # One fit for both: without caution the log-odds stay as they are.
        own = Discrepancy("auto").fit(learn.state, learn.codes, weight)
        found = platt.predict(state), own.predict(state, caution=0.0), own.predict(state)
        return dict(zip(SHOWN, found, strict=True))


def _table(rows: LabelledState, scores: dict[str, FloatArray], tau: Tau) -> pd.DataFrame:
    state, design = rows.state, rows.state.design
    (covered,) = counted(design, state.eligible(tau))
    return pd.DataFrame(
        [
            {"method": method, **_figures(rows.codes, p, tau, covered, state.threshold, design)}
            for method, p in {BEFORE: state.p, **scores}.items()
        ]
    )


def _figures(
    codes: npt.NDArray[np.int8],
    p: FloatArray,
    tau: Tau,
    covered: float,
    threshold: float,
    design: Design | None,
) -> dict[str, float]:
    decision = metrics.decided(p, threshold)
    eligible = metrics.confidence(p, threshold) >= level_of(tau, decision)
    right = decision == codes
    rows, sure, wrong = counted(design, np.ones(len(p), bool), eligible, eligible & ~right)
    low, high = rate_interval(design, ~right, eligible)
    weight = None if design is None else design.weight
    return {
        "rows": rows,
        "nll": metrics.nll(codes, p, sample_weight=weight),
        "brier": metrics.brier(codes, p, sample_weight=weight),
        "ece": metrics.ece(codes, p, sample_weight=weight),
        "auroc": metrics.label_auroc(codes, p, sample_weight=weight),
        "accuracy": float(right.mean()) if design is None else design.mean(right),
        "confident": sure,
        "confident_errors": wrong,
        "rate": wrong / sure if sure else np.nan,
        "low": low,
        "high": high,
        "errors_at_coverage": metrics.errors_among_surest(codes, p, covered, sample_weight=weight),
    }


def _sample(rows: LabelledState, at_most: int = MAX_ROWS) -> LabelledState:
    n = len(rows.codes)
    if n <= at_most:
        return rows
    return _take(rows, np.sort(np.random.default_rng(0).permutation(n)[:at_most]))


def _take(rows: LabelledState, chosen: IntArray) -> LabelledState:
    state: State = rows.state.take(chosen)
    return LabelledState(state, rows.codes[chosen])
