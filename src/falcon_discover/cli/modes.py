"""What the command line audits: given scores, a model, a backbone, or the latest rows of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import TimeSeriesSplit

from falcon_discover.audit.absent import PRECOMPUTED, PREDICTIONS
from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.audit.finding import Finding
from falcon_discover.cli.columns import DrawnColumns, by_time
from falcon_discover.data.drawing import given_groups, group_folds
from falcon_discover.data.labels import Labels, label_repr
from falcon_discover.data.times import Times
from falcon_discover.datasets.splits import paper_split
from falcon_discover.evaluation.sources import HELD_OUT
from falcon_discover.exceptions import InputError
from falcon_discover.models.score_columns import scores_in
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import IntArray
from falcon_discover.runtime.words import meant
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.cli.request import AuditRequest

# With fewer rows of a class some part of a split would have none.
MIN_SPLIT = 10
# Tenths of the groups: two to test on, one to validate on, the others to train on.
SPLIT_PARTS = 10

Findings = tuple[Finding, dict[str, Any]]


def audited(
    data: pd.DataFrame,
    X: pd.DataFrame,
    y: pd.Series,
    drawn: DrawnColumns,
    times: Times | None,
    request: AuditRequest,
) -> tuple[FalconDiscover, Finding, dict[str, Any]]:
    """Return the fitted audit, what it found, and how it was made, for the report."""
    if times is not None:
        return _audit_latest(data, X, y, drawn, times, request)
    if request.proba:
        falcon = FalconDiscover(PRECOMPUTED, **_options(request))
        return falcon, *_audit_predictions(falcon, data, X, y, drawn, request)
    if request.model is not None:
        falcon = FalconDiscover(FrozenEstimator(request.model), **_options(request))
        return falcon, *_audit_model(falcon, X, y, drawn, request)
    backbone = None if request.backbone == "auto" else request.backbone
    falcon = FalconDiscover(backbone, **_options(request))
    return falcon, *_audit_backbone(falcon, X, y, drawn, request)


def _audit_predictions(
    falcon: FalconDiscover,
    data: pd.DataFrame,
    X: pd.DataFrame,
    y: pd.Series,
    drawn: DrawnColumns,
    request: AuditRequest,
) -> Findings:
    p = scores_in(data, request.proba, Labels.from_input(y).classes)
    found = falcon.fit(X, y, proba=p, positive=request.positive, **drawn).examine()
    rows = "all rows, each compared with the rows of the other folds"
    return found, {**PREDICTIONS, "rows": rows}


def _audit_latest(
    data: pd.DataFrame,
    X: pd.DataFrame,
    y: pd.Series,
    drawn: DrawnColumns,
    times: Times,
    request: AuditRequest,
) -> tuple[FalconDiscover, Finding, dict[str, Any]]:
    """Audit the latest rows by what the earlier ones teach: no row is judged by its future."""
    early, late = by_time(times, str(request.time))
    _check_early(y, early)
    how: dict[str, Any] = {}
    p, estimator = None, request.model
    if request.proba:
        p = scores_in(data, request.proba, Labels.from_input(y).classes)
        how, estimator = dict(PREDICTIONS), PRECOMPUTED
    elif request.model is not None:
        X, estimator = _wanted(X, request.model), FrozenEstimator(request.model)
        how = {"mode": "frozen model", "model": type(request.model).__name__}
    else:
        estimator = None if request.backbone == "auto" else request.backbone
    falcon = FalconDiscover(estimator, **_options(request), cv=TimeSeriesSplit(PAPER.n_folds))
    given = {} if p is None else {"proba": p[early], "positive": request.positive}
    falcon.fit(X.iloc[early], y.iloc[early], **given, **_of_rows(drawn, early))
    given = {} if p is None else {"proba": p[late]}
    found = falcon.examine(X.iloc[late], y.iloc[late], **given, **_of_rows(drawn, late))
    if not how:
        how = {"mode": "backbone", "model": falcon.backbone_, "candidates": falcon.candidates_}
        found = replace(found, source=HELD_OUT)
    start = pd.Timestamp(times[late[0]]) if times.dtype.kind == "M" else f"{times[late[0]]:g}"
    how["rows"] = (
        f"the latest {len(late):,} rows, from {start} on, compared with the {len(early):,} "
        "earlier ones"
    )
    return falcon, found, how


def _check_early(y: pd.Series, early: IntArray) -> None:
    """Raise if a class turns up in the latest rows only: nothing could be learned about it."""
    new = set(y.dropna().unique()) - set(y.iloc[early].dropna().unique())
    if new:
        label = label_repr(min(new, key=str))
        raise InputError(
            f"none of the {len(early):,} earlier rows has the label {label}, so nothing can be "
            "learned about it: leave its rows out, or add earlier rows."
        )


def _wanted(X: pd.DataFrame, model: Any) -> pd.DataFrame:
    """Return the columns that a model was fitted on."""
    wanted = getattr(model, "feature_names_in_", None)
    if wanted is None:
        return X
    lacking = [column for column in wanted if column not in X.columns]
    if lacking:
        raise InputError(
            f"the model needs the column {lacking[0]!r}, which the data do not "
            f"have.{meant(lacking[0], X.columns)}"
        )
    return X[list(wanted)]


def _audit_model(
    falcon: FalconDiscover,
    X: pd.DataFrame,
    y: pd.Series,
    drawn: DrawnColumns,
    request: AuditRequest,
) -> Findings:
    found = falcon.fit(_wanted(X, request.model), y, **drawn).examine()
    how = {
        "mode": "frozen model",
        "model": type(request.model).__name__,
        "rows": "all rows, each compared with the rows of the other folds",
    }
    return found, how


def _audit_backbone(
    falcon: FalconDiscover,
    X: pd.DataFrame,
    y: pd.Series,
    drawn: DrawnColumns,
    request: AuditRequest,
) -> Findings:
    strata = _strata(Labels.from_input(y))
    if "groups" in drawn:
        train, validation, test = _split_groups(strata, drawn["groups"], request.seed)
    else:
        train, validation, test = paper_split(strata, request.seed)
    falcon.fit(
        X.iloc[train],
        y.iloc[train],
        X_cal=X.iloc[validation],
        y_cal=y.iloc[validation],
        **_of_rows(drawn, train),
        **{f"{name}_cal": column for name, column in _of_rows(drawn, validation).items()},
    )
    found = falcon.examine(X.iloc[test], y.iloc[test], **_of_rows(drawn, test))
    how = {
        "mode": "backbone",
        "model": falcon.backbone_,
        "candidates": falcon.candidates_,
        "rows": (
            f"{len(test):,} test rows; the model was trained on {len(train):,} and validated on "
            f"{len(validation):,}"
        ),
    }
    table = replace(found.table, index=pd.Index(test))
    return replace(found, table=table, source=HELD_OUT), how


def _of_rows(drawn: DrawnColumns, rows: IntArray) -> DrawnColumns:
    return {name: column.iloc[rows] for name, column in drawn.items()}


def _split_groups(
    codes: npt.NDArray[np.int8], groups: pd.Series, seed: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return about 70, 10 and 20% of the rows to train, validate and test on; no group is split."""
    group, known = given_groups(groups, len(codes))
    if len(known) < SPLIT_PARTS:
        raise InputError(
            f"there are only {len(known)} groups: training a model on some and auditing it on "
            f"others takes at least {SPLIT_PARTS}."
        )
    unit = np.arange(len(codes)) if group is None else group
    parts = [held_out for _, held_out in group_folds(codes, unit, SPLIT_PARTS, seed)]
    test, validation = np.sort(np.concatenate(parts[:2])), np.sort(parts[2])
    return np.sort(np.concatenate(parts[3:])), validation, test


def _strata(labels: Labels) -> npt.NDArray[np.int8]:
    """Return what a split keeps the shares of: the classes, the rare ones of several as one."""
    counts = np.bincount(labels.codes, minlength=labels.n_classes)
    common = counts >= MIN_SPLIT
    if common.all():
        return labels.codes
    if labels.n_classes == 2 or not common.any():
        which = "rarer class has" if labels.n_classes == 2 else "most frequent class has"
        rows = int(counts.min() if labels.n_classes == 2 else counts.max())
        raise InputError(
            f"the {which} {rows} rows: training a model on 70% of the rows and auditing it on 20% "
            f"takes at least {MIN_SPLIT}."
        )
    rare = ", ".join(label_repr(label) for label in labels.classes[~common][:5])
    notices.warn(
        f"fewer than {MIN_SPLIT} rows are of class {rare}: the training rows or the audited rows "
        "may have none."
    )
    return np.where(common[labels.codes], labels.codes, counts.argmax()).astype(np.int8)


def _options(request: AuditRequest) -> dict[str, Any]:
    names = ("tau", "threshold", "ranker", "severity", "n_jobs")
    return {**{name: getattr(request, name) for name in names}, "random_state": request.seed}
