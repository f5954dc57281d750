"""An audit as the command line runs it: a file in, a review list and a summary out."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.audit.finding import Finding
from falcon_discover.cli.columns import column_costs, drawn_columns
from falcon_discover.cli.modes import audited
from falcon_discover.data.times import times_of
from falcon_discover.evaluation.assumptions import check_batch, check_share
from falcon_discover.evaluation.budget import MissedBound, ReviewBudget
from falcon_discover.evaluation.periods import Periods
from falcon_discover.evaluation.results import Evaluation
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import review_size
from falcon_discover.models import library
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.report.build import About, Report
from falcon_discover.report.rows import LIST_COLUMNS
from falcon_discover.runtime import notices
from falcon_discover.runtime.format import identifier
from falcon_discover.runtime.words import no_column
from falcon_discover.settings import PAPER

# Fewer rows may well have different values each in any column.
MIN_IDENTIFIED = 50


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
    about: dict[str, str] = field(default_factory=dict)
    identity: str | None = None
    time: str | None = None
    cost: str | None = None
    group: str | None = None
    weight: str | None = None
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
    _check_together(request)
    review_size(len(data), request.budget)
    if request.backbone != "auto":
        library.known(request.backbone)
    # Positions in the file identify rows from here on, whatever index the frame came with.
    data = data.reset_index(drop=True)
    X, y = _features(data, request, name)
    costs = None if request.cost is None else column_costs(data[request.cost])
    times = None if request.time is None else times_of(data[request.time], name="--time")
    drawn = drawn_columns(data, request.group, request.weight)
    with notices.collected() as noticed:
        _note_identifiers(X, request)
        falcon, found, how = audited(data, X, y, drawn, times, request)
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
        how=how | request.about,
        settings=_settings(request),
        budget=request.budget,
        max_residual_rate=request.max_residual_rate,
        batch=request.batch,
        contributions=request.contributions,
        identity=identity,
    )


def _settings(request: AuditRequest) -> dict[str, Any]:
    named = {"group": request.group, "weight": request.weight}
    return {
        **{key: getattr(request, key) for key in ("ranker", "severity", "seed")},
        **{key: column for key, column in named.items() if column is not None},
    }


def _check_together(request: AuditRequest) -> None:
    """Raise if options were given that exclude each other."""
    if request.batch is not None and (request.group or request.weight):
        option = "--group" if request.group else "--weight"
        raise InputError(
            f"--batch cannot be combined with {option}: there is no bound for the next batch of "
            "such rows. Leave --batch out to get a bound for the long run."
        )
    if request.time is not None and request.group is not None:
        raise InputError(
            "--time and --group cannot be combined: a group may have earlier and later rows, and "
            "would be compared with itself. Leave one of them out."
        )


def _features(
    data: pd.DataFrame, request: AuditRequest, name: str
) -> tuple[pd.DataFrame, pd.Series]:
    # One column may both tell the groups apart and stand in the review list.
    group = None if request.group == request.identity else request.group
    single = {
        "--target": request.target,
        "--id": request.identity,
        "--time": request.time,
        "--cost": request.cost,
        "--group": group,
        "--weight": request.weight,
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
            f"--id names the column {request.identity!r}, but the review list has a column of "
            "that name: rename yours."
        )
    for column in data.columns:
        # Arrays of texts end at it: the column would not be found again.
        if "\0" in str(column):
            raise InputError(f"{name} has a NUL character in the name {column!r}: rename it.")
    X = data.drop(columns=list(taken))
    if X.shape[1] == 0:
        raise InputError(
            "no feature column is left besides the target: give a table with features."
        )
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
                f"column {name!r} has a different value in {every} and looks like an identifier: "
                f"if it is one, use {option} {name}."
            )
