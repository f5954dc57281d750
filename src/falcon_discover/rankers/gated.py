"""Beyond the paper: rank only what can be a confident error first."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtri

from falcon_discover.exceptions import InputError
from falcon_discover.metrics import gated, gated_confidence, surprise
from falcon_discover.metrics.decisions import Tau
from falcon_discover.rankers.base import Ranker
from falcon_discover.rankers.correction import Correction, Judged, held_out, log_odds, told
from falcon_discover.rankers.evidence import (
    EvidenceModel,
    ModelDoubt,
    Sample,
    cross_fitted,
    inner_folds,
)
from falcon_discover.rankers.fixed import StabilityRanker
from falcon_discover.rankers.inputs import doubt
from falcon_discover.rankers.refit import NO_GAIN, RefitGain
from falcon_discover.rankers.risk import Calibration, calibrate, cross_calibrated
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import State

Severity = Literal["count", "surprise"]
SEVERITIES = ("count", "surprise")
# Fewer errors than this teach nothing.
MIN_ERRORS = 8


class GatedConfidence(Ranker):
    """Eligible rows first, then lowest confidence; no learning, no labels."""

    name = "gated_confidence"
    gated = True

    def score(self, state: State) -> FloatArray:
        """Return the gated confidence."""
        return gated_confidence(state.confidence, state.level(self.tau_))


class GatedSignal(Ranker):
    """Eligible rows first, then by one signal; no learning, no labels.

    Parameters
    ----------
    signal : a column of the state's signals or evidence; large values are reviewed last
    """

    name = "gated_signal"
    gated = True

    def __init__(self, signal: str = "log_trust_1") -> None:
        self.signal = signal

    def score(self, state: State) -> FloatArray:
        """Return 1 to 2 for eligible rows, below 0 for the others."""
        values = state.column(self.signal)
        if values is None:
            raise InputError(f"the state has no signal {self.signal!r}.")
        return gated(expit(-values), state.confidence, state.level(self.tau_))


class GatedStability(Ranker):
    """Eligible rows first, then by the paper's s_stab; no learning, no labels."""

    name = "gated_stability"
    gated = True
    needs = ("mean_drift", "label_consistency")

    def score(self, state: State) -> FloatArray:
        """Return 1 to 2 for eligible rows, below 0 for the others."""
        return gated(StabilityRanker().score(state), state.confidence, state.level(self.tau_))


class GatedRisk(Ranker):
    """The probability that a row is a confident error, learned from cross-fitted rows.

    Rows below the threshold cannot be confident errors: their risk is 0. For the others it is
    the average, in log-odds, of a ridge regression on the directed signals and of small boosted
    trees on signals and features, calibrated on cross-fitted scores together with the model's own
    doubt, which takes over where they say no more. It learns from errors at any confidence.
    With few errors all but the own doubt shrinks away, so that what remains is gated
    confidence; with almost none it is gated confidence.

    Parameters
    ----------
    severity : {"count", "surprise"}
        "count" ranks by risk; "surprise" by risk times `-log(1 - confidence)`, so that errors
        the model was surest of come first
    leave_out : families of `signals.catalogue.FAMILIES` not to use
    random_state : seed of the trees and of the folds of the calibration

    Attributes
    ----------
    held_out_, held_out_risk_, held_out_low_, held_out_high_ : score, risk and its interval of the
        rows it was fitted on, each by a model that did not see it
    events_, eligible_ : confident errors and eligible rows it learned from
    calibration_ : how log-odds become the risk
    gain_ : how much less often the model that judges new rows is wrong than those that judged the
        rows it was fitted on
    correction_ : what reviewed rows change about it; None where it did not learn from any
    held_out_before_ : risk and interval of the rows it was fitted on before any correction; only
        where there is one
    """

    name = "auto"
    labels = "all"
    target = "errors"
    wants_opinions = True
    gated = True
    cross_fits = True
    # Files of 0.1.0 have none.
    correction_: Correction | None = None
    gain_: RefitGain = NO_GAIN
    held_out_before_: FloatArray

    def __init__(
        self,
        severity: Severity = "count",
        *,
        leave_out: tuple[str, ...] = (),
        random_state: int = 0,
    ) -> None:
        self.severity = severity
        self.leave_out = leave_out
        self.random_state = random_state

    def fit(self, state: State, false_confidence: npt.ArrayLike, tau: Tau = PAPER.tau) -> Self:
        """Learn from errors at any confidence (`target` is "errors")."""
        check_severity(self.severity)
        wrong = np.asarray(false_confidence, dtype=bool)
        eligible = state.eligible(tau)
        self.tau_ = tau
        self.events_, self.eligible_ = int((wrong & eligible).sum()), int(eligible.sum())
        self.calibration_ = Calibration()
        self.model_: EvidenceModel | ModelDoubt
        sample = Sample.of_errors(state, wrong, eligible)
        too_few = sample.rarer < MIN_ERRORS
        if too_few and self.eligible_:
            # Rows of weight 0 teach nothing.
            there = np.ones(len(state), bool) if state.weight is None else state.weight > 0
            notices.warn(
                f"{int((wrong & there).sum())} of {int(there.sum()):,} calibration rows are "
                f"errors, {int((wrong & eligible & there).sum())} of them confident: too few to "
                "learn from, so rows are ranked by gated confidence."
            )
        if too_few or not sample.total(eligible):
            self.model_ = ModelDoubt(sample)
            odds = self.model_.log_odds(state)
            self.held_out_risk_ = self._risk(state, odds)
        else:
            fold = inner_folds(sample, self.random_state)
            odds = self.held_out_odds(sample, fold)
            own, missed = doubt(state)[eligible], wrong[eligible]
            design = None if state.design is None else state.design.take(eligible)
            self.calibration_ = calibrate(odds[eligible], own, missed, design)
            self.held_out_risk_ = np.zeros(len(state))
            self.held_out_risk_[eligible] = cross_calibrated(
                self.calibration_, odds[eligible], own, missed, fold[eligible], design
            )
            self.model_ = self._model(sample)
        low, high = self._interval(state, odds)
        # The slopes without a row's fold may differ a little from those of the interval.
        self.held_out_low_ = np.minimum(low, self.held_out_risk_)
        self.held_out_high_ = np.maximum(high, self.held_out_risk_)
        self.held_out_ = self.by_risk(state, self.held_out_risk_)
        return self

    def _model(self, sample: Sample) -> EvidenceModel:
        return EvidenceModel("error", self.leave_out, self.random_state).fit(sample)

    def held_out_odds(self, sample: Sample, fold: IntArray) -> FloatArray:
        """Return the log-odds of an error for each row, by a model learned without its fold."""

        def learn(part: Sample) -> Callable[[State], FloatArray]:
            if not part.rarer:
                # All errors are in this fold: there is nothing to learn without it.
                return ModelDoubt(sample).log_odds
            model = self._model(part)
            # A fold with many errors leaves few to learn from, and would be scored low for it.
            shift = _rate_odds(sample) - _rate_odds(part)
            return lambda state: model.log_odds(state) + shift

        return cross_fitted(sample, fold, learn)

    def after_refit(self, gain: RefitGain) -> GatedRisk:
        """Return the same ranker for rows that are judged by a model refitted on all rows."""
        other = copy(self)
        other.gain_ = gain
        return other

    @property
    def later(self) -> Calibration:
        """How log-odds of new rows become their risk."""
        return self.calibration_.after(self.gain_)

    def corrected(
        self, state: State, wrong: BoolArray, reviewed: State, missed: BoolArray
    ) -> GatedRisk:
        """Return the same ranker with what reviewed rows change about its risk.

        A correction that it has is replaced, so `reviewed` are all rows that were ever reviewed.

        Parameters
        ----------
        state, wrong : the rows it was fitted on
        reviewed, missed : rows that were reviewed after that, and which of them are errors
        """
        sure, own = reviewed.eligible(self.tau_), state.eligible(self.tau_)
        other = copy(self)
        if not sure.any():
            return other
        if self.correction_ is None:
            risk = self.held_out_risk_
            # Rankers in files of 0.1.0 have no intervals.
            low = getattr(self, "held_out_low_", np.zeros(len(risk)))
            high = getattr(self, "held_out_high_", np.ones(len(risk)))
            other.held_out_before_ = np.column_stack([risk, low, high])
        before, low, high = other.held_out_before_.T
        other.correction_ = None
        seen = reviewed.take(sure)
        new = Judged.of(seen, other.risk(seen), missed[sure], self.leave_out)
        known = Judged.of(state.take(own), before[own], wrong[own], self.leave_out)
        other.correction_ = Correction.learned(known, new)
        shift = held_out(known, new, self._folds(state, wrong, own)[own])
        odds = known.odds + shift
        deviation = other.correction_.doubt(known.inputs, known.odds)
        other.held_out_risk_ = _among(own, expit(odds))
        low, high = _widened(odds, low[own], high[own], deviation)
        other.held_out_low_, other.held_out_high_ = _among(own, low), _among(own, high)
        other.held_out_ = self.by_risk(state, other.held_out_risk_)
        return other

    def _folds(self, state: State, wrong: BoolArray, eligible: BoolArray) -> IntArray:
        sample = Sample.of_errors(state, wrong, eligible)
        if sample.rarer < MIN_ERRORS:
            # Nothing was learned from these rows, and so it was without folds.
            return np.zeros(len(state), dtype=np.intp)
        return inner_folds(sample, self.random_state)

    def score(self, state: State) -> FloatArray:
        """Return the risk of each row, or its expected surprise."""
        return self.by_risk(state, self.risk(state))

    def risk(self, state: State) -> FloatArray:
        """Return the probability that each row is a confident error."""
        values = np.zeros(len(state))
        eligible = np.flatnonzero(state.eligible(self.tau_))
        if len(eligible):
            part = state.take(eligible)
            before = self._risk(part, self.model_.log_odds(part))
            values[eligible] = before if self.correction_ is None else self.moved(part, before)
        return values

    def moved(
        self, state: State, risk: FloatArray, versions: FloatArray | None = None
    ) -> FloatArray:
        """Return risks of eligible rows as reviewed rows have corrected them.

        Parameters
        ----------
        risk : without the correction
        versions : other estimates of these risks, one column each, to be moved by as much instead
        """
        given = risk if versions is None else versions
        if self.correction_ is None:
            return given
        shift = self.correction_.shift(told(state, self.leave_out), log_odds(risk))
        return np.asarray(expit(log_odds(given) + (shift if given.ndim == 1 else shift[:, None])))

    def risk_interval(self, state: State) -> tuple[FloatArray, FloatArray]:
        """Return between which rates rows of the same log-odds are confident errors.

        This is how sure the calibration is, from the confident errors it rests on; not what a
        single row's risk may be if the signals were others.
        """
        learned = self.model_.log_odds(state)
        low, high = self._interval(state, learned)
        if self.correction_ is None:
            return low, high
        eligible = state.eligible(self.tau_)
        part = state.take(eligible)
        inputs, odds = told(part, self.leave_out), log_odds(self._risk(part, learned[eligible]))
        moved = odds + self.correction_.shift(inputs, odds)
        deviation = self.correction_.doubt(inputs, odds)
        low, high = _widened(moved, low[eligible], high[eligible], deviation)
        return _among(eligible, low), _among(eligible, high)

    def _interval(self, state: State, odds: FloatArray) -> tuple[FloatArray, FloatArray]:
        low, high = self.later.interval(odds, doubt(state))
        eligible = state.eligible(self.tau_)
        return np.where(eligible, low, 0.0), np.where(eligible, high, 0.0)

    def _risk(self, state: State, odds: FloatArray) -> FloatArray:
        values = self.later.risk(odds, doubt(state))
        return np.where(state.eligible(self.tau_), values, 0.0)

    def by_risk(self, state: State, risk: FloatArray) -> FloatArray:
        """Return the suspicion of rows of known risk: the risk, or the expected surprise."""
        return risk * surprise(state.confidence) if self.severity == "surprise" else risk


def _widened(
    odds: FloatArray, low: FloatArray, high: FloatArray, deviation: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return intervals around corrected log-odds: as wide as before, and the correction's doubt."""
    reach = float(ndtri((1 + PAPER.interval_level) / 2)) * deviation
    half = np.hypot((log_odds(high) - log_odds(low)) / 2.0, reach)
    return np.asarray(expit(odds - half)), np.asarray(expit(odds + half))


def _among(rows: BoolArray, values: FloatArray) -> FloatArray:
    """Return the values of some rows, and 0 for the others."""
    everywhere = np.zeros(len(rows))
    everywhere[rows] = values
    return everywhere


def _rate_odds(sample: Sample) -> float:
    """Return the log-odds of an error over all rows, as the ridge regression weighs them."""
    assert sample.weights is not None
    wrong, weights = sample.outcome, sample.weights
    return float(np.log((weights[wrong].sum() + 0.5) / (weights[~wrong].sum() + 0.5)))


def check_severity(severity: str) -> None:
    """Raise if a severity is not known."""
    if severity not in SEVERITIES:
        raise InputError(f"severity is {severity!r}: choose one of {', '.join(SEVERITIES)}.")
