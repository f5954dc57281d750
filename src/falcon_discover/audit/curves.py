"""The numbers of each figure about a finding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.audit.finding import Finding
from falcon_discover.evaluation.curves import (
    capture_curve,
    confidence_histogram,
    missed_curve,
    random_band,
    reliability,
    signal_strength,
    weighted_band,
)
from falcon_discover.evaluation.recalibration import (
    Recalibration,
    cross_recalibrated,
    enough_labels,
    recalibrated,
)
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.design import counted, rate_interval
from falcon_discover.rankers.training import LabelledState

FIGURES = ("rows", "eligible", "events", "rate", "low", "high", "lift", "expected")


class Curves:
    """The numbers of each figure about one finding, as frames."""

    def __init__(self, found: Finding) -> None:
        self.found = found

    def capture(self) -> pd.DataFrame:
        """Return the capture of each ranker by budget; random review has a band instead."""
        scores = {
            name: self.found.score(ranker, self.found.tau)
            for name, ranker in self.found.compared().items()
            if name != "random"
        }
        return capture_curve(self.found.events, scores, design=self.found.state.design)

    def random_band(self) -> pd.DataFrame:
        """Return what a random review finds."""
        events, weight = self.found.events, self.found.state.weight
        if weight is not None:
            return weighted_band(events, weight)
        return random_band(len(events), int(events.sum()))

    def missed(self) -> pd.DataFrame:
        """Return the rate of confident errors among unreviewed rows by budget, with a band."""
        return missed_curve(
            self.found.events,
            self.found.priority(),
            simultaneous=True,
            content=self.found.content,
            design=self.found.state.design,
            eligible=self.found.state.eligible(self.found.tau),
        )

    def reliability(self) -> pd.DataFrame:
        """Return the share of right predictions by confidence."""
        state = self.found.state
        return reliability(self.found.labels, state.p, state.threshold, design=state.design)

    def confidence(self) -> pd.DataFrame:
        """Return the rows by confidence."""
        state = self.found.state
        return confidence_histogram(
            state.p, self.found.tau, self.found.codes, state.threshold, design=state.design
        )

    def signals(self) -> pd.DataFrame:
        """Return how well each signal alone tells confident errors apart."""
        return signal_strength(self.found.state, self.found.events, self.found.tau)

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
        events, state = self.found.events, self.found.state
        sure = state.eligible(self.found.tau)
        rows, eligible, count = counted(state.design, np.ones(len(sure), bool), sure, events)
        low, high = rate_interval(state.design, events, sure)
        return {
            "region_id": 0,
            "rule": "all confident predictions",
            "name": "all confident predictions",
            "kind": "all",
            "claim": "",
            "confirmed": False,
            "outcome": None,
            "rows": rows,
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
        codes, found = self.found.labels, self.found
        if not found.audit.has_rows:
            raise InputError(
                "calibrators learn from the rows of the fit, which were left out when this audit "
                "was saved: save it with reference='sample' or 'full'."
            )
        if not (enough_labels(codes) and enough_labels(found.audit.training.source("all").codes)):
            raise InputError(
                "one class has too few labelled rows to recalibrate: give more rows of it."
            )
        rows = LabelledState(found.state, codes)
        if found.is_fit_rows:
            return cross_recalibrated(rows, found.tau)
        return recalibrated(found.audit.training.source("all"), rows, found.tau)
