"""The state: the paper's ten signals psi (eq:psi) in its order, and what goes beyond them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.metrics.decisions import Tau, class_count, confidence, decided, level_of
from falcon_discover.metrics.design import Design
from falcon_discover.models.folds import NO_FOLD as NO_FOLD
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.apart import Apart
from falcon_discover.signals.catalogue import SIGNALS, STABILITY_SIGNALS
from falcon_discover.signals.certainty import certainty_signals


@dataclass(frozen=True, eq=False)
class State:
    """What rankers, regions and weights may see of each row.

    Parameters
    ----------
    p : the base model's positive-class score, or one column for each of more than two classes
    signals : the paper's ten (`catalogue.SIGNALS`); without a model the last four are absent
    evidence : those of the other signals in the catalogue that could be measured
    fold : the fold each row was held out in, or None for rows that were never fitted on;
        among others such rows are marked `NO_FOLD`
    features : the rows in the transformed view of all reference rows, or None
    apart : for rows of a fit, their evidence without one more fold than their own
    threshold : from which the positive one of two classes is decided
    group : the number of each row's group, whose rows depend on each other; None if none do
    weight : how many rows each stands for; None if all count alike

    Examples
    --------
    >>> state = State.from_scores(np.array([0.97, 0.4]))
    >>> state.eligible(0.90)
    array([ True, False])
    """

    p: FloatArray
    signals: pd.DataFrame
    evidence: pd.DataFrame
    fold: IntArray | None = None
    features: npt.NDArray[np.float32] | None = None
    apart: Apart | None = None
    threshold: float = PAPER.decision_threshold
    group: IntArray | None = None
    weight: FloatArray | None = None

    @classmethod
    def from_scores(cls, p: FloatArray, threshold: float = PAPER.decision_threshold) -> State:
        """Return a state of native certainty alone."""
        signals = pd.DataFrame(certainty_signals(p, threshold))
        return cls(p, signals, pd.DataFrame(index=range(len(p))), threshold=threshold)

    @classmethod
    def measured(
        cls,
        p: FloatArray,
        columns: Mapping[str, npt.NDArray[Any]],
        features: npt.NDArray[np.float32] | None = None,
        threshold: float = PAPER.decision_threshold,
    ) -> State:
        """Return a state of signals, the paper's ten apart from the others."""
        signals = {name: columns[name] for name in SIGNALS if name in columns}
        evidence = {name: values for name, values in columns.items() if name not in signals}
        return cls(
            p,
            pd.DataFrame(signals),
            pd.DataFrame(evidence),
            features=features,
            threshold=threshold,
        )

    def __len__(self) -> int:
        return len(self.p)

    def column(self, name: str) -> FloatArray | None:
        """Return a signal of each row by its name; None where it could not be measured."""
        for frame in (self.signals, self.evidence):
            if name in frame:
                return frame[name].to_numpy(dtype=np.float64)
        return None

    @property
    def confidence(self) -> FloatArray:
        """The model's confidence in its own decision."""
        return confidence(self.p, self.threshold)

    @property
    def decision(self) -> IntArray:
        """The predicted class, by its position; of two classes, 1 is the positive one."""
        return decided(self.p, self.threshold)

    @property
    def own_score(self) -> FloatArray:
        """One number of each row: the positive-class score; of more classes, the confidence."""
        return self.p if self.p.ndim == 1 else self.confidence

    @property
    def design(self) -> Design | None:
        """Weights and groups of the rows; None where they are independent and count alike."""
        return Design.of(len(self), self.weight, self.group)

    @property
    def n_classes(self) -> int:
        """How many classes the model tells apart."""
        return class_count(self.p)

    @property
    def has_stability(self) -> bool:
        """Whether a model was there to be probed."""
        return set(STABILITY_SIGNALS) <= set(self.signals.columns)

    def level(self, tau: Tau) -> float | FloatArray:
        """Return the confidence from which each row is eligible, which may differ by class."""
        return level_of(tau, self.decision)

    def eligible(self, tau: Tau) -> BoolArray:
        """Return which rows are confident enough to be false-confidence events."""
        return np.asarray(self.confidence >= self.level(tau))

    def events(self, codes: npt.NDArray[np.integer], tau: Tau) -> BoolArray:
        """Return which rows are confident errors, given their labels."""
        return np.asarray((self.decision != codes) & self.eligible(tau))

    def frame(self, index: pd.Index) -> pd.DataFrame:
        """Return the ten signals with the rows' own labels; those of no model are NaN."""
        return self.signals.reindex(columns=list(SIGNALS)).set_axis(index, axis=0)

    def take(self, rows: IntArray | BoolArray) -> State:
        """Return the given rows, in the given order."""
        return State(
            self.p[rows],
            self.signals.iloc[rows].reset_index(drop=True),
            self.evidence.iloc[rows].reset_index(drop=True),
            None if self.fold is None else self.fold[rows],
            None if self.features is None else self.features[rows],
            None if self.apart is None else self.apart.take(rows),
            self.threshold,
            None if self.group is None else self.group[rows],
            None if self.weight is None else self.weight[rows],
        )

    def without(self, fold: int) -> State:
        """Return the state as it is without the labels of a fold, as far as it can be told."""
        if self.apart is None:
            return self
        return replace(self, evidence=self.apart.evidence(fold, self.evidence))

    def teachers(self, fold: int) -> BoolArray:
        """Return which rows may teach a ranker that is to judge the rows of a fold.

        The rows of other folds; where a fold was compared with some of these only, such as its
        past, of these, if there are any.
        """
        if self.fold is None:
            return np.ones(len(self), dtype=np.bool_)
        others = self.fold != fold
        own = self.fold == fold
        if self.apart is None or not own.any():
            return others
        known = others & ((self.fold == NO_FOLD) | self.apart.compared_with(own)[self.fold])
        return known if known.any() else others

    def among(self, p: FloatArray, rows: IntArray) -> State:
        """Return the state of all rows with the scores `p`, of which these are the given ones.

        What was not measured of the others is missing.
        """
        features = None
        if self.features is not None:
            features = np.zeros((len(p), self.features.shape[1]), dtype=self.features.dtype)
            features[rows] = self.features
        everywhere = range(len(p))
        return State(
            p,
            self.signals.set_axis(rows, axis=0).reindex(everywhere),
            self.evidence.set_axis(rows, axis=0).reindex(everywhere),
            features=features,
            threshold=self.threshold,
        )

    @staticmethod
    def concat(states: Sequence[State]) -> State:
        """Return the rows of several states one after another.

        Features are kept where all states have them; fold marks and evidence apart where the
        first state has them, and rows of the others are marked as being in no fold. Rows without
        a weight count once; rows without a group are each a group of their own.
        """
        features = [state.features for state in states if state.features is not None]
        first, more = states[0], sum(len(state) for state in states[1:])
        fold, apart = first.fold, first.apart
        return State(
            np.concatenate([state.p for state in states]),
            pd.concat([state.signals for state in states], ignore_index=True),
            pd.concat([state.evidence for state in states], ignore_index=True),
            None if fold is None else np.append(fold, np.full(more, NO_FOLD)),
            np.concatenate(features) if len(features) == len(states) else None,
            None if apart is None else apart.followed_by(more),
            first.threshold,
            _joined_groups(states),
            _joined_weights(states),
        )


def _joined_weights(states: Sequence[State]) -> FloatArray | None:
    if all(state.weight is None for state in states):
        return None
    weights = [np.ones(len(s)) if s.weight is None else s.weight for s in states]
    return np.concatenate(weights)


def _joined_groups(states: Sequence[State]) -> IntArray | None:
    if all(state.group is None for state in states):
        return None
    known = [state.group for state in states if state.group is not None]
    free = max((int(group.max()) + 1 for group in known if len(group)), default=0)
    groups = []
    for state in states:
        group = state.group
        if group is None:
            group = np.arange(free, free + len(state))
            free += len(state)
        groups.append(group)
    return np.concatenate(groups)
