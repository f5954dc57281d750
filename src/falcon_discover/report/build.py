"""From a finding to everything a report shows: one summary, and the rows of the review list."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from falcon_discover.audit.curves import Curves
from falcon_discover.audit.finding import Finding
from falcon_discover.evaluation.budget import MissedBound, ReviewBudget
from falcon_discover.evaluation.results import Evaluation
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import by_name
from falcon_discover.report.figures import (
    data_figures,
    eligible_figures,
    judgement,
    library_of,
    review_figures,
)
from falcon_discover.report.label_doubt import label_doubt
from falcon_discover.report.rows import listed, page_rows, positions
from falcon_discover.report.text import say
from falcon_discover.runtime import notices, progress
from falcon_discover.runtime.records import plain, records
from falcon_discover.runtime.versions import version_of
from falcon_discover.runtime.words import level
from falcon_discover.settings import PAPER

SCHEMA_VERSION = 5
VERSIONS = ("falcon-discover", "scikit-learn", "numpy", "pandas")
# What each family of signals earns costs a refit per family: up to this many rows it is done.
FEW_ROWS = 6_000


@dataclass(frozen=True, eq=False)
class About:
    """What a report says about where its finding comes from.

    Parameters
    ----------
    name : of the data
    target : the label column
    rows : of the whole table, where only part of it is audited
    how : the mode of the audit, the model, which rows
    settings : those of the audit
    budget : how much is in the review list: a share of the rows, or a number of them
    max_residual_rate : target of the guarantee, or None for what the budget may miss
    batch : how many rows to come both speak of; None for the long run
    contributions : whether to measure what each signal family earns; None if it takes little
    identity : what identifies a row beside its number
    times : when each row is from
    """

    name: str = "rows"
    target: str | None = None
    rows: int | None = None
    how: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    budget: float = PAPER.main_budget
    max_residual_rate: float | None = None
    batch: int | None = None
    contributions: bool | None = None
    identity: pd.Series | None = None
    times: Any = None


@dataclass(frozen=True, eq=False)
class Report:
    """Everything there is to write.

    `summary` has all figures as plain dicts (`docs/report-schema.md`), `rows` the first rows of the
    `review` list as the page shows them.
    """

    summary: dict[str, Any]
    rows: dict[str, Any]
    review: pd.DataFrame
    evaluation: Evaluation | None
    missed: MissedBound | None
    guarantee: ReviewBudget | None

    @classmethod
    def of(cls, found: Finding, about: About, *, started: float | None = None) -> Report:
        """Measure everything a report shows; the work began at `started` (`time.perf_counter`)."""
        started = time.perf_counter() if started is None else started
        progress.expect(3)
        progress.step("report: figures")
        with notices.collected() as notes:
            whole = found.review(about.budget)
            evaluation = missed = guarantee = None
            if found.codes is not None:
                evaluation = found.evaluate()
                missed = found.missed_bound(about.budget, batch=about.batch)
                if about.max_residual_rate is not None:
                    guarantee = found.review_budget(about.max_residual_rate, batch=about.batch)
            parts, left_out = _parts(found, about)
            parts["label_doubt"], doubts = label_doubt(found, left_out)
            if about.times is not None and found.codes is not None:
                parts["periods"] = found.by_period(about.times).to_dict()
        progress.step("report: rows")
        # A row below the threshold cannot be a confident error, however much budget is left.
        places = positions(found, whole)
        inside = found.state.eligible(found.tau)[places]
        chosen, places = whole[inside], places[inside]
        rows = page_rows(found, chosen, about.identity, doubts)
        review = listed(found, chosen, about.identity, doubts)
        eligible = eligible_figures(found)
        summary = {
            "schema_version": SCHEMA_VERSION,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "alerts": list(found.alerts),
            "verdict": _verdict(found) if evaluation is None else evaluation.verdict(),
            "judgement": judgement(eligible, found.alerts),
            "data": data_figures(found, about),
            "how": {**library_of(found), **about.how},
            "design": _design(found),
            "settings": {
                "tau": by_name(found.tau, found.classes),
                "threshold": None if len(found.classes) > 2 else found.state.threshold,
                "budget": about.budget,
                **about.settings,
            },
            "eligible": eligible,
            "review": review_figures(found, about.budget, review, places, len(rows["rows"])),
            "evaluation": None if evaluation is None else evaluation.to_dict(),
            "missed": None if missed is None else missed.to_dict(),
            "guarantee": None if guarantee is None else guarantee.to_dict(),
            "regions": _regions(found),
            "clusters": records(found.regions.clusters.frame()),
            **parts,
            "left_out": left_out,
            "notes": list(filter(None, dict.fromkeys([*found.alerts, found.one_sided, *notes]))),
            "versions": {package: version_of(package) for package in VERSIONS},
            "seconds": round(time.perf_counter() - started, 2),
        }
        return cls(summary, rows, review, evaluation, missed, guarantee)

    @property
    def key(self) -> str:
        """A short name of exactly this report, under which a browser keeps marks."""
        words = json.dumps(self.summary, sort_keys=True, default=str)
        return hashlib.sha256(words.encode()).hexdigest()[:16]


def _parts(found: Finding, about: About) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the figures of each chart, and why some are absent."""
    curves = Curves(found)
    left_out: dict[str, str] = {}
    names = ("capture", "random_band", "missed", "reliability", "signals")
    made: dict[str, Any] = {
        "confidence": records(curves.confidence()),
        "regions": records(curves.regions()),
    }
    for name in names:
        made[name] = records(getattr(curves, name)()) if found.codes is not None else None
    measures: dict[str, tuple[str | None, Callable[[], Any]]] = {
        "conflict": (_no_map(found), lambda: _conflict(found)),
        "contributions": (
            None if _affordable(found, about) else _absent("contributions"),
            lambda: plain(found.contributions().to_dict()),
        ),
        "calibration": (None, lambda: _calibration(found, curves)),
    }
    parts: dict[str, Any] = {"curves": made}
    progress.step("report: map, signals and calibration")
    for name, (obstacle, measure) in measures.items():
        parts[name] = None
        reason = _absent("labels") if found.codes is None else obstacle
        if reason is None:
            try:
                parts[name] = measure()
            except InputError as error:
                reason = f"{str(error)[0].upper()}{str(error)[1:]}"
        if reason is not None:
            left_out[name] = reason
    if not found.audit.has_rows:
        left_out["regions"] = _absent("regions")
    return parts, left_out


def _absent(why: str) -> str:
    """Return why a part of the report is absent."""
    return str(say(f"left_out.{why}"))


def _affordable(found: Finding, about: About) -> bool:
    if about.contributions is not None:
        return about.contributions
    return len(found.audit.training.source("all").codes) <= FEW_ROWS


def _no_map(found: Finding) -> str | None:
    """Return why there is no map of conflict, if so."""
    if not found.state.has_stability:
        return _absent("model" if found.audit.has_rows else "rows")
    if found.codes is not None and not found.events.any():
        return _absent("errors")
    return None


def _calibration(found: Finding, curves: Curves) -> dict[str, Any]:
    return curves.recalibration().to_dict() | {"tau": by_name(found.tau, found.classes)}


def _conflict(found: Finding) -> dict[str, Any]:
    return found.conflict().to_dict()


def _design(found: Finding) -> dict[str, Any] | None:
    """Return what weights and groups of the rows mean for the figures; None without them."""
    design = found.state.design
    if design is None:
        return None
    return {
        "weight": design.total() if design.weighted else None,
        "groups": design.units if design.grouped else None,
        "words": design.words(),
    }


def _regions(found: Finding) -> list[dict[str, Any]]:
    """Return the regions in words: figures, and conditions as columns, operators and values."""
    return [
        {**line, "conditions": [condition.to_dict() for condition in rule.conditions]}
        for line, rule in zip(records(found.regions.frame()), found.regions.numbered, strict=True)
    ]


def _verdict(found: Finding) -> str:
    n = len(found.state)
    sure = int(found.state.eligible(found.tau).sum())
    return str(
        say("verdict.unlabelled", rows=f"{sure:,}", audited=f"{n:,}", level=level(found.tau))
    )
