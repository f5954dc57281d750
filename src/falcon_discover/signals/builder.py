"""How a state is measured: one builder for the rows of a fit, new rows and the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from falcon_discover.data.table import Kind, Table, take_rows
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import (
    Tau,
    class_count,
    confidence,
    decided,
    level_of,
    of_class,
)
from falcon_discover.models.adapter import Probe
from falcon_discover.models.folds import dealt, fold_numbers, is_partition
from falcon_discover.runtime import progress
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray, UInt64Array
from falcon_discover.settings import PAPER
from falcon_discover.signals.agreement import agreement_signals
from falcon_discover.signals.apart import Apart, Surroundings, pair_evidence
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
from falcon_discover.signals.state import State

# Larger stacks of mixed rows fall out of the processor's cache without saving calls.
STACK_ROWS = 16_384

Folds = Sequence[tuple[IntArray, IntArray]]


@dataclass(frozen=True, eq=False)
class Mixed:
    """What the model says of rows mixed with their neighbours, one row each.

    Attributes
    ----------
    scores : the probability of the positive class; of more than two, of the row's decided class
    same : whether the mix is decided as the row is
    """

    scores: FloatArray
    same: BoolArray


@dataclass(frozen=True)
class StateBuilder:
    """How a state is measured: neighbourhoods, mixing weights, switching seed, decision."""

    n_neighbors: int = PAPER.n_neighbors
    n_mix_neighbors: int = PAPER.n_mix_neighbors
    mix: tuple[float, ...] = PAPER.mix
    seed: int = 0
    threshold: float = PAPER.decision_threshold

    def build(
        self,
        table: Table,
        reference: Reference,
        p: FloatArray | None = None,
        *,
        extended: bool = True,
        neighbours: Neighbours | None = None,
        eligible_at: Tau | None = None,
    ) -> State:
        """Return the state of rows that are not among the reference rows.

        Parameters
        ----------
        p : the scores of the rows, where there is no model to ask
        extended : whether more than the paper's signals is wanted
        neighbours : the nearest reference rows of each row, where somebody has searched already;
            as many as are needed, and by class if `extended`
        eligible_at : confidence below which rows are scored but not measured; None measures all
        """
        if neighbours is not None:
            self._check_neighbours(neighbours, len(table), len(reference), extended)
        stack_rows = self._stack_rows(table, reference)
        # Encoding, searching and signals have a price per call: they are done for several stacks at
        # once, which take less memory than the mixes of one.
        parts = _slices(len(table), stack_rows * max(1, self._mixes_per_row(reference) // 2))
        progress.expect(len(parts))
        measured: list[State] = []
        for number, part in enumerate(parts, start=1):
            progress.step(f"state of {len(table):,} rows, part {number} of {len(parts)}")
            measured.append(
                self._part(
                    table if len(parts) == 1 else table.take(part),
                    reference,
                    None if p is None else p[part],
                    extended,
                    None if neighbours is None else neighbours[part],
                    stack_rows,
                    eligible_at,
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
                f"neighbours has {rows:,} rows of {there}: give {n_rows:,} rows of {wanted}."
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
        eligible_at: Tau | None,
    ) -> State:
        encoded = None
        if reference.probe is not None:
            p, encoded = reference.probe.scored(table)
        assert p is not None
        if eligible_at is None:
            return self._measured(table, encoded, reference, p, extended, near, stack_rows)
        # Where no row is eligible one is measured for the names of the signals.
        decision = decided(p, self.threshold)
        rows = np.flatnonzero(confidence(p, self.threshold) >= level_of(eligible_at, decision))
        rows = rows if len(rows) else np.arange(min(1, len(p)))
        if len(rows) == len(p):
            return self._measured(table, encoded, reference, p, extended, near, stack_rows)
        measured = self._measured(
            table.take(rows),
            None if encoded is None else take_rows(encoded, rows),
            reference,
            p[rows],
            extended,
            None if near is None else near[rows],
            stack_rows,
        )
        return measured.among(p, rows)

    def _measured(
        self,
        table: Table,
        encoded: Any,
        reference: Reference,
        p: FloatArray,
        extended: bool,
        near: Neighbours | None,
        stack_rows: int,
    ) -> State:
        model = reference.probe
        is_ours = model is not None and model.view is reference.view
        coordinates = encoded if is_ours else reference.view.transform(table)
        if near is None:
            wanted = max(self.n_neighbors, self.n_mix_neighbors)
            near = reference.index.query(coordinates, wanted, by_class=extended)
        decision = decided(p, self.threshold)
        columns: dict[str, npt.NDArray[Any]] = {
            **certainty_signals(p, self.threshold),
            "support": reference.support.score(coordinates),
            "neighbours": np.full(len(p), min(self.n_neighbors, near.rows.shape[1])),
            "nearest_distance": near.distances[:, 0].astype(np.float64),
            **agreement_signals(
                decision,
                near.rows[:, : self.n_neighbors],
                reference.labels,
                decided(reference.p, self.threshold),
                class_count(p),
            ),
        }
        mixed = None
        if model is not None:
            mixed_with = near.rows[:, : self.n_mix_neighbors]
            mixed = self._mixed_scores(table, encoded, reference, mixed_with, decision, stack_rows)
            columns |= stability_signals(_own_score(p, decision), mixed.scores, mixed.same)
        if extended:
            columns |= self._beyond_the_paper(reference, coordinates, p, decision, mixed, near)
        return State.measured(
            p, columns, coordinates if extended else None, threshold=self.threshold
        )

    def _beyond_the_paper(
        self,
        reference: Reference,
        coordinates: npt.NDArray[np.float32],
        p: FloatArray,
        decision: IntArray,
        mixed: Mixed | None,
        near: Neighbours,
    ) -> dict[str, FloatArray]:
        assert near.class_distances is not None
        furthest = near.distances[:, : self.n_neighbors][:, -1].astype(np.float64)
        signals = {
            **trust_signals(decision, near.class_distances),
            "neighbour_distance": np.log(furthest + TINY),
        }
        if mixed is not None:
            sign = np.where(decision, 1.0, -1.0) if p.ndim == 1 else np.ones(len(p))
            signals |= drift_signals(_own_score(p, decision), mixed.scores, sign)
        if reference.opinions is not None:
            said = reference.opinions.predict(coordinates)
            signals |= opinion_signals(decision, list(reference.opinions.models), said)
        return signals

    def _mixed_scores(
        self,
        table: Table,
        encoded: Any,
        reference: Reference,
        near: IntArray,
        decision: IntArray,
        stack_rows: int,
    ) -> Mixed:
        hashes = None
        if reference.hashes is not None:
            hashes = table.row_hashes(), reference.hashes
        assert reference.probe is not None
        return mixed_scores(
            reference.probe,
            encoded,
            reference.encoded,
            near,
            self.mix,
            decision,
            self.threshold,
            hashes=hashes,
            kinds=reference.encoded_kinds,
            seed=self.seed,
            stack_rows=stack_rows,
            name=table.index.__getitem__,
        )

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
        with the rows of the other folds only; of the rows that are held out at all, in their
        order. Features are left out: each fold has a view of its own, and a ranker needs one for
        all rows.

        Parameters
        ----------
        p : out-of-fold scores of the rows
        reference_p : one row per fold: the scores that rows outside it have as its reference
        opinions : what second opinions say of the rows, where they are wanted
        """
        order, parts, apart = [], [], []
        fold = fold_numbers(folds, len(table))
        # Of two folds that share all rows none can be left out. What lies in one fold alone is
        # compared with rows of no fold, and has no label of its own rows in it.
        pairs = len(folds) > (2 if is_partition(folds, len(table)) else 1)
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
            measured = self.build(part, reference, p[held_out], neighbours=around.nearest())
            measured = replace(measured, features=None)
            said = None
            if opinions is not None:
                views = opinion_signals(measured.decision, opinions.names, opinions.own[held_out])
                measured = replace(measured, evidence=measured.evidence.assign(**views))
                said = opinions.names, opinions.apart[:, held_out]
            if pairs:
                apart.append(
                    pair_evidence(measured.decision, around, fold[others], said, len(folds))
                )
            parts.append(measured)
            order.append(held_out)
        stacked = replace(
            State.concat(parts),
            fold=fold[np.concatenate(order)] if len(folds) > 1 else dealt(len(order[0]), self.seed),
            apart=Apart.joined(apart) if apart else None,
        )
        return stacked.take(np.argsort(np.concatenate(order), kind="stable"))


def mixed_scores(
    model: Probe,
    encoded: Any,
    reference: Any,
    near: IntArray,
    mix: tuple[float, ...],
    decision: IntArray,
    threshold: float = PAPER.decision_threshold,
    *,
    hashes: tuple[UInt64Array, UInt64Array] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    seed: int = 0,
    stack_rows: int,
    name: Callable[[int], Any] = int,
) -> Mixed:
    """Return the model's scores of each row mixed with its neighbours, a stack at a time.

    Parameters
    ----------
    encoded, reference : the rows and the reference rows, as the model takes them
    near : positions of each row's neighbours among the reference rows
    mix : weights of the neighbour
    decision : the class decided for each row
    threshold : of the decision between two classes
    hashes : of the content of rows and reference rows, where values may have to be switched; our
        own view has no gaps and no text, and nothing in it ever is
    stack_rows : how many rows to mix at once
    name : what a row is called, by its position

    Returns
    -------
    one row each: weight varies fastest, then the neighbour
    """
    scores = np.empty((len(near), near.shape[1] * len(mix)))
    same = np.empty(scores.shape, dtype=np.bool_)
    for rows in _slices(len(near), stack_rows):
        close = near[rows]
        own, others = np.zeros(len(close), np.uint64), np.zeros(close.shape, np.uint64)
        if hashes is not None:
            own, others = hashes[0][rows], hashes[1][close]
        mixes = stacked_mixes(
            take_rows(encoded, rows),
            neighbour_rows(reference, close),
            mix,
            own,
            others.ravel(),
            seed,
            kinds,
        )
        p = model.predict(
            mixes,
            name=partial(_mixed_row, name, rows.start, scores.shape[1]),
            what=" for rows mixed with their neighbours",
        )
        own_decision = np.repeat(decision[rows], scores.shape[1])
        scores[rows] = _own_score(p, own_decision).reshape(len(close), -1)
        same[rows] = (decided(p, threshold) == own_decision).reshape(len(close), -1)
    return Mixed(scores, same)


def _own_score(p: FloatArray, decision: IntArray) -> FloatArray:
    """Return what stability is measured of: the positive-class score, or the decided class's."""
    return p if p.ndim == 1 else of_class(p, decision)


def _mixed_row(name: Callable[[int], Any], first: int, mixes_per_row: int, mix: int) -> Any:
    return name(first + mix // mixes_per_row)


def _slices(length: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]
