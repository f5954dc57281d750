"""An audit as the command line runs it: a file in, a review list and a summary out."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import TimeSeriesSplit

from falcon_discover.audit.aliases import PRECOMPUTED, PREDICTIONS
from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.audit.finding import Finding
from falcon_discover.cli.columns import by_time, column_costs
from falcon_discover.data.labels import Labels, label_repr
from falcon_discover.data.times import Times, times_of
from falcon_discover.datasets.splits import paper_split
from falcon_discover.evaluation.budget import (
    HELD_OUT,
    MissedBound,
    ReviewBudget,
    check_batch,
    check_share,
)
from falcon_discover.evaluation.periods import Periods
from falcon_discover.evaluation.results import Evaluation
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import review_size
from falcon_discover.models import library
from falcon_discover.models.score_columns import scores_in
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.report.build import About, Report
from falcon_discover.report.rows import LIST_COLUMNS
from falcon_discover.runtime import notices
from falcon_discover.runtime.format import identifier
from falcon_discover.runtime.words import meant, no_column
from falcon_discover.settings import PAPER

# Fewer rows may well have different values each in any column.
MIN_IDENTIFIED = 50
# With fewer rows of a class some part of a split would have none.
MIN_SPLIT = 10


@dataclass(frozen=True, eq=False)
class AuditRequest:
    """What to audit and how; the help of `falcon-discover audit` says what each field means.

    `model` is the fitted model itself, `identity` is `--id`, and `backbone` is trained where there
    is neither a model nor `proba`.
    """

    target: str
    model: Any = None
    proba: tuple[str, ...] = ()
    backbone: str = "auto"
    positive: str | None = None
    leave_out: tuple[str, ...] = ()
    identity: str | None = None
    time: str | None = None
    cost: str | None = None
    tau: float | dict[str, float] = PAPER.tau
    threshold: float = PAPER.decision_threshold
    budget: float = PAPER.main_budget
    ranker: str = "auto"
    severity: str = "count"
    max_residual_rate: float | None = None
    batch: int | None = None
    contributions: bool | None = None
    seed: int = PAPER.seeds[0]
    n_jobs: int = -1


@dataclass(frozen=True, eq=False)
class Audit:
    """The review list, the figures, and what was noticed on the way.

    `falcon` is the fitted audit, to be saved or to score new rows.
    """

    report: Report
    evaluation: Evaluation
    regions: RegionSet
    guarantee: ReviewBudget | None
    missed: MissedBound
    falcon: FalconDiscover
    periods: Periods | None = None

    @property
    def review(self) -> pd.DataFrame:
        """The review list."""
        return self.report.review

    @property
    def summary(self) -> dict[str, Any]:
        """All figures."""
        return self.report.summary


def run(data: pd.DataFrame, request: AuditRequest, *, name: str) -> Audit:
    """Audit a table and return everything there is to show."""
    started = time.perf_counter()
    if request.max_residual_rate is not None:
        check_share(request.max_residual_rate, "max_residual_rate")
    check_batch(request.batch)
    review_size(len(data), request.budget)
    if request.backbone != "auto":
        library.known(request.backbone)
    # Positions in the file identify rows from here on, whatever index the frame came with.
    data = data.reset_index(drop=True)
    X, y = _features(data, request, name)
    costs = None if request.cost is None else column_costs(data[request.cost])
    times = None if request.time is None else times_of(data[request.time], name="--time")
    with notices.collected() as noticed:
        _note_identifiers(X, request)
        if times is not None:
            falcon, found, how = _audit_latest(data, X, y, times, request)
        elif request.proba:
            falcon = FalconDiscover(PRECOMPUTED, **_options(request))
            found, how = _audit_predictions(falcon, data, X, y, request)
        elif request.model is not None:
            falcon = FalconDiscover(FrozenEstimator(request.model), **_options(request))
            found, how = _audit_model(falcon, X, y, request)
        else:
            backbone = None if request.backbone == "auto" else request.backbone
            falcon = FalconDiscover(backbone, **_options(request))
            found, how = _audit_backbone(falcon, X, y, request)
        # The report says it of the rows that it is about, which may be others than the fit's.
        noticed.pop(falcon.examine().one_sided, None)
    if costs is not None:
        found = found.costing(costs[found.index])
    about = _about(data, request, how, name, found)
    periods = None
    if times is not None:
        about = replace(about, times=times[found.index])
        periods = found.by_period(times[found.index])
    report = Report.of(found, about, started=started)
    # What was noticed during the fit comes before what was noticed when it was measured, and
    # what makes the figures worthless before both.
    notes = [*found.alerts, *noticed, *report.summary["notes"]]
    report.summary["notes"] = list(dict.fromkeys(notes))
    assert report.evaluation is not None
    assert report.missed is not None
    return Audit(
        report,
        report.evaluation,
        found.regions,
        report.guarantee,
        report.missed,
        falcon,
        periods,
    )


def _about(
    data: pd.DataFrame, request: AuditRequest, how: dict[str, Any], name: str, found: Finding
) -> About:
    identity = None
    if request.identity is not None:
        identity = _as_written(data[request.identity]).iloc[found.index]
    return About(
        name=name,
        target=request.target,
        rows=len(data),
        how=how,
        settings={key: getattr(request, key) for key in ("ranker", "severity", "seed")},
        budget=request.budget,
        max_residual_rate=request.max_residual_rate,
        batch=request.batch,
        contributions=request.contributions,
        identity=identity,
    )


Findings = tuple[Finding, dict[str, Any]]


def _audit_predictions(
    falcon: FalconDiscover, data: pd.DataFrame, X: pd.DataFrame, y: pd.Series, request: AuditRequest
) -> Findings:
    p = scores_in(data, request.proba, Labels.from_input(y).classes)
    found = falcon.fit(X, y, proba=p, positive=request.positive).examine()
    rows = "all rows, each compared with the rows of the other folds"
    return found, {**PREDICTIONS, "rows": rows}


def _audit_latest(
    data: pd.DataFrame, X: pd.DataFrame, y: pd.Series, times: Times, request: AuditRequest
) -> tuple[FalconDiscover, Finding, dict[str, Any]]:
    """Audit the latest rows by what the earlier ones teach: no row is judged by its future."""
    early, late = by_time(times, str(request.time))
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
    falcon.fit(X.iloc[early], y.iloc[early], **given)
    given = {} if p is None else {"proba": p[late]}
    found = falcon.examine(X.iloc[late], y.iloc[late], **given)
    if not how:
        how = {"mode": "backbone", "model": falcon.backbone_, "candidates": falcon.candidates_}
        found = replace(found, source=HELD_OUT)
    start = pd.Timestamp(times[late[0]]) if times.dtype.kind == "M" else f"{times[late[0]]:g}"
    how["rows"] = (
        f"the latest {len(late):,} rows, from {start} on; the {len(early):,} earlier ones are "
        "what they are compared with"
    )
    return falcon, found, how


def _wanted(X: pd.DataFrame, model: Any) -> pd.DataFrame:
    """Return the columns that a model was fitted on."""
    wanted = getattr(model, "feature_names_in_", None)
    if wanted is None:
        return X
    lacking = [column for column in wanted if column not in X.columns]
    if lacking:
        raise InputError(
            f"the model needs the column {lacking[0]!r}, which the data lack."
            f"{meant(lacking[0], X.columns)}"
        )
    return X[list(wanted)]


def _audit_model(
    falcon: FalconDiscover, X: pd.DataFrame, y: pd.Series, request: AuditRequest
) -> Findings:
    found = falcon.fit(_wanted(X, request.model), y).examine()
    how = {
        "mode": "frozen model",
        "model": type(request.model).__name__,
        "rows": "all rows, each compared with the rows of the other folds",
    }
    return found, how


def _audit_backbone(
    falcon: FalconDiscover, X: pd.DataFrame, y: pd.Series, request: AuditRequest
) -> Findings:
    train, validation, test = paper_split(_strata(Labels.from_input(y)), request.seed)
    falcon.fit(X.iloc[train], y.iloc[train], X_cal=X.iloc[validation], y_cal=y.iloc[validation])
    found = falcon.examine(X.iloc[test], y.iloc[test])
    how = {
        "mode": "backbone",
        "model": falcon.backbone_,
        "candidates": falcon.candidates_,
        "rows": f"{len(test):,} test rows; {len(train):,} trained the model, "
        f"{len(validation):,} are validation rows",
    }
    table = replace(found.table, index=pd.Index(test))
    return replace(found, table=table, source=HELD_OUT), how


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
            f"the {which} {rows} rows: training a backbone on 70 % of the rows and auditing it on "
            f"20 % needs at least {MIN_SPLIT}."
        )
    rare = ", ".join(label_repr(label) for label in labels.classes[~common][:5])
    notices.warn(
        f"fewer than {MIN_SPLIT} rows are of class {rare}: the rows that train the model and those "
        "it is audited on may lack them."
    )
    return np.where(common[labels.codes], labels.codes, counts.argmax()).astype(np.int8)


def _options(request: AuditRequest) -> dict[str, Any]:
    names = ("tau", "threshold", "ranker", "severity", "n_jobs")
    return {**{name: getattr(request, name) for name in names}, "random_state": request.seed}


def _features(
    data: pd.DataFrame, request: AuditRequest, name: str
) -> tuple[pd.DataFrame, pd.Series]:
    single = {
        "--target": request.target,
        "--id": request.identity,
        "--time": request.time,
        "--cost": request.cost,
    }
    roles = [(option, column) for option, column in single.items() if column is not None]
    roles[1:1] = [("--proba", column) for column in request.proba]
    roles += [("--leave-out", column) for column in request.leave_out]
    taken: dict[str, str] = {}
    for option, column in roles:
        if column not in data.columns:
            raise InputError(f"{option} names {no_column(column, data.columns, name)}")
        if option != "--leave-out" and column in taken:
            raise InputError(
                f"{taken[column]} and {option} both name the column {column!r}: give each its own."
            )
        taken.setdefault(column, option)
    if request.identity in LIST_COLUMNS:
        raise InputError(
            f"--id names the column {request.identity!r}, and the review list has a column of "
            "that name: rename yours."
        )
    for column in data.columns:
        # Arrays of texts end at it: the column would not be found again.
        if "\0" in str(column):
            raise InputError(f"{name} has a NUL character in the name {column!r}: rename it.")
    X = data.drop(columns=list(taken))
    if X.shape[1] == 0:
        raise InputError("no feature column is left beside the target.")
    return X, data[request.target]


def _as_written(identity: pd.Series) -> pd.Series:
    """Return identifiers as texts where a gap made them floats, or where no file holds them."""
    if pd.api.types.is_float_dtype(identity.dtype):
        shown = identity.astype(object).map(identifier)
    elif identity.dtype == object or identity.hasnans:
        shown = identity.astype(object).map(str)
    else:
        return identity
    return shown.where(identity.notna(), None)


def _note_identifiers(X: pd.DataFrame, request: AuditRequest) -> None:
    """Note features that name their rows: they tell nothing about new ones."""
    used = getattr(request.model, "feature_names_in_", X.columns)
    option = "--id" if request.identity is None else "--leave-out"
    for name in X.columns.intersection(list(used)):
        whole = pd.api.types.is_integer_dtype(X[name].dtype)
        if len(X) < MIN_IDENTIFIED or not (whole or pd.api.types.is_string_dtype(X[name])):
            continue
        different = X[name].nunique()
        if different == len(X) or (not whole and different >= 0.95 * len(X)):
            every = "every row" if different == len(X) else "almost every row"
            notices.warn(
                f"column {name!r} has another value in {every} and looks like an identifier: "
                f"if it is one, use {option} {name}."
            )
