"""`discover()`: an audit of predictions without the model that made them."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from falcon_discover.audit.absent import PRECOMPUTED
from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.audit.finding import Finding
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

    Short for `FalconDiscover("precomputed").fit(X, y, proba=proba).examine()`; use that form to
    score new rows too, or to save the audit.

    Parameters
    ----------
    X, y : labelled rows the model was not trained on, matched by position; pandas objects with the
        same row labels in another order are refused
    proba : the probability of the positive label, the last in sorted order (`yes` of no/yes, 1 of
        0/1), or the columns of `predict_proba`, one per class in sorted order
    groups : which rows belong together; none is judged by anything that saw its group
    sample_weight : how many rows each row stands for
    positive : the label that `proba` is the probability of, if it is the other one
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
    falcon = FalconDiscover(
        PRECOMPUTED,
        tau=tau,
        threshold=threshold,
        ranker=ranker,
        severity=severity,
        n_neighbors=n_neighbors,
        cv=cv,
        n_regions=n_regions,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    falcon.fit(X, y, proba=proba, positive=positive, groups=groups, sample_weight=sample_weight)
    return falcon.examine()
