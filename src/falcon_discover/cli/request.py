"""An audit as the command line runs it: a file in, a review list and a summary out."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.frozen import FrozenEstimator

from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.audit.finding import Finding
from falcon_discover.audit.predictions import discover
from falcon_discover.data.drawing import given_groups, given_weights, group_folds
from falcon_discover.data.labels import Labels
from falcon_discover.datasets.splits import paper_split
from falcon_discover.evaluation.assumptions import check_batch, check_share
from falcon_discover.evaluation.budget import HELD_OUT, MissedBound, ReviewBudget
from falcon_discover.evaluation.results import Evaluation
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import review_size
from falcon_discover.models import library
from falcon_discover.models.proba import if_percent
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.report.build import About, Report
from falcon_discover.report.rows import LIST_COLUMNS
from falcon_discover.runtime import notices
from falcon_discover.runtime.format import identifier
from falcon_discover.runtime.suggestions import meant, no_column
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.settings import PAPER

# Fewer rows may well have different values each in any column.
MIN_IDENTIFIED = 50
# Tenths of the groups: two to test on, one to validate on, the others to train on.
SPLIT_PARTS = 10


@dataclass(frozen=True, eq=False)
class AuditRequest:
    """What to audit and how.

    Parameters
    ----------
    target : the label column
    model : a fitted model, or None
    proba : the column of positive-class scores, or None
    backbone : a backbone's name or "auto", when there is neither
    positive : the label `proba` is the probability of, or None for the larger of the two
    leave_out : columns that are not features
    identity : a column to carry into the review list
    group : the column that says which rows belong together, or None
    weight : the column that says how many rows each stands for, or None
    severity : "count" or "surprise", for the ranker "auto"
    max_residual_rate : target for the rate of confident errors among rows not reviewed
    batch : how many rows to come budgets and bounds speak of; None for the long run
    contributions : whether to measure what each signal family earns; None if it takes little
    """

    target: str
    model: Any = None
    proba: str | None = None
    backbone: str = "auto"
    positive: str | None = None
    leave_out: tuple[str, ...] = ()
    identity: str | None = None
    group: str | None = None
    weight: str | None = None
    tau: float = PAPER.tau
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

    `falcon` is the fitted audit, to be saved or to score new rows; None for bare predictions.
    """

    report: Report
    evaluation: Evaluation
    regions: RegionSet
    guarantee: ReviewBudget | None
    missed: MissedBound
    falcon: FalconDiscover | None

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
    if request.batch is not None and (request.group or request.weight):
        option = "--group" if request.group else "--weight"
        raise InputError(
            f"--batch and {option} exclude each other: there is no prediction bound for such rows. "
            "Leave --batch out for a bound in the long run."
        )
    review_size(len(data), request.budget)
    if request.backbone != "auto":
        library.known(request.backbone)
    # Positions in the file identify rows from here on, whatever index the frame came with.
    data = data.reset_index(drop=True)
    X, y = _features(data, request, name)
    drawn = _drawn(data, request)
    with notices.collected() as noticed:
        _note_identifiers(X, request)
        if request.proba is not None:
            falcon = None
            found, how = _audit_predictions(data, X, y, drawn, request)
        elif request.model is not None:
            falcon = _falcon(FrozenEstimator(request.model), request)
            found, how = _audit_model(falcon, X, y, drawn, request)
        else:
            falcon = _falcon(None if request.backbone == "auto" else request.backbone, request)
            found, how = _audit_backbone(falcon, X, y, drawn, request)
        if falcon is not None:
            # The report says it of the rows that it is about, which may be others than the fit's.
            noticed.pop(falcon.examine().one_sided, None)
    report = Report.of(found, _about(data, request, how, name, found), started=started)
    # What was noticed during the fit comes before what was noticed when it was measured, and
    # what makes the figures worthless before both.
    notes = [*found.alerts, *noticed, *report.summary["notes"]]
    report.summary["notes"] = list(dict.fromkeys(notes))
    assert report.evaluation is not None
    assert report.missed is not None
    return Audit(report, report.evaluation, found.regions, report.guarantee, report.missed, falcon)


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
        settings={
            **{key: getattr(request, key) for key in ("ranker", "severity", "seed")},
            **{key: column for key, column in _drawing(request).items() if column is not None},
        },
        budget=request.budget,
        max_residual_rate=request.max_residual_rate,
        batch=request.batch,
        contributions=request.contributions,
        identity=identity,
    )


Findings = tuple[Finding, dict[str, Any]]


def _audit_predictions(
    data: pd.DataFrame, X: pd.DataFrame, y: pd.Series, drawn: DrawnColumns, request: AuditRequest
) -> Findings:
    p = _scores(data[request.proba])
    found = discover(
        X,
        y,
        p,
        **drawn,
        positive=request.positive,
        tau=request.tau,
        ranker=request.ranker,
        severity=request.severity,
        random_state=request.seed,
        n_jobs=request.n_jobs,
    )
    how = {
        "mode": "predictions only",
        "rows": "all rows, each compared with the rows of the other folds",
        "absent": "the stability signals: there was no model to probe",
    }
    return found, how


def _audit_model(
    falcon: FalconDiscover,
    X: pd.DataFrame,
    y: pd.Series,
    drawn: DrawnColumns,
    request: AuditRequest,
) -> Findings:
    wanted = getattr(request.model, "feature_names_in_", None)
    if wanted is not None:
        lacking = [column for column in wanted if column not in X.columns]
        if lacking:
            raise InputError(
                f"the model needs the column {lacking[0]!r}, which the data lack."
                f"{meant(lacking[0], X.columns)}"
            )
        X = X[list(wanted)]
    found = falcon.fit(X, y, **drawn).examine()
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
    labels = Labels.from_input(y)
    rarest = int(np.bincount(labels.codes).min())
    if rarest < 10:
        raise InputError(
            f"the rarer class has {rarest} rows: training a backbone on 70 % of the rows and "
            "auditing it on 20 % needs at least 10."
        )
    if "groups" in drawn:
        train, validation, test = _split_groups(labels.codes, drawn["groups"], request.seed)
    else:
        train, validation, test = paper_split(labels.codes, request.seed)
    falcon.fit(
        X.iloc[train],
        y.iloc[train],
        X_cal=X.iloc[validation],
        y_cal=y.iloc[validation],
        **{name: column.iloc[train] for name, column in drawn.items()},
        **{f"{name}_cal": column.iloc[validation] for name, column in drawn.items()},
    )
    own = {name: column.iloc[test] for name, column in drawn.items()}
    found = falcon.examine(X.iloc[test], y.iloc[test], **own)
    how = {
        "mode": "backbone",
        "model": falcon.backbone_,
        "candidates": falcon.candidates_,
        "rows": f"{len(test):,} test rows; {len(train):,} trained the model, "
        f"{len(validation):,} are validation rows",
    }
    table = replace(found.table, index=pd.Index(test))
    return replace(found, table=table, source=HELD_OUT), how


# Columns of groups and weights, by the name of the argument they go into.
DrawnColumns = dict[str, pd.Series]


def _drawing(request: AuditRequest) -> dict[str, str | None]:
    return {"group": request.group, "weight": request.weight}


def _drawn(data: pd.DataFrame, request: AuditRequest) -> DrawnColumns:
    """Return the columns of groups and weights that were named, checked."""
    given: DrawnColumns = {}
    if request.group is not None:
        given["groups"] = data[request.group]
        given_groups(given["groups"], len(data), f"the column {request.group!r} (--group)")
    if request.weight is not None:
        given["sample_weight"] = data[request.weight]
        given_weights(
            given["sample_weight"], len(data), f"the column {request.weight!r} (--weight)"
        )
    return given


def _split_groups(
    codes: npt.NDArray[np.int8], groups: pd.Series, seed: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return about 70, 10 and 20% of the rows to train, validate and test on; no group is split."""
    group, known = given_groups(groups, len(codes))
    if len(known) < SPLIT_PARTS:
        raise InputError(
            f"there are {len(known)} groups: training a backbone on some and auditing it on others "
            f"needs at least {SPLIT_PARTS}."
        )
    unit = np.arange(len(codes)) if group is None else group
    parts = [held_out for _, held_out in group_folds(codes, unit, SPLIT_PARTS, seed)]
    test, validation = np.sort(np.concatenate(parts[:2])), np.sort(parts[2])
    return np.sort(np.concatenate(parts[3:])), validation, test


def _falcon(estimator: Any, request: AuditRequest) -> FalconDiscover:
    return FalconDiscover(
        estimator,
        tau=request.tau,
        ranker=request.ranker,
        severity=request.severity,
        random_state=request.seed,
        n_jobs=request.n_jobs,
    )


def _features(
    data: pd.DataFrame, request: AuditRequest, name: str
) -> tuple[pd.DataFrame, pd.Series]:
    # One column may both tell the groups apart and stand in the review list.
    group = None if request.group == request.identity else request.group
    single = {
        "--target": request.target,
        "--proba": request.proba,
        "--id": request.identity,
        "--group": group,
        "--weight": request.weight,
    }
    roles = [(option, column) for option, column in single.items() if column is not None]
    roles += [("--leave-out", column) for column in request.leave_out]
    taken: dict[str, str] = {}
    for option, column in roles:
        if column not in data.columns:
            raise InputError(f"{option} names {no_column(column, data.columns, name)}")
        if option in single and column in taken:
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


def _scores(column: pd.Series) -> FloatArray:
    """Return the scores of a column, or say which one cannot be a probability."""
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    texts = np.flatnonzero(np.isnan(numbers) & column.notna().to_numpy())
    bad = texts if len(texts) else np.flatnonzero(~((numbers >= 0) & (numbers <= 1)))
    if not len(bad):
        return numbers
    value = column.iloc[bad[0]]
    percent = "%" in str(value) and isinstance(value, str)
    hint = " Write percentages as shares: divide by 100." if percent else if_percent(numbers)
    held = repr(value) if len(texts) else "nothing" if pd.isna(value) else str(value)
    raise InputError(
        f"--proba names the column {column.name!r}, which holds {held} in row {bad[0]} "
        f"({len(bad):,} such row{'s' if len(bad) > 1 else ''}): a probability is a number between "
        f"0 and 1.{hint}"
    )


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
