"""Which labelled rows a ranker learns from, and how rows it learned from are scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import Tau
from falcon_discover.rankers import GatedRisk, Ranker, make, trait
from falcon_discover.rankers.refit import NO_GAIN, RefitGain
from falcon_discover.runtime import progress
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.signals.state import State

# The label of a row that is known to be another than the predicted one, and no more.
UNKNOWN = -1


def check_labels(labels: str | None, *, has_validation: bool) -> None:
    """Raise if a ranker's label source needs validation rows and there are none."""
    if labels in ("validation", "both") and not has_validation:
        raise InputError(
            f"the ranker takes its labels from {labels!r}, but there are no validation rows: pass "
            "X_cal and y_cal to fit, or use 'learned_oof'."
        )


def _key(spec: Any, tau: Tau) -> tuple[Any, Tau]:
    return (spec if isinstance(spec, str) else id(spec), tau)


def codes_where(state: State, wrong: BoolArray) -> npt.NDArray[np.int8]:
    """Return the labels of rows of which only is known whether their prediction is wrong."""
    others = 1 - state.decision if state.n_classes == 2 else np.full(len(state), UNKNOWN)
    return np.where(wrong, others, state.decision).astype(np.int8)


@dataclass(frozen=True, eq=False)
class LabelledState:
    """A state whose labels are known."""

    state: State
    codes: npt.NDArray[np.int8]

    def events(self, tau: Tau) -> BoolArray:
        """Return which rows are false-confidence events at `tau`."""
        return self.state.events(self.codes, tau)

    def errors(self) -> BoolArray:
        """Return which predictions are wrong, at any confidence."""
        return np.asarray(self.state.decision != self.codes)


def _joined(first: LabelledState, second: LabelledState) -> LabelledState:
    return LabelledState(
        State.concat([first.state, second.state]), np.concatenate([first.codes, second.codes])
    )


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The labelled rows there are: out-of-fold training rows, and perhaps validation rows.

    Reviewed rows are apart: they were chosen by their risk, so only a ranker that can take that
    into account (`auto`) learns from them. Where a reviewer said no more than that a prediction is
    wrong, the label is `UNKNOWN`.

    `gain` is what refitting gains the model that judges new rows, beside those that judged the
    training rows; risks of new rows are lower by it.
    """

    oof: LabelledState
    validation: LabelledState | None = None
    reviewed: LabelledState | None = None
    gain: RefitGain = NO_GAIN
    # Learned rankers by specification and threshold; the specification is kept alive with them.
    _fitted: dict[tuple[Any, Tau], tuple[Any, Ranker]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def source(self, labels: str | None) -> LabelledState:
        """Return the rows that a label source names."""
        if labels is None or labels == "oof" or (labels == "all" and self.validation is None):
            return self.oof
        check_labels(labels, has_validation=self.validation is not None)
        assert self.validation is not None
        if labels == "validation":
            return self.validation
        return _joined(self.oof, self.validation)

    def ranker(self, spec: Any, tau: Tau) -> Ranker:
        """Return a ranker fitted on the rows its label source names, fitted only once."""
        key = _key(spec, tau)
        if key not in self._fitted:
            self.keep(spec, tau, self._fit(spec, tau))
        return self._fitted[key][1]

    def keep(self, spec: Any, tau: Tau, ranker: Ranker) -> None:
        """Take a ranker that was fitted before as the one of this specification."""
        self._fitted[_key(spec, tau)] = (spec, ranker)

    def _fit(self, spec: Any, tau: Tau) -> Ranker:
        progress.expect(1)
        progress.step(f"ranker: {spec if isinstance(spec, str) else type(spec).__name__}")
        ranker = make(spec)
        rows = self.source(trait(ranker, "labels"))
        errors = trait(ranker, "target") == "errors"
        fitted = ranker.fit(rows.state, rows.errors() if errors else rows.events(tau), tau)
        if isinstance(fitted, GatedRisk):
            # Validation rows were judged by the refitted model already.
            fitted = fitted.after_refit(self.gain.share(len(self.oof.codes) / len(rows.codes)))
        return self.corrected(fitted)

    def learning(self, reviewed: LabelledState) -> TrainingRows:
        """Return these rows with more reviewed ones; rankers that are fitted are corrected."""
        if self.reviewed is not None:
            reviewed = _joined(self.reviewed, reviewed)
        other = TrainingRows(self.oof, self.validation, reviewed, self.gain)
        for (_, tau), (spec, ranker) in self._fitted.items():
            other.keep(spec, tau, other.corrected(ranker))
        return other

    def corrected(self, ranker: Ranker) -> Ranker:
        """Return a ranker that was fitted on these rows with what reviewed rows change about it."""
        if self.reviewed is None or not isinstance(ranker, GatedRisk):
            return ranker
        rows, seen = self.source(ranker.labels), self.reviewed
        return ranker.corrected(rows.state, rows.errors(), seen.state, seen.errors())

    def oof_scores(self, spec: Any, tau: Tau) -> FloatArray:
        """Return the suspicion of the training rows, none scored by a ranker that saw it."""
        ranker = make(spec)
        source = trait(ranker, "labels")
        state = self.oof.state
        if source in (None, "validation") or state.fold is None:
            return self.ranker(spec, tau).score(state)
        if trait(ranker, "cross_fits"):
            # Its rows begin with the training rows.
            return self.ranker(spec, tau).held_out_[: len(state)]
        scores = np.empty(len(state))
        for fold in np.unique(state.fold):
            held_out = state.fold == fold
            teachers = state.teachers(int(fold))
            rest = LabelledState(state.take(teachers), self.oof.codes[teachers])
            part = TrainingRows(rest, self.validation).ranker(ranker, tau)
            scores[held_out] = part.score(state.take(held_out))
        return scores
