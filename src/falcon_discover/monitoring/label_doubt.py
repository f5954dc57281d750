"""Wrong model or wrong label: which confident errors are rather slips of the label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from falcon_discover import rankers
from falcon_discover.audit.absent import LEFT_OUT
from falcon_discover.audit.finding import Finding
from falcon_discover.evaluation.sides import plain_label
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import review_order
from falcon_discover.metrics.design import counted
from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.monitoring.label_noise import estimate_noise
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import plain, records
from falcon_discover.runtime.threads import one_blas_thread
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.runtime.words import percent
from falcon_discover.signals.catalogue import OPINIONS
from falcon_discover.signals.state import State

COLUMNS = ("row", "label_doubt", "predicted", "actual", "confidence", "reason")
# From these on a signal supports the model; they choose words, never probabilities.
SIDING_SHARE = 0.8
SMALL_DRIFT = 0.10
# Of more than two classes: how far the model is believed about which class it errs for.
BELIEF = 0.9
# With less, no label is said to look wrong.
HALF_A_LABEL = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class LabelNoise(Result):
    """How many of the confident errors look like wrong labels, and which.

    Attributes
    ----------
    doubts : what `finding.label_doubt()` returns
    errors : confident errors: predictions that their label contradicts
    expected, low, high : how many of these are wrong labels, with a 95% interval
    rate, rate_low, rate_high : the estimated share of wrong labels among all confident
        predictions, with a 95% interval
    """

    doubts: pd.DataFrame
    errors: float
    expected: float
    low: float
    high: float
    rate: float
    rate_low: float
    rate_high: float

    def frame(self) -> pd.DataFrame:
        """Return the doubt about each contradicting label, most doubtful first."""
        return self.doubts.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, None for what is not defined, and the sentences."""
        figures = {name: value for name, value in vars(self).items() if name != "doubts"}
        labels = records(self.doubts.map(plain_label))
        return {**plain(figures), "words": self.words(), "labels": labels}

    def words(self) -> str:
        """Return the finding in a sentence or two."""
        if not self.errors:
            return "No label contradicts a confident prediction, so there is no label to doubt."
        reach = f"95% interval {self.low:.0f} to {self.high:.0f}"
        if self.errors == 1:
            alike = "looks like" if self.expected >= HALF_A_LABEL else "is unlikely to be"
            return f"The model made 1 confident error; it {alike} a wrong label ({reach})."
        many = f"The model made {self.errors:,.0f} confident errors"
        if self.expected < HALF_A_LABEL:
            return f"{many}; none is likely to be a wrong label ({reach})."
        one = round(self.expected) == 1
        look = "looks like a wrong label" if one else "look like wrong labels"
        return f"{many}; about {self.expected:,.0f} {look} ({reach})."

    NEXT = "Check the labels that finding.label_doubt() lists first."

    def text(self) -> str:
        """Return the finding in words, and the most doubtful labels."""
        if not len(self.doubts):
            return self.words()
        table = self.doubts.head(10).to_string(index=False, float_format=lambda v: f"{v:.3f}")
        return f"{self.words()}\n\n{table}"


def label_noise(finding: Finding) -> LabelNoise:
    """Return how many confident errors look like wrong labels; see `Finding.label_noise`."""
    codes, state, tau = finding.labels, finding.state, finding.tau
    if not finding.audit.has_rows:
        raise InputError(f"label_doubt learns from {LEFT_OUT}")
    eligible = state.eligible(tau)
    sure = state.take(np.flatnonzero(eligible))
    wrong = np.asarray(sure.decision != codes[eligible])
    if not wrong.any():
        return LabelNoise(_frame(finding, np.empty(0), np.empty(0, dtype=np.intp)), *[0.0] * 7)
    risk = _risk(finding)[eligible]
    with one_blas_thread():
        found = estimate_noise(
            clipped_logit(risk),
            wrong,
            weight=sure.weight,
            effect=1.0 if sure.design is None else sure.design.design_effect(wrong - risk),
            likely=_likely(sure, codes[eligible], wrong),
            n_classes=state.n_classes,
        )
    doubts = np.zeros(len(state))
    events = np.flatnonzero(eligible)[wrong]
    doubts[events] = found.doubt
    order = events[review_order(found.doubt, finding.ties[events])]
    (errors,) = counted(sure.design, wrong)
    return LabelNoise(
        _frame(finding, doubts, order),
        errors,
        found.expected,
        *found.expected_interval(),
        found.rate,
        *found.rate_interval(),
    )


def _risk(finding: Finding) -> FloatArray:
    """Return the risk of each row; by `auto` where the audit's own ranker estimates none."""
    risk = finding.risk()
    if risk is not None:
        return risk
    ranker = finding.audit.ranker_of("auto", finding.tau)
    assert isinstance(ranker, rankers.GatedRisk)
    if finding.is_fit_rows:
        return ranker.held_out_risk_[: len(finding.state)]
    return ranker.risk(finding.state)


def _likely(sure: State, codes: npt.NDArray[np.integer], wrong: BoolArray) -> FloatArray | None:
    """Return how much likelier each contradicting label is as the truth than as a slip.

    An error of the model mostly hides a class that the model thinks possible; a slip of the label
    may hit any. With two classes there is but one other.
    """
    if sure.p.ndim == 1:
        return None
    rows = np.flatnonzero(wrong)
    rest = np.maximum(1.0 - sure.confidence[rows], 1e-12)
    own = np.minimum(sure.p[rows, codes[rows]] / rest, 1.0)
    others = sure.n_classes - 1
    return np.asarray(others * (BELIEF * own + (1 - BELIEF) / others))


def _frame(finding: Finding, doubts: FloatArray, order: Any) -> pd.DataFrame:
    chosen = finding.state.take(order)
    signals = pd.concat([chosen.signals, chosen.evidence], axis=1).to_dict("records")
    frame = pd.DataFrame(
        {
            "row": finding.places[order],
            "label_doubt": doubts[order],
            "predicted": finding.classes[chosen.decision],
            "actual": finding.classes[finding.labels[order].astype(int)],
            "confidence": chosen.confidence,
            "reason": [reason(row) for row in signals],
        },
        index=finding.index[order],
    )
    return frame[list(COLUMNS)]


def reason(signals: Mapping[str, float]) -> str:
    """Return what supports the model against the label of a row, in a sentence.

    Examples
    --------
    >>> reason({"confidence": 0.97, "labelled_as_predicted": 0.96, "neighbours": 25,
    ...         "opinion_linear": 2.0, "opinion_forest": 1.0})
    '97% sure; 24 of its 25 nearest neighbours have the predicted label and both other models agree'
    >>> reason({"confidence": 0.91})
    '91% sure; nothing else supports the model'
    """  # a sentence as it is printed
    sides = [*_neighbours(signals), *_opinions(signals), *_stability(signals)]
    sure = f"{percent(signals['confidence'])} sure"
    if not sides:
        return f"{sure}; nothing else supports the model"
    words = " and ".join([", ".join(sides[:-1]), sides[-1]]) if len(sides) > 1 else sides[0]
    return f"{sure}; {words}"


def _neighbours(signals: Mapping[str, float]) -> list[str]:
    share, k = signals.get("labelled_as_predicted", np.nan), signals.get("neighbours", np.nan)
    if not share >= SIDING_SHARE:
        return []
    same = round(share * k)
    who = f"all {same}" if same == k else f"{same} of its {int(k)}"
    return [f"{who} nearest neighbours have the predicted label"]


def _opinions(signals: Mapping[str, float]) -> list[str]:
    views = [signals[name] for name in OPINIONS.values() if name in signals]
    if not views or not min(views) > 0:
        return []
    who = {1: "another model agrees", 2: "both other models agree"}
    agreed = who.get(len(views), f"all {len(views)} other models agree")
    least = float(expit(min(views)))
    return [f"{agreed} (at least {percent(least)} sure)" if least >= SIDING_SHARE else agreed]


def _stability(signals: Mapping[str, float]) -> list[str]:
    drift = signals.get("max_drift", np.nan)
    if signals.get("label_consistency", np.nan) < 1 or not drift < SMALL_DRIFT:
        return []
    most = f" (by {drift:.2f} at most)" if drift >= 0.005 else ""
    return [f"small changes hardly move the score{most}"]
