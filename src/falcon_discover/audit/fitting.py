"""From labelled rows and a base model to a fitted audit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover import rankers
from falcon_discover.audit.checks import (
    neighbour_count,
    warn_own_decisions,
    warn_target_among_columns,
)
from falcon_discover.audit.drawn import Drawn
from falcon_discover.audit.fitted import REGION_WITNESS, FittedAudit
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.metrics.decisions import Tau
from falcon_discover.models.crossfit import CrossFit
from falcon_discover.models.folds import NO_FOLD, Folds, fold_numbers, is_partition
from falcon_discover.rankers.refit import NO_GAIN, RefitGain, refit_gain
from falcon_discover.rankers.training import LabelledState, TrainingRows, check_labels
from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.region_set import RegionSet, basis_of
from falcon_discover.regions.search import find_regions
from falcon_discover.runtime import notices, progress
from falcon_discover.settings import PAPER
from falcon_discover.signals.builder import StateBuilder
from falcon_discover.signals.opinions import CrossOpinions
from falcon_discover.signals.reference import Reference
from falcon_discover.signals.state import State

# Rows that are independent and count alike.
ALIKE = Drawn()


@dataclass(frozen=True, eq=False)
class Recipe:
    """What decides a fit beside the rows and the base model.

    Parameters
    ----------
    spec : the ranker
    n_neighbors, n_mix_neighbors, mix : of the state
    source, scored : of the audit; see `FittedAudit`
    """

    tau: Tau
    spec: Any
    seed: int
    source: str
    n_neighbors: int = PAPER.n_neighbors
    n_mix_neighbors: int = PAPER.n_mix_neighbors
    mix: tuple[float, ...] = PAPER.mix
    n_regions: int = PAPER.n_regions
    n_jobs: int | None = None
    scored: int = 1


def check_ranker(spec: Any, *, has_validation: bool) -> None:
    """Raise if a ranker cannot be made, or learns from rows that are not there."""
    check_labels(rankers.trait(rankers.make(spec), "labels"), has_validation=has_validation)


def fit_audit(
    table: Table,
    labels: Labels,
    folds: Folds,
    base: CrossFit,
    recipe: Recipe,
    validation: tuple[Table, Labels] | None = None,
    *,
    drawn: Drawn = ALIKE,
) -> FittedAudit:
    """Measure the rows, find the regions and fit the ranker.

    Parameters
    ----------
    table, labels : the rows of the fit
    base : the base model, cross-fitted over `folds`, or given scores
    validation : further labelled rows, for rankers that learn from them
    drawn : groups and weights of the rows
    """
    warn_own_decisions(base.differing, len(table), base.threshold, labels.n_classes)
    builder = StateBuilder(
        neighbour_count(recipe.n_neighbors, len(table)),
        neighbour_count(recipe.n_mix_neighbors, len(table)),
        tuple(recipe.mix),
        recipe.seed,
        base.threshold,
    )
    wants_opinions = rankers.trait(rankers.make(recipe.spec), "wants_opinions")
    opinions = None
    if wants_opinions:
        opinions = CrossOpinions.fit(
            table,
            labels.codes,
            folds,
            recipe.seed,
            recipe.n_jobs,
            labels.n_classes,
            weight=drawn.weight,
        )
    state = builder.cross_fitted_state(
        table,
        labels.codes,
        base.p,
        base.reference_p,
        folds,
        base.fold_probes,
        own_view=base.own_view,
        opinions=opinions,
        n_jobs=recipe.n_jobs,
    )
    reference = Reference.build(
        table,
        labels.codes,
        base.p,
        base.probe,
        own_view=base.own_view,
        opinions_seed=recipe.seed if wants_opinions else None,
        n_jobs=recipe.n_jobs,
        weight=drawn.weight,
    )
    reference.view.warn_odd_columns(table)
    warn_target_among_columns(table, labels)
    checked = None
    if validation is not None:
        other = builder.build(validation[0], reference)
        if drawn.validation is not None:
            other = drawn.validation.given_to(other)
        checked = LabelledState(other, validation[1].codes)
    # Rows that are never held out are compared with, and not judged.
    held_out = fold_numbers(folds, len(table)) != NO_FOLD
    every = bool(held_out.all())
    rows = np.flatnonzero(held_out)
    state = replace(state, features=reference.coordinates if every else reference.coordinates[rows])
    state = drawn.given_to(state, None if every else rows)
    codes = labels.codes if every else labels.codes[rows]
    rows_of_fit = LabelledState(state, codes)
    training = TrainingRows(rows_of_fit, checked, gain=_gain(base, folds, rows_of_fit, recipe.tau))
    judged = table if every else table.take(rows)
    audit = FittedAudit(
        classes=labels.classes,
        tau=recipe.tau,
        threshold=base.threshold,
        spec=recipe.spec,
        seed=recipe.seed,
        kinds=table.kinds,
        table=judged,
        training=training,
        regions=_regions(judged, training, validation, recipe),
        fitted_on=len(table),
        source=recipe.source,
        view=reference.view,
        model=base.probe,
        reference=reference,
        builder=builder,
        scored=recipe.scored,
        decides_otherwise=base.differing > 0,
        held_out=None if every else held_out,
    )
    audit.examine().warned()
    return audit


def _gain(base: CrossFit, folds: Folds, rows: LabelledState, tau: Tau) -> RefitGain:
    """Return what the refit of a base model gains; nothing where it was taken as it is."""
    if not base.refitted:
        return NO_GAIN
    if not is_partition(folds, len(base.p)):
        return RefitGain.unknown()
    return refit_gain(rows.state, rows.codes, base.reference_p, tau)


def _regions(
    table: Table,
    training: TrainingRows,
    validation: tuple[Table, Labels] | None,
    recipe: Recipe,
) -> RegionSet:
    """Return the regions of the rows; with each half of them, validation rows confirm."""
    ranker = rankers.make(recipe.spec)
    if isinstance(ranker, rankers.Ranker):
        ranker.check(training.oof.state)
    progress.expect(1)
    progress.step("regions")
    rows, tau = training.oof, recipe.tau
    # Where there is nothing to learn, regions do without.
    with notices.collected():
        learned = training.oof_scores(REGION_WITNESS, tau)
    clusters = Clusters.find(
        rows.state,
        learned,
        rows.events(tau),
        rows.state.decision == rows.codes,
        n_regions=recipe.n_regions,
        seed=recipe.seed,
    )
    parts, frame = [rows], table.frame
    if validation is not None and training.validation is not None:
        parts.append(training.validation)
        frame = pd.concat([frame, validation[0].frame], ignore_index=True)
    unexpected, expected = find_regions(
        frame,
        table.kinds,
        np.concatenate([part.state.confidence for part in parts]),
        np.concatenate([part.events(tau) for part in parts]),
        n_fit=len(table),
        tau=np.concatenate([np.full(len(p.codes), p.state.level(tau)) for p in parts]),
        seed=recipe.seed,
        design=State.concat([part.state for part in parts]).design,
    )
    return RegionSet(unexpected, expected, clusters, basis=basis_of(rows.state))
