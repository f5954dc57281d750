"""Cross-fitting: every training row is scored by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from falcon_discover import metrics
from falcon_discover.data.labels import Labels, label_repr
from falcon_discover.data.table import Table, take_rows
from falcon_discover.data.view import TransformedView
from falcon_discover.exceptions import InputError
from falcon_discover.models import library
from falcon_discover.models.adapter import Probe, probe
from falcon_discover.models.fitting import fit_backbone
from falcon_discover.models.folds import Folds
from falcon_discover.models.reference_scores import held_out_of, repeated, scores_as_reference
from falcon_discover.models.spill import SpillingList
from falcon_discover.models.thresholds import own_threshold, threshold_of
from falcon_discover.models.weighing import takes_none, weight_arguments, weight_name
from falcon_discover.runtime import notices, progress
from falcon_discover.runtime.interrupts import interrupt_after
from falcon_discover.runtime.optional import hint
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.settings import PAPER


@dataclass(frozen=True, eq=False)
class CrossFit:
    """A base model refitted on all rows, its fold models, and its out-of-fold scores.

    Parameters
    ----------
    name : the backbone's name, or the class of the user's estimator
    model : the fitted model
    probe : the same, as the stability signals need it; None where scores were given
    fold_probes : one per fold, fitted without that fold; large ones are loaded when asked for
    p : out-of-fold scores: one number for each row, or a column for each of more than two classes.
        Rows that are never held out have scores by models of other such rows
    reference_p : one row per fold f; in it, the score of every row outside f by a model that saw
        neither f nor the row's own fold. These are the out-of-fold scores of the reference
        rows of f: scores from models that saw f would carry its labels into its own state.
    auroc : out-of-fold label AUROC of every candidate that was tried
    own_view : whether the models' encoding is fitted on the rows we have
    threshold : of the decision between two classes
    differing : in how many rows a user's model decides otherwise
    """

    name: str
    model: Any
    probe: Probe | None
    fold_probes: Iterable[Probe | None]
    p: FloatArray
    reference_p: FloatArray
    auroc: dict[str, float]
    own_view: bool = True
    threshold: float = PAPER.decision_threshold
    differing: int = 0

    @property
    def refitted(self) -> bool:
        """Whether the model was fitted on all of these rows, as its encoding then was too."""
        return self.own_view


def _auroc(
    codes: npt.NDArray[np.integer], p: FloatArray, weight: FloatArray | None = None
) -> float:
    if p.ndim == 1 and weight is None:
        return float(roc_auc_score(codes, p))
    return metrics.label_auroc(codes, p, sample_weight=weight)


def cross_fit(
    estimator: Any,
    table: Table,
    labels: Labels,
    folds: Folds,
    threshold: float = PAPER.decision_threshold,
    *,
    name: str | None = None,
    weight: FloatArray | None = None,
) -> CrossFit:
    """Cross-fit an unfitted classifier or Pipeline on the table as it was given.

    Parameters
    ----------
    threshold : of the decision between two classes
    name : what it is called; None for the name of its class
    weight : how many rows each stands for
    """
    name = name or type(estimator).__name__
    targets = labels.classes[labels.codes]
    if type_of_target(targets) == "continuous":
        shown = " and ".join(label_repr(label) for label in labels.classes[:2])
        raise InputError(
            f"y has the labels {shown}, which scikit-learn treats as continuous: use whole "
            "numbers or text."
        )
    if _is_fitted(estimator) and not _is_fitted(_fresh(estimator)):
        notices.warn(
            f"{name} is already fitted: a clone is refitted on these rows, and the clone is "
            "audited. To audit the model as it is, on rows it was not trained on, pass "
            "FrozenEstimator(model) from sklearn.frozen."
        )

    def fitted(rows: IntArray | slice, what: str) -> tuple[Any, Probe]:
        progress.step(f"{name}: {what}")
        model = _fresh(estimator)
        asked = weight_arguments(model, None if weight is None else weight[rows])
        with interrupt_after(model):
            model.fit(take_rows(table.native, rows), targets[rows], **asked)
        return model, probe(model, labels.classes)

    progress.expect(len(folds) + 1)
    p = _no_scores(labels)
    fold_probes, differing = [], 0
    for number, (others, held_out) in enumerate(folds, start=1):
        model, asked = fitted(others, f"fold {number} of {len(folds)}")
        fold_probes.append(asked)
        p[held_out], encoded = asked.scored(table.take(held_out))
        # Each fold tunes a threshold of its own, if any is tuned.
        own = threshold_of(model, labels.classes, threshold)
        differing += asked.differing(encoded, p[held_out], own)
    p, reference_p = scores_as_reference(
        folds, p, labels, lambda rows: fitted(rows, "reference scores")[1], table.take, weight
    )
    progress.step(f"{name}: refit")
    model = _fresh(estimator)
    with interrupt_after(model):
        model.fit(table.native, targets, **weight_arguments(model, weight))
    threshold = own_threshold(model, labels.classes, threshold)
    return CrossFit(
        name,
        model,
        probe(model, labels.classes),
        fold_probes,
        p,
        reference_p,
        {name: _auroc(*held_out_of(folds, labels.codes, p, weight))},
        threshold=threshold,
        differing=differing,
    )


def _no_scores(labels: Labels) -> FloatArray:
    """Return room for the scores of all rows."""
    return np.empty(len(labels) if labels.n_classes == 2 else (len(labels), labels.n_classes))


def _fresh(estimator: Any) -> Any:
    """Return an unfitted copy."""
    try:
        return clone(estimator)
    except RuntimeError:
        # CatBoost copies a list of categorical columns, which scikit-learn takes for a fault.
        return type(estimator)(**estimator.get_params(deep=False))


def _is_fitted(estimator: Any) -> bool:
    """Return whether a model was fitted, as far as it says."""
    try:
        if hasattr(estimator, "is_fitted"):
            # CatBoost's own way.
            return bool(estimator.is_fitted())
        check_is_fitted(estimator)
    except Exception:
        # A model from elsewhere may fail at the question in any way.
        return False
    return True


def select_backbone(
    names: Sequence[str],
    table: Table,
    labels: Labels,
    folds: Folds,
    *,
    seed: int,
    n_jobs: int,
    reference_scores: bool = True,
    threshold: float = PAPER.decision_threshold,
    weight: FloatArray | None = None,
) -> CrossFit:
    """Cross-fit candidates of the library and keep the one with the best out-of-fold AUROC.

    Candidates whose package is missing are left out with a warning when there are several.

    Parameters
    ----------
    reference_scores : False saves the fits behind `reference_p` and fills it with NaN; then
        the prediction agreement of training rows must not be used
    weight : how many rows each stands for; candidates that take no weights are left out with a
        warning when there are several
    """
    names = _installed(names)
    if weight is not None:
        names = _weighing(names)
    progress.expect(len(names) * len(folds) + 1)
    views = [TransformedView().fit(table.take(others)) for others, _ in folds]
    coordinates = [view.transform(table) for view in views]
    auroc: dict[str, float] = {}
    best, best_p = "", np.empty(0)
    best_models = SpillingList()
    for name in names:
        models, p = SpillingList(), _no_scores(labels)
        for number, (others, held_out) in enumerate(folds):
            progress.step(f"{name}: fold {number + 1} of {len(folds)}")
            rows = coordinates[number]
            model = fit_backbone(
                name,
                rows[others],
                labels.codes[others],
                seed=seed,
                n_jobs=n_jobs,
                weight=None if weight is None else weight[others],
            )
            asked = rows[held_out].astype(library.candidate(name).dtype, copy=False)
            p[held_out] = _of_codes(model, labels, others).predict(asked)
            models.append(model)
            del model
        auroc[name] = _auroc(*held_out_of(folds, labels.codes, p, weight))
        # Only the leader's fold models are kept.
        if not best or auroc[name] > auroc[best]:
            best, best_models, best_p = name, models, p
    dtype = library.candidate(best).dtype

    def fitted(rows: IntArray, what: str) -> Probe:
        progress.step(f"{best}: {what}")
        part = table.take(rows)
        view = TransformedView(dtype).fit(part)
        model = fit_backbone(
            best,
            view.transform(part),
            labels.codes[rows],
            seed=seed,
            n_jobs=n_jobs,
            weight=None if weight is None else weight[rows],
        )
        return _of_codes(model, labels, rows, view)

    reference_p = np.full((len(folds), *best_p.shape), np.nan)
    if reference_scores:
        best_p, reference_p = scores_as_reference(
            folds, best_p, labels, lambda rows: fitted(rows, "reference scores"), table.take, weight
        )
    final = fitted(np.arange(len(table)), "refit")
    fold_probes = _FoldProbes(
        [view.set_params(dtype=dtype) for view in views], best_models, labels, folds
    )
    pipeline = Pipeline([("view", final.view), ("model", final.classifier)])
    return CrossFit(
        best, pipeline, final, fold_probes, best_p, reference_p, auroc, threshold=threshold
    )


def _of_codes(
    model: Any, labels: Labels, rows: IntArray, view: TransformedView | None = None
) -> Probe:
    """Return a library model, which was fitted on the codes of some rows, as a probe."""
    if labels.n_classes == 2:
        return Probe(model, head=view)
    present = tuple(int(code) for code in np.unique(labels.codes[rows]))
    return Probe(model, head=view, columns=present, n_classes=labels.n_classes)


@dataclass(frozen=True, eq=False)
class _FoldProbes:
    """The fold models with their views, one at a time."""

    views: list[TransformedView]
    models: SpillingList
    labels: Labels
    folds: Folds

    def __iter__(self) -> Iterator[Probe]:
        for view, model, (others, _) in zip(self.views, self.models, self.folds, strict=True):
            yield _of_codes(model, self.labels, others, view)


def frozen_fit(
    model: Any,
    table: Table,
    labels: Labels,
    folds: Folds,
    threshold: float = PAPER.decision_threshold,
) -> CrossFit:
    """Take a fitted model as it is; no row given here was used to fit it."""
    progress.expect(1)
    progress.step("scores of the frozen model")
    asked = probe(model, labels.classes)
    p, encoded = asked.scored(table)
    threshold = own_threshold(model, labels.classes, threshold)
    return CrossFit(
        type(model).__name__,
        model,
        asked,
        [asked] * len(folds),
        p,
        repeated(p, len(folds)),
        auroc={type(model).__name__: _auroc(labels.codes, p)},
        own_view=False,
        threshold=threshold,
        differing=asked.differing(encoded, p, threshold),
    )


def given_scores(
    p: FloatArray, folds: Folds, threshold: float = PAPER.decision_threshold
) -> CrossFit:
    """Return scores that somebody else's model gave as a base model that cannot be asked."""
    return CrossFit(
        name="precomputed",
        model=None,
        probe=None,
        fold_probes=[None] * len(folds),
        p=p,
        reference_p=repeated(p, len(folds)),
        auroc={},
        own_view=False,
        threshold=threshold,
    )


def _installed(names: Sequence[str]) -> list[str]:
    if len(names) == 1:
        return list(names)
    missing = [n for n in names if not library.CANDIDATES[n].installed]
    for name in missing:
        notices.warn(f"{name} is left out. {hint('It', library.CANDIDATES[name].extra)}")
    return [name for name in names if name not in missing]


def _weighing(names: Sequence[str]) -> list[str]:
    """Return the candidates that take weights; an error where none is left."""
    models = {name: library.candidate(name).make(0, 1) for name in names}
    kept = [name for name, model in models.items() if weight_name(model) is not None]
    left_out = [name for name in names if name not in kept]
    if not kept:
        raise InputError(takes_none(models[left_out[0]]))
    if left_out:
        notices.warn(f"{', '.join(left_out)}: left out, because its fit takes no sample_weight.")
    return kept
