"""The state: the paper's ten signals psi (eq:psi) in its order, and what goes beyond them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.data.table import Table, take_rows
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import confidence
from falcon_discover.models.adapter import Probe
from falcon_discover.runtime import progress
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.agreement import agreement_signals
from falcon_discover.signals.apart import Apart, Surroundings, pair_evidence
from falcon_discover.signals.catalogue import SIGNALS, STABILITY_SIGNALS
from falcon_discover.signals.certainty import certainty_signals
from falcon_discover.signals.extended import (
    TINY,
    drift_signals,
    opinion_signals,
    trust_signals,
)
from falcon_discover.signals.mixing import neighbour_rows, stacked_mixes
from falcon_discover.signals.neighbours.index import Neighbours, rows_within_budget
from falcon_discover.signals.opinions import CrossOpinions
from falcon_discover.signals.reference import Reference
from falcon_discover.signals.stability import stability_signals

# Larger stacks of mixed rows fall out of the processor's cache without saving calls.
STACK_ROWS = 16_384

# The mark of rows that no model was fitted on.
NO_FOLD = -1

Folds = Sequence[tuple[IntArray, IntArray]]


@dataclass(frozen=True, eq=False)
class State:
    """What rankers, regions and weights may see of each row.

    Parameters
    ----------
    p : the base model's positive-class score
    signals : the paper's ten (`catalogue.SIGNALS`); without a model the last four are absent
    evidence : those of the other signals in the catalogue that could be measured
    fold : the fold each row was held out in, or None for rows that were never fitted on;
        among others such rows are marked `NO_FOLD`
    features : the rows in the transformed view of all reference rows, or None
    apart : for rows of a fit, their evidence without one more fold than their own

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

    @classmethod
    def from_scores(cls, p: FloatArray) -> State:
        """Return a state of native certainty alone."""
        return cls(p, pd.DataFrame(certainty_signals(p)), pd.DataFrame(index=range(len(p))))

    @classmethod
    def measured(
        cls,
        p: FloatArray,
        columns: Mapping[str, npt.NDArray[Any]],
        features: npt.NDArray[np.float32] | None = None,
    ) -> State:
        """Return a state of signals, the paper's ten apart from the others."""
        signals = {name: columns[name] for name in SIGNALS if name in columns}
        evidence = {name: values for name, values in columns.items() if name not in signals}
        return cls(p, pd.DataFrame(signals), pd.DataFrame(evidence), features=features)

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
        return confidence(self.p)

    @property
    def decision(self) -> BoolArray:
        """Whether the positive class is predicted."""
        return self.p >= PAPER.decision_threshold

    @property
    def has_stability(self) -> bool:
        """Whether a model was there to be probed."""
        return set(STABILITY_SIGNALS) <= set(self.signals.columns)

    def eligible(self, tau: float) -> BoolArray:
        """Return which rows are confident enough to be false-confidence events."""
        return self.confidence >= tau

    def take(self, rows: IntArray | BoolArray) -> State:
        """Return the given rows, in the given order."""
        return State(
            self.p[rows],
            self.signals.iloc[rows].reset_index(drop=True),
            self.evidence.iloc[rows].reset_index(drop=True),
            None if self.fold is None else self.fold[rows],
            None if self.features is None else self.features[rows],
            None if self.apart is None else self.apart.take(rows),
        )

    def without(self, fold: int) -> State:
        """Return the state as it is without the labels of a fold, as far as it can be told."""
        if self.apart is None:
            return self
        return replace(self, evidence=self.apart.evidence(fold, self.evidence))

    @staticmethod
    def concat(states: Sequence[State]) -> State:
        """Return the rows of several states one after another.

        Features are kept where all states have them; fold marks and evidence apart where the
        first state has them, and rows of the others are marked as being in no fold.
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
        )


@dataclass(frozen=True)
class Measure:
    """How a state is measured: neighbourhood sizes, mixing weights and the switching seed."""

    n_neighbors: int = PAPER.n_neighbors
    n_mix_neighbors: int = PAPER.n_mix_neighbors
    mix: tuple[float, ...] = PAPER.mix
    seed: int = 0

    def state(
        self,
        table: Table,
        reference: Reference,
        p: FloatArray | None = None,
        *,
        extended: bool = True,
        neighbours: Neighbours | None = None,
    ) -> State:
        """Return the state of rows that are not among the reference rows.

        Parameters
        ----------
        p : the scores of the rows, where there is no model to ask
        extended : whether more than the paper's signals is wanted
        neighbours : the nearest reference rows of each row, where somebody has searched already;
            as many as are needed, and by class if `extended`
        """
        if neighbours is not None:
            self._check_neighbours(neighbours, len(table), len(reference), extended)
        stack_rows = self._stack_rows(table, reference)
        # Encoding, searching and signals have a price per call: they are done for several stacks at
        # once, which take less memory than the mixes of one.
        parts = _slices(len(table), stack_rows * max(1, self._mixes_per_row(reference) // 2))
        progress.expect(len(parts))
        measured: list[State] = []
        for part in parts:
            progress.step(f"state of {len(table):,} rows")
            measured.append(
                self._part(
                    table if len(parts) == 1 else table.take(part),
                    reference,
                    None if p is None else p[part],
                    extended,
                    None if neighbours is None else neighbours[part],
                    stack_rows,
                )
            )
        return measured[0] if len(measured) == 1 else State.concat(measured)

    def _mixes_per_row(self, reference: Reference) -> int:
        return 1 if reference.probe is None else self.n_mix_neighbors * len(self.mix)

    def _stack_rows(self, table: Table, reference: Reference) -> int:
        width = max(reference.coordinates.shape[1], len(table.kinds))
        per_row = self._mixes_per_row(reference)
        # Three stacks live at once: the neighbours, the mixes, and the model's own copy.
        fits = rows_within_budget(3 * 8 * width * per_row, at_most=STACK_ROWS)
        return max(1, min(fits, STACK_ROWS // per_row))

    def _check_neighbours(
        self, given: Neighbours, n_rows: int, n_reference: int, extended: bool
    ) -> None:
        wanted = min(max(self.n_neighbors, self.n_mix_neighbors), n_reference)
        rows, there = given.rows.shape
        if rows != n_rows or there < wanted:
            raise InputError(
                f"neighbours has {rows:,} rows of {there}: {n_rows:,} rows of {wanted} are needed."
            )
        if extended and given.class_distances is None:
            raise InputError("neighbours has no class_distances: query with by_class=True.")

    def _part(
        self,
        table: Table,
        reference: Reference,
        p: FloatArray | None,
        extended: bool,
        near: Neighbours | None,
        stack_rows: int,
    ) -> State:
        coordinates = reference.view.transform(table)
        if near is None:
            wanted = max(self.n_neighbors, self.n_mix_neighbors)
            near = reference.index.query(coordinates, wanted, by_class=extended)
        model = reference.probe
        encoded = None
        if model is not None:
            encoded = coordinates if model.view is reference.view else model.encode(table)
            p = model.predict(encoded, name=table.index.__getitem__)
        assert p is not None
        columns: dict[str, npt.NDArray[Any]] = {
            **certainty_signals(p),
            "support": reference.support.score(coordinates),
            "neighbours": np.full(len(p), min(self.n_neighbors, near.rows.shape[1])),
            "nearest_distance": near.distances[:, 0].astype(np.float64),
            **agreement_signals(p, near.rows[:, : self.n_neighbors], reference.labels, reference.p),
        }
        p_mixed = None
        if model is not None:
            mixed_with = near.rows[:, : self.n_mix_neighbors]
            p_mixed = self._mixed_scores(table, encoded, reference, mixed_with, stack_rows)
            columns |= stability_signals(p, p_mixed)
        if not extended:
            return State.measured(p, columns)
        columns |= self._beyond_the_paper(reference, coordinates, p, p_mixed, near)
        return State.measured(p, columns, coordinates)

    def _beyond_the_paper(
        self,
        reference: Reference,
        coordinates: npt.NDArray[np.float32],
        p: FloatArray,
        p_mixed: FloatArray | None,
        near: Neighbours,
    ) -> dict[str, FloatArray]:
        assert near.class_distances is not None
        decision = p >= PAPER.decision_threshold
        furthest = near.distances[:, : self.n_neighbors][:, -1].astype(np.float64)
        signals = {
            **trust_signals(decision, near.class_distances),
            "neighbour_distance": np.log(furthest + TINY),
        }
        if p_mixed is not None:
            signals |= drift_signals(p, p_mixed)
        if reference.opinions is not None:
            said = reference.opinions.predict(coordinates)
            signals |= opinion_signals(decision, list(reference.opinions.models), said)
        return signals

    def _mixed_scores(
        self, table: Table, encoded: Any, reference: Reference, near: IntArray, stack_rows: int
    ) -> FloatArray:
        """Return the scores of all mixes of each row, a stack at a time."""
        # Our own view has no gaps and no text: nothing in it is ever switched.
        hashes = np.zeros(len(table), np.uint64)
        others = np.zeros(near.shape, np.uint64)
        if reference.hashes is not None:
            hashes, others = table.row_hashes(), reference.hashes[near]
        assert reference.probe is not None
        scores = np.empty((len(table), near.shape[1] * len(self.mix)))
        for rows in _slices(len(table), stack_rows):
            mixes = stacked_mixes(
                take_rows(encoded, rows),
                neighbour_rows(reference.encoded, near[rows]),
                self.mix,
                hashes[rows],
                others[rows].ravel(),
                self.seed,
                reference.encoded_kinds,
            )
            scores[rows] = reference.probe.predict(
                mixes,
                name=partial(_mixed_row, table.index[rows], scores.shape[1]),
                what=" for rows mixed with their neighbours",
            ).reshape(len(scores[rows]), -1)
        return scores

    def cross_fitted_state(
        self,
        table: Table,
        labels: npt.NDArray[np.int8],
        p: FloatArray,
        reference_p: FloatArray,
        folds: Folds,
        probes: Iterable[Probe | None],
        *,
        own_view: bool,
        opinions: CrossOpinions | None = None,
        n_jobs: int | None = None,
    ) -> State:
        """Return the state of labelled rows, each measured without itself or its fold.

        The rows of a fold are scored by the model fitted without that fold, and compared
        with the rows of the other folds only. Features are left out: each fold has a view of
        its own, and a ranker needs one for all rows.

        Parameters
        ----------
        p : out-of-fold scores of the rows
        reference_p : one row per fold: the scores that rows outside it have as its reference
        opinions : what second opinions say of the rows, where they are wanted
        """
        order, parts, apart = [], [], []
        fold = np.empty(len(table), dtype=np.intp)
        for number, (_, held_out) in enumerate(folds):
            fold[held_out] = number
        for (others, held_out), model, known in zip(folds, probes, reference_p, strict=True):
            reference = Reference.build(
                table.take(others), labels[others], known[others], model,
                own_view=own_view, n_jobs=n_jobs,
            )  # fmt: skip
            part = table.take(held_out)
            around = Surroundings.of(
                reference.index,
                reference.view.transform(part),
                max(self.n_neighbors, self.n_mix_neighbors),
                self.n_neighbors,
                len(folds),
            )
            measured = self.state(part, reference, p[held_out], neighbours=around.nearest())
            measured = replace(measured, features=None)
            said = None
            if opinions is not None:
                views = opinion_signals(measured.decision, opinions.names, opinions.own[held_out])
                measured = replace(measured, evidence=measured.evidence.assign(**views))
                said = opinions.names, opinions.apart[:, held_out]
            if len(folds) > 2:
                apart.append(
                    pair_evidence(measured.decision, around, fold[others], said, len(folds))
                )
            parts.append(measured)
            order.append(held_out)
        stacked = replace(
            State.concat(parts),
            fold=fold[np.concatenate(order)],
            apart=Apart.joined(apart) if apart else None,
        )
        return stacked.take(np.argsort(np.concatenate(order), kind="stable"))


def _mixed_row(index: pd.Index, mixes_per_row: int, mix: int) -> Any:
    return index[mix // mixes_per_row]


def _slices(length: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]
