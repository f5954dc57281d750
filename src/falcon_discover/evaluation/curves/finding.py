"""What plots and reports may ask of a finding, and the numbers of each figure."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.data.table import Table
from falcon_discover.data.twins import Content
from falcon_discover.evaluation.budget import MissedBound, ReviewBudget
from falcon_discover.evaluation.contributions import Contributions
from falcon_discover.evaluation.curves.capture import capture_curve, missed_curve, random_band
from falcon_discover.evaluation.curves.confidence import confidence_histogram, reliability
from falcon_discover.evaluation.curves.recalibration import (
    Recalibration,
    cross_recalibrated,
    enough_labels,
    recalibrated,
)
from falcon_discover.evaluation.curves.signals import signal_strength
from falcon_discover.evaluation.results import Evaluation
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import false_confidence
from falcon_discover.metrics.intervals import share_interval
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.regions.conflict import Conflict
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.signals.state import State

FIGURES = ("rows", "eligible", "events", "rate", "low", "high", "lift", "expected")


class Finding(Protocol):
    """What is known about a set of rows; `Discovery` is one."""

    @property
    def table(self) -> Table: ...  # noqa: D102
    @property
    def state(self) -> State: ...  # noqa: D102
    @property
    def codes(self) -> npt.NDArray[np.int8] | None: ...  # noqa: D102
    @property
    def index(self) -> pd.Index: ...  # noqa: D102
    @property
    def classes(self) -> npt.NDArray[Any]: ...  # noqa: D102
    @property
    def tau(self) -> float: ...  # noqa: D102
    @property
    def ranker(self) -> Any: ...  # noqa: D102
    @property
    def regions(self) -> RegionSet: ...  # noqa: D102
    @property
    def training(self) -> TrainingRows: ...  # noqa: D102
    @property
    def own_rows(self) -> bool: ...  # noqa: D102
    @property
    def alerts(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def one_sided(self) -> str: ...  # noqa: D102
    @property
    def scored(self) -> int: ...  # noqa: D102
    @property
    def content(self) -> Content: ...  # noqa: D102

    def suspicion(self) -> FloatArray:
        """Return the suspicion of each row."""

    def risk(self) -> FloatArray | None:
        """Return the probability of a confident error, where the ranker estimates it."""

    def compared(self) -> dict[str, Any]:
        """Return the rankers that are compared, by name, the finding's own first."""

    def score(self, ranker: Any, tau: float) -> FloatArray:
        """Return the suspicion of each row by any ranker."""

    def review(self, budget: float) -> pd.DataFrame:
        """Return the review list."""

    def evaluate(self) -> Evaluation:
        """Return how well rankers find the confident errors."""

    def review_budget(self, max_residual_rate: float, *, batch: int | None = None) -> ReviewBudget:
        """Return how much review is enough."""

    def missed_bound(self, budget: float, *, batch: int | None = None) -> MissedBound:
        """Return what a budget may miss."""

    def conflict(self) -> Conflict:
        """Return conflict amplification."""

    def contributions(self) -> Contributions:
        """Return what each signal family earns."""


class Curves:
    """The numbers of each figure about one finding, as frames."""

    def __init__(self, found: Finding) -> None:
        self.found = found

    @property
    def codes(self) -> npt.NDArray[np.int8]:
        """The labels, or an error that asks for them."""
        if self.found.codes is None:
            raise InputError("this figure needs labelled rows: give y with X.")
        return self.found.codes

    @property
    def events(self) -> BoolArray:
        """Which rows are confident errors."""
        return false_confidence(self.codes, self.found.state.p, self.found.tau)

    def capture(self) -> pd.DataFrame:
        """Return the capture of each ranker by budget; random review has a band instead."""
        events = self.events
        scores = {
            name: self.found.score(ranker, self.found.tau)
            for name, ranker in self.found.compared().items()
            if name != "random"
        }
        return capture_curve(events, scores)

    def random_band(self) -> pd.DataFrame:
        """Return what a random review finds."""
        events = self.events
        return random_band(len(events), int(events.sum()))

    def missed(self) -> pd.DataFrame:
        """Return the rate of confident errors left unread by budget, with a band for all."""
        return missed_curve(
            self.events, self.found.suspicion(), simultaneous=True, content=self.found.content
        )

    def reliability(self) -> pd.DataFrame:
        """Return the share of right predictions by confidence."""
        return reliability(self.codes, self.found.state.p)

    def confidence(self) -> pd.DataFrame:
        """Return the rows by confidence."""
        return confidence_histogram(self.found.state.p, self.found.tau, self.found.codes)

    def signals(self) -> pd.DataFrame:
        """Return how well each signal alone tells confident errors apart."""
        return signal_strength(self.found.state, self.events, self.found.tau)

    def regions(self) -> pd.DataFrame:
        """Return the regions in words with their figures, all confident predictions first.

        On rows other than those of the fit the figures are of these rows; otherwise they are of
        the rows that the regions were not found on.
        """
        found, outcomes = self.found.regions.frame(), self.found.regions.outcomes
        part = "confirmation" if self.found.regions.here is None else "here"
        lines = [] if self.found.codes is None else [self._everywhere()]
        lines += [
            {
                **{name: line[name] for name in ("region_id", "rule", "name", "kind", "claim")},
                "confirmed": bool(line["confirmed"]),
                "outcome": outcome,
                **{name: line[f"{part}_{name}"] for name in FIGURES},
            }
            for line, outcome in zip(found.to_dict("records"), outcomes, strict=True)
        ]
        about = ["region_id", "rule", "name", "kind", "claim", "confirmed", "outcome"]
        return pd.DataFrame(lines, columns=[*about, *FIGURES])

    def _everywhere(self) -> dict[str, Any]:
        events, eligible = self.events, int(self.found.state.eligible(self.found.tau).sum())
        count = int(events.sum())
        low, high = share_interval(count, eligible)
        return {
            "region_id": 0,
            "rule": "all confident predictions",
            "name": "all confident predictions",
            "kind": "all",
            "claim": "",
            "confirmed": False,
            "outcome": None,
            "rows": len(events),
            "eligible": eligible,
            "events": count,
            "rate": count / eligible if eligible else np.nan,
            "low": low,
            "high": high,
            "lift": 1.0 if count else np.nan,
            "expected": float(count),
        }

    def recalibration(self) -> Recalibration:
        """Return calibration before and after, on rows that no calibrator has seen."""
        codes, found = self.codes, self.found
        if not len(found.training.oof.codes):
            raise InputError(
                "the rows of the fit, which calibrators learn from, were left out when this audit "
                "was saved."
            )
        if not (enough_labels(codes) and enough_labels(found.training.source("all").codes)):
            raise InputError("there are too few labelled rows of one class to recalibrate.")
        rows = LabelledState(found.state, codes)
        if found.own_rows:
            return cross_recalibrated(rows, found.tau)
        return recalibrated(found.training.source("all"), rows, found.tau)
