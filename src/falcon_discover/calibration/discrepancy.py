"""A calibrator that uses the state: confidence drops where the evidence does not support it.

The log-odds of the model are recalibrated together with what the evidence says about the positive
class: a ridge regression, and small boosted trees that also see the features. Both can only rise
with the model's own score when everything else is the same. The result is mixed with plain Platt
scaling, as far as rows that the fit has not seen allow. On request its log-odds are scaled down
("caution"): fewer confident errors, because there are fewer confident predictions.

Of more than two classes it is the probability of the decided one that is recalibrated; the others
share what is left in proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from falcon_discover import metrics
from falcon_discover.calibration.calibrators import Beta, Platt, Temperature, Weights
from falcon_discover.exceptions import check_number
from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.rankers.evidence import EvidenceModel, Sample, cross_fitted, dealt
from falcon_discover.runtime.types import FloatArray
from falcon_discover.signals.state import State

FOLDS = 5
# How much of the calibrator the mix with Platt scaling may take.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# Shrinkage of the log-odds that is tried, and the part of the gain in log loss it may cost. That
# part was chosen on the seven data sets of the study; where the evidence earns more than it does
# there, "auto" shrinks further.
CAUTIONS = tuple(round(0.01 * i, 2) for i in range(31))
SPEND = 2 / 3

Caution = float | Literal["auto"]


class Discrepancy:
    """Recalibration by the model's score and the evidence about each row.

    Parameters
    ----------
    caution : how far to shrink log-odds; 0 (the default) for not at all. More caution gives fewer
        confident errors only by giving fewer confident predictions, and it worsens calibration;
        the order of confidence does not change. "auto" gives up two thirds of the gain in log
        loss over the best plain calibrator, but never lets the Brier score become worse than the
        uncalibrated model's
    random_state : seed of the trees and of the folds

    Attributes
    ----------
    learned_ : whether there was anything to learn from; scores stay as they are if not
    share_ : share of the evidence in the mix with Platt scaling
    caution_ : how far log-odds are shrunk
    """

    def __init__(self, caution: Caution = 0.0, random_state: int = 0) -> None:
        self.caution = caution
        self.random_state = random_state

    def fit(self, state: State, y: npt.ArrayLike, sample_weight: Weights = None) -> Self:
        """Learn from labelled rows whose scores come from models that have not seen them."""
        if self.caution != "auto":
            must = "give a number of at least 0 and below 1, or 'auto'"
            check_number("caution", self.caution, lambda part: 0 <= part < 1, must)
        codes = np.asarray(y)
        own, target = _told(state, codes)
        counting = target if state.weight is None else target[state.weight > 0]
        self.learned_ = bool(counting.any() and not counting.all())
        if not self.learned_:
            # Of more than two classes, all decisions may be right: nothing says how sure to be.
            self.share_, self.caution_ = 0.0, 0.0
            return self
        # Its folds are not those of the fit: what is measured apart from these does not help it.
        sample = Sample.of_classes(replace(state, apart=None), codes, sample_weight)
        self._plain = Platt().fit(own, target, sample_weight)
        self._evidence = self._model(sample)
        plain = clipped_logit(self._plain.predict(own))
        held_out = self._cross_fitted(sample, plain)
        loss = [
            metrics.nll(target, expit(_mixed(plain, held_out, share)), sample_weight=state.weight)
            for share in SHARES
        ]
        self.share_ = SHARES[int(np.argmin(loss))]
        odds = _mixed(plain, held_out, self.share_)
        self.caution_ = (
            affordable_caution(
                target,
                odds,
                own,
                plain=self._plain_scores(own, target, state.weight),
                sample_weight=state.weight,
            )
            if self.caution == "auto"
            else float(self.caution)
        )
        return self

    def _plain_scores(
        self, p: FloatArray, y: npt.NDArray[Any], weight: Weights
    ) -> list[FloatArray]:
        others = (Temperature().fit(p, y, weight), Beta().fit(p, y, weight))
        return [calibrator.predict(p) for calibrator in (self._plain, *others)]

    def log_odds(self, state: State) -> FloatArray:
        """Return the recalibrated log-odds before they are shrunk."""
        if not self.learned_:
            return clipped_logit(state.own_score)
        plain = clipped_logit(self._plain.predict(state.own_score))
        return _mixed(plain, self._evidence.log_odds(state), self.share_)

    def predict(self, state: State, caution: float | None = None) -> FloatArray:
        """Return the recalibrated scores; with another caution than was fitted, if one is given."""
        if not self.learned_:
            return state.p
        kept = 1.0 - (self.caution_ if caution is None else caution)
        scores = np.asarray(expit(kept * self.log_odds(state)))
        return scores if state.p.ndim == 1 else _shared(state, scores)

    def _cross_fitted(self, sample: Sample, plain: FloatArray) -> FloatArray:
        folds = min(FOLDS, sample.rarer)
        if folds < 2:
            return plain
        fold = dealt(sample.outcome, folds, self.random_state, sample.state.group)
        drawn = sample.state.group is not None or sample.state.weight is not None
        if drawn and not _learnable(sample, fold):
            return plain
        return cross_fitted(sample, fold, lambda part: self._model(part).log_odds)

    def _model(self, sample: Sample) -> EvidenceModel:
        return EvidenceModel("positive", seed=self.random_state).fit(sample)


def _learnable(sample: Sample, fold: npt.NDArray[Any]) -> bool:
    """Return whether both outcomes are left without each fold.

    A group may hold all of one, and so may a few rows with a weight among others without.
    """
    folds = np.unique(fold)
    return len(folds) > 1 and all(sample.outside(fold, int(number)).rarer for number in folds)


def _told(state: State, codes: npt.NDArray[Any]) -> tuple[FloatArray, npt.NDArray[Any]]:
    """Return what is recalibrated, and whether what it is the probability of is true."""
    if state.p.ndim == 1:
        return state.p, codes
    return state.confidence, (state.decision == codes).astype(np.int8)


def _shared(state: State, scores: FloatArray) -> FloatArray:
    """Return probabilities of all classes, with these for the decided ones."""
    others = state.p.copy()
    rows, decision = np.arange(len(scores)), state.decision
    others[rows, decision] = 0.0
    total = others.sum(axis=1, keepdims=True)
    # What a model gave to one class alone, the others share evenly.
    even = np.full(others.shape, 1.0 / (others.shape[1] - 1))
    parts = np.where(total > 0, others / np.where(total > 0, total, 1.0), even)
    p = parts * (1.0 - scores)[:, None]
    p[rows, decision] = scores
    return p


def affordable_caution(
    y: npt.ArrayLike,
    odds: FloatArray,
    before: FloatArray,
    plain: Sequence[FloatArray] = (),
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the strongest shrinkage that part of the gain in log loss pays for.

    Parameters
    ----------
    odds : recalibrated log-odds of rows they were not fitted on
    before, plain : scores of the uncalibrated model and of plain calibrators

    Examples
    --------
    >>> y = np.repeat([0, 1], 50)
    >>> affordable_caution(y, np.where(y, 2.0, -2.0), before=np.full(100, 0.5))
    0.3
    >>> affordable_caution(y, np.where(y, 2.0, -2.0), before=np.where(y, 0.9, 0.1))
    0.0
    """

    def nll(p: FloatArray) -> float:
        return metrics.nll(y, p, sample_weight=sample_weight)

    def brier(p: FloatArray) -> float:
        return metrics.brier(y, p, sample_weight=sample_weight)

    best = min(nll(p) for p in (before, *plain))
    now, worst = nll(expit(odds)), brier(before)
    paid = [0.0]
    for caution in CAUTIONS:
        p = expit((1.0 - caution) * odds)
        if nll(p) <= now + SPEND * (best - now) and brier(p) <= worst:
            paid.append(caution)
    return max(paid) if best > now else 0.0


def _mixed(plain: FloatArray, odds: FloatArray, share: float) -> FloatArray:
    return np.asarray((1.0 - share) * plain + share * odds)
