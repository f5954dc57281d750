"""The signal catalogue: one record per signal, from which every table of signals derives.

A new signal is one record here and one function that measures it, called in `signals.builder`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["low", "high"]
Side = Literal["evidence", "instability"]

FAMILIES = {
    "confidence": "the model's own confidence and decision",
    "support": "how many similar cases there are",
    "neighbours": "how similar cases are labelled, and how near each class is",
    "stability": "how far small changes move the score",
    "opinions": "what other models say",
    "features": "the row's own values",
}


@dataclass(frozen=True)
class Axis:
    """A signal's place on the map of conflict, where weak evidence meets unstable scores.

    `kind` says whether little of it is weak evidence, or much of it an unstable score; `words` is
    what charts call it, `complement` the name of one minus the signal, where that is drawn.
    """

    kind: Side
    words: str
    complement: str | None = None


@dataclass(frozen=True)
class Signal:
    """What a signal is called, what it says, and who makes what of it.

    Attributes
    ----------
    name : its column in the state
    family : one of `FAMILIES`
    suspicious : which values speak against the prediction; None for a count that says neither
    unit : of its values
    sentence : what it is
    in_paper, needs_model : whether it is one of the paper's ten; whether a model must be asked
    label : what the report calls its value, beside a row; None: not shown there
    doubt : what a suspicious value means, in charts; None: `auto` does not learn from it
    rescaled : its name where it is learned from on another scale
    recalibrates : whether the discrepancy calibrator learns from it too. The worst of several
        cannot be turned to speak for the other class, and summaries would add nothing
    opinion : the second opinion it is, as `models.library.OPINIONS` calls it
    axis : its place on the map of conflict
    """

    name: str
    family: str
    suspicious: Direction | None
    unit: str
    sentence: str
    in_paper: bool = False
    needs_model: bool = False
    label: str | None = None
    doubt: str | None = None
    rescaled: str | None = None
    recalibrates: bool = False
    opinion: str | None = None
    axis: Axis | None = None

    @property
    def sign(self) -> float:
        """1 if large values speak against the prediction, -1 if small ones do."""
        return -1.0 if self.suspicious == "low" else 1.0

    @property
    def input(self) -> str:
        """What it is called among the inputs of a learned ranker."""
        return self.rescaled or self.name


# By family, and in the paper's order inside: columns of states, inputs and tables follow it.
CATALOGUE = (
    Signal(
        "confidence", "confidence", "low", "share", "the probability of the predicted class",
        in_paper=True, doubt="low model confidence", rescaled="doubt",
    ),
    Signal(
        "margin", "confidence", "low", "share",
        "difference of the two largest class probabilities", in_paper=True,
    ),
    Signal(
        "entropy", "confidence", "high", "nats",
        "entropy of the class probabilities; with more classes, on the scale of two",
        in_paper=True, label="Uncertainty of the score (entropy)",
    ),
    Signal(
        "support", "support", "low", "share",
        "how near the centre of the reference rows it lies, from 0 (outside) to 1",
        in_paper=True, label="Support: how many similar cases there are",
        doubt="few similar cases", axis=Axis("evidence", "support"),
    ),
    Signal(
        "neighbour_distance", "support", "high", "log distance",
        "log distance to the k-th nearest reference row", doubt="similar cases are far away",
    ),
    Signal(
        "nearest_distance", "support", "high", "distance", "distance to the nearest reference row",
        label="Distance to the most similar case",
    ),
    Signal(
        "neighbours", "neighbours", None, "rows", "how many neighbours the shares are based on"
    ),
    Signal(
        "labelled_as_predicted", "neighbours", "low", "share",
        "share of the nearest neighbours that have the predicted label",
        label="Similar cases with the predicted label", doubt="similar cases have another label",
        rescaled="labelled_otherwise", recalibrates=True,
    ),
    Signal(
        "label_agreement", "neighbours", "low", "share",
        "share of the most frequent label among the nearest neighbours",
        in_paper=True, label="Similar cases that share one label",
        axis=Axis("evidence", "label agreement"),
    ),
    Signal(
        "prediction_agreement", "neighbours", "low", "share",
        "share of the nearest neighbours with the same prediction",
        in_paper=True, label="Similar cases with the same prediction",
    ),
    Signal(
        "log_trust_1", "neighbours", "low", "log ratio",
        "log of: distance to the nearest row of another class over that to the nearest row of "
        "the predicted class (TrustScore)",
        label="Distance to another class relative to the predicted one (TrustScore)",
        doubt="another class is near (nearest row)", recalibrates=True,
    ),
    Signal(
        "log_trust_5", "neighbours", "low", "log ratio",
        "the same for the 5th nearest row of each side",
        doubt="another class is near (5th nearest row)", recalibrates=True,
    ),
    Signal(
        "log_trust_25", "neighbours", "low", "log ratio",
        "the same for the 25th nearest row of each side",
        doubt="another class is near (25th nearest row)", recalibrates=True,
    ),
    Signal(
        "mean_drift", "stability", "high", "score",
        "mean move of the score when the row is mixed with its neighbours",
        in_paper=True, needs_model=True, label="Average move of the score under small changes",
        doubt="small changes move the score", rescaled="log_drift",
        axis=Axis("instability", "average move of the score"),
    ),
    Signal(
        "max_drift", "stability", "high", "score", "the largest of these moves",
        in_paper=True, needs_model=True, label="Largest move of the score under small changes",
    ),
    Signal(
        "label_consistency", "stability", "low", "share",
        "share of the mixes that keep the decision",
        in_paper=True, needs_model=True, label="Small changes that keep the prediction",
        axis=Axis("instability", "share of flipped decisions", complement="label_inconsistency"),
    ),
    Signal(
        "logit_variance", "stability", "high", "log-odds squared",
        "variance of the log-odds over the mixes",
        in_paper=True, needs_model=True, label="Variance of the log-odds under small changes",
    ),
    Signal(
        "signed_drift", "stability", "low", "difference of log-odds",
        "mean move of the log-odds of the predicted class when the row is mixed with its "
        "neighbours",
        needs_model=True, doubt="small changes lower the score", recalibrates=True,
    ),
    Signal(
        "worst_drift", "stability", "low", "difference of log-odds",
        "the most adverse of these moves",
        needs_model=True, doubt="one small change lowers the score a lot",
    ),
    Signal(
        "opinion_boosting", "opinions", "low", "log-odds",
        "log-odds that boosted trees give to the predicted class",
        label="Boosted trees: probability of the predicted class", doubt="boosted trees disagree",
        recalibrates=True, opinion="boosting",
    ),
    Signal(
        "opinion_forest", "opinions", "low", "log-odds",
        "log-odds that extra trees give to the predicted class",
        label="Extra trees: probability of the predicted class", doubt="extra trees disagree",
        recalibrates=True, opinion="forest",
    ),
    Signal(
        "opinion_linear", "opinions", "low", "log-odds",
        "log-odds that a logistic regression gives to the predicted class",
        label="Logistic regression: probability of the predicted class",
        doubt="logistic regression disagrees", recalibrates=True, opinion="linear",
    ),
    Signal(
        "opinion_mean", "opinions", "low", "log-odds", "mean of the second opinions",
        doubt="other models disagree on average",
    ),
    Signal(
        "opinion_spread", "opinions", "high", "difference of log-odds",
        "standard deviation of the second opinions", doubt="other models differ from each other",
    ),
    Signal(
        "opinion_worst", "opinions", "low", "log-odds",
        "the second opinion that favours the predicted class least",
        doubt="the model that disagrees most",
    ),
)  # fmt: skip

BY_NAME = {signal.name: signal for signal in CATALOGUE}
SIGNALS = tuple(signal.name for signal in CATALOGUE if signal.in_paper)
STABILITY_SIGNALS = tuple(name for name in SIGNALS if BY_NAME[name].needs_model)
# What learned rankers learn from, beside the decision and the row's own values.
INPUTS = tuple(signal for signal in CATALOGUE if signal.doubt)
# The columns of the second opinions, by the opinion.
OPINIONS = {signal.opinion: signal.name for signal in CATALOGUE if signal.opinion}
# The signals on the map of conflict and their places, by what slices call them.
CONFLICT = {
    signal.axis.complement or signal.name: (signal, signal.axis)
    for signal in CATALOGUE
    if signal.axis
}
CONFLICT_WORDS = {name: axis.words for name, (_, axis) in CONFLICT.items()}


def of_paper(*families: str) -> tuple[str, ...]:
    """Return the names of the paper's signals in some families.

    Examples
    --------
    >>> of_paper("support", "neighbours")
    ('support', 'label_agreement', 'prediction_agreement')
    """
    return tuple(name for name in SIGNALS if BY_NAME[name].family in families)
