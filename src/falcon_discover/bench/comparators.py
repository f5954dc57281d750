"""Stronger predictors, frozen: what they leave to be found, and who finds it.

Everything here comes from the stored runs of `scripts/comparators.py`; nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from falcon_discover import metrics
from falcon_discover.bench import plan
from falcon_discover.bench.loading import FrozenRuns
from falcon_discover.bench.ranker_study import (
    GATE,
    Scored,
    gain_over_gate,
    ranking_figures,
    weighted_mean,
)
from falcon_discover.exceptions import InputError
from falcon_discover.settings import PAPER

# Log-odds are divided by these to make a model less sure.
SOFTENED = (1.0, 1.25, 1.5, 1.75, 2.0)
TINY = 1e-9
RANKERS = (GATE, "trustscore", *plan.FAMILY, "family", "auto")


def comparator_tables(folder: Path, names: Sequence[str] | None = None) -> dict[str, pd.DataFrame]:
    """Return the tables of frozen models by file name; cells without all seeds are left out.

    Parameters
    ----------
    folder : that of the whole benchmark
    names : data sets; all by default
    """
    frozen = FrozenRuns(folder)
    models, rankers, softened = [], [], []
    for dataset in names or plan.DATASETS:
        for model in plan.FROZEN_MODELS:
            runs = [Scored(run.key, run.part("test"), run) for run in frozen.runs(dataset, model)]
            if runs:
                place = {"dataset": dataset, "model": model, "seeds": len(runs)}
                models.append({**place, **_model(frozen, dataset, model, runs)})
                rankers += [{**place, **_ranker(runs, ranker)} for ranker in RANKERS]
                softened += [{**place, **_softened(runs, by)} for by in SOFTENED]
    if not models:
        raise InputError(
            f"no frozen model has all its seeds in {folder / plan.FROZEN}: run them with 'python "
            "scripts/comparators.py'."
        )
    return {
        "models": pd.DataFrame(models),
        "rankers": pd.DataFrame(rankers),
        "softened": pd.DataFrame(softened),
    }


def _model(
    frozen: FrozenRuns, dataset: str, model: str, runs: Sequence[Scored]
) -> dict[str, float]:
    """Return how good a model is, how often it is sure and wrong, and what a fit took."""
    assert frozen.store is not None
    reports = frozen.reports(dataset, model)
    schedule = frozen.store.settings["models"].get(model, {})
    return {
        "label_auroc": float(np.mean([report["label_auroc"] for report in reports])),
        "accuracy": float(np.mean([report["accuracy"] for report in reports])),
        "eligible": float(np.mean([run.eligible().sum() for run in runs])),
        "events": float(np.mean([run.events().sum() for run in runs])),
        "fit_seconds": float(np.mean([report["seconds"]["fit"] for report in reports])),
        "cut_off": sum(_cut_off(report["best_epoch"], schedule) for report in reports),
    }


def _cut_off(best_epoch: int | None, schedule: dict[str, Any]) -> bool:
    """Return whether training was ended by its number of epochs instead of by its patience.

    Examples
    --------
    >>> _cut_off(95, {"max_epochs": 100, "patience": 10}), _cut_off(None, {})
    (True, False)
    """
    if best_epoch is None:
        return False
    return bool(best_epoch + schedule["patience"] > schedule["max_epochs"])


def _softened(runs: Sequence[Scored], divisor: float) -> dict[str, float]:
    """Return what a model's own confidence finds after its log-odds were divided by a number.

    A model that is sure of few rows finds its confident errors among its surest rows, because it
    has no others that it is sure of: captures by confidence say how sure a model is.
    """
    found = []
    for run in runs:
        p = expit(logit(np.clip(run.p, TINY, 1 - TINY)) / divisor)
        events = metrics.false_confidence(run.test["label"].to_numpy(), p, PAPER.tau)
        sure = metrics.confidence(p)
        capture = metrics.capture_at(events, sure, PAPER.main_budget)
        found.append((capture, float((sure >= PAPER.tau).mean()), float(events.sum())))
    captures, shares, counts = zip(*found, strict=True)
    return {
        "divisor": divisor,
        "cap20_by_confidence": weighted_mean(captures),
        "eligible_share": float(np.mean(shares)),
        "events": float(np.mean(counts)),
    }


def _ranker(runs: Sequence[Scored], ranker: str) -> dict[str, Any]:
    """Return what a ranker finds in a frozen model, over the seeds."""
    found = pd.DataFrame([ranking_figures(run, ranker) for run in runs])
    events = [int(run.events().sum()) for run in runs]
    line: dict[str, Any] = {
        "ranker": ranker,
        "events": sum(events),
        "eligible_auroc": weighted_mean(found["eligible_auroc"], events),
        "cap20": weighted_mean(found["cap20"]),
    }
    if ranker != GATE:
        line |= gain_over_gate(runs, ranker, captures=ranker == "auto")
    return line
