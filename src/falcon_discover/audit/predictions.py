"""`discover()`: an audit of predictions without the model that made them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from falcon_discover import rankers
from falcon_discover.audit.checks import (
    check_lengths,
    check_parameters,
    check_same_rows,
    check_threshold,
    given_probabilities,
    resolved_seed,
    resolved_tau,
    warn_few_rows,
)
from falcon_discover.audit.drawn import drawing
from falcon_discover.audit.finding import Finding
from falcon_discover.audit.fitting import Recipe, check_ranker, fit_audit
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.evaluation.budget import GIVEN_SCORES
from falcon_discover.exceptions import InputError
from falcon_discover.models.crossfit import given_scores
from falcon_discover.models.folds import make_folds
from falcon_discover.settings import PAPER


def discover(
    X: Any,
    y: Any,
    proba: npt.ArrayLike,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    positive: Any = None,
    tau: Any = PAPER.tau,
    threshold: float = PAPER.decision_threshold,
    ranker: Any = "auto",
    severity: str = "count",
    n_neighbors: int = PAPER.n_neighbors,
    cv: Any = PAPER.n_folds,
    n_regions: int = PAPER.n_regions,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Finding:
    """Audit predictions without the model that made them.

    Parameters
    ----------
    X, y : labelled rows the model was not trained on, matched by position; pandas objects with the
        same row labels in another order are refused
    proba : the probability of the label that sorts last (`yes` of no/yes, 1 of 0/1), or the
        columns of `predict_proba`, one for each class in sorted order
    groups : which rows belong together; none is judged by anything that saw its group
    sample_weight : how many rows each row stands for
    positive : the label that `proba` is the probability of, where it is not the one that sorts last
    tau, threshold, ranker, severity, n_neighbors, cv, n_regions, random_state, n_jobs : as in
        `FalconDiscover`

    Returns
    -------
    Finding, which prints itself; the stability signals are absent

    Examples
    --------
    >>> from falcon_discover import datasets, discover
    >>> planted = datasets.make_planted(500, random_state=0)
    >>> found = discover(planted.X, planted.y, planted.proba, random_state=0)
    >>> found.review(budget=0.01)["confidence"].ge(0.90).all()
    np.True_
    """
    check_parameters(
        tau=tau,
        threshold=threshold,
        cv=cv,
        random_state=random_state,
        n_jobs=n_jobs,
        n_neighbors=n_neighbors,
        n_regions=n_regions,
    )
    spec = rankers.specified(ranker, severity)
    check_ranker(spec, has_validation=False)
    table, labels = Table.from_input(X), Labels.from_input(y)
    check_lengths(table, labels, "X", "y")
    check_same_rows(X, y)
    check_same_rows(X, proba, y_name="proba")
    check_threshold(threshold, labels)
    p = given_probabilities(proba, len(table), labels.n_classes)
    scored = _scored(positive, labels, np.ndim(proba))
    if scored == 0:
        p = 1.0 - p
    recipe = Recipe(
        tau=resolved_tau(tau, labels),
        spec=spec,
        seed=resolved_seed(random_state),
        source=GIVEN_SCORES,
        n_neighbors=n_neighbors,
        n_regions=n_regions,
        n_jobs=n_jobs,
        scored=scored,
    )
    drawn = drawing(table, groups, sample_weight)
    folds = make_folds(cv, labels, recipe.seed, drawn.group)
    warn_few_rows(folds, n_neighbors)
    base = given_scores(p, folds, threshold)
    return fit_audit(table, labels, folds, base, recipe, drawn=drawn).examine()


def _scored(positive: Any, labels: Labels, dimensions: int) -> int:
    """Return which of the two classes the scores are the probability of."""
    if positive is None:
        return 1
    if dimensions == 2:
        raise InputError("positive belongs to one column of scores: proba has more, leave it out.")
    names = [str(label) for label in labels.classes]
    if str(positive) not in names:
        raise InputError(
            f"positive is {str(positive)!r}, but the labels are {names[0]!r} and {names[1]!r}."
        )
    return names.index(str(positive))
