"""What each signal family contributes: the loss in eligible AUROC when it is left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover import metrics
from falcon_discover.metrics.clustered import difference_interval
from falcon_discover.metrics.decisions import Tau
from falcon_discover.rankers.gated import GatedRisk
from falcon_discover.rankers.inputs import features, signal_columns
from falcon_discover.rankers.training import LabelledState
from falcon_discover.runtime import notices, progress
from falcon_discover.runtime.display import Result
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import FAMILIES
from falcon_discover.signals.state import State

COVERED = (
    "Intervals reflect the choice of rows, not of the training set; those of the families hold "
    "jointly."
)


@dataclass(frozen=True, eq=False, repr=False)
class Contributions(Result):
    """Per signal family: eligible AUROC without it, the loss, and the interval of the loss.

    Intervals reflect the choice of the judged rows, with the rankers as fitted. They do not reflect
    the choice of the training set: a small loss or gain may come from that even if its interval
    excludes 0.

    Attributes
    ----------
    families : one row per family, largest loss first; `low` and `high` hold jointly for all
        families with 95% confidence (Bonferroni)
    gain : the whole ranker's eligible AUROC minus that of gated confidence, with its interval
    auroc : the whole ranker's eligible AUROC
    events, eligible : what it was estimated on
    """

    families: pd.DataFrame
    gain: tuple[float, float, float]
    auroc: float
    events: int
    eligible: int

    def frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.families.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        return {
            "families": self.families.to_dict("records"),
            "gain": list(self.gain),
            "auroc": self.auroc,
            "events": self.events,
            "eligible": self.eligible,
            "words": self.words(),
        }

    def words(self) -> str:
        """Return the finding in words."""
        if np.isnan(self.auroc):
            return (
                "Too few confident errors to measure what each signal contributes: "
                f"{self.events} among {self.eligible:,} confident predictions."
            )
        gain, low, high = self.gain
        if low <= 0:
            head = (
                "The signals show no gain over the model's own confidence: the ranker's "
                f"eligible AUROC differs from that of gated confidence by {gain:+.3f}, 95% "
                f"interval [{low:+.3f}, {high:+.3f}]."
            )
        else:
            head = (
                f"The signals raise the eligible AUROC to {self.auroc:.3f}, {gain:+.3f} "
                f"[{low:+.3f}, {high:+.3f}] compared with gated confidence."
            )
        shown = self.families[self.families["low"] > 0]
        if low > 0 and len(shown):
            earned = "; ".join(
                f"without {row.family} it falls by {row.loss:.3f} [{row.low:.3f}, {row.high:.3f}]"
                for row in shown.itertuples()
            )
            head += f" {earned[0].upper()}{earned[1:]}."
            rest = self.families[self.families["low"] <= 0]["family"]
            if len(rest):
                head += f" Dropping any one of the others changes little: {', '.join(rest)}."
        elif low > 0:
            head += " Dropping any single family changes little; the others compensate."
        return f"{head} {COVERED}"

    NEXT = "finding.plot.contributions() draws the losses."

    def text(self) -> str:
        """Return the finding in words, and the table."""
        table = self.families.to_string(index=False, float_format=lambda v: f"{v:.3f}")
        return f"{self.words()}\n\n{table}"


def contributions(rows: LabelledState, ranker: GatedRisk, tau: Tau) -> Contributions:
    """Return what each family contributes, cross-fitted on the rows the ranker learned from."""
    state, wrong = rows.state, rows.errors()
    eligible = state.eligible(tau)
    events = (wrong & eligible)[eligible]
    count = int(events.sum())
    design = None if state.design is None else state.design.take(eligible)
    weight = None if design is None else design.weight
    if count < 2 or count == len(events):
        nothing = pd.DataFrame(columns=["family", "what", "auroc_without", "loss", "low", "high"])
        return Contributions(nothing, (np.nan,) * 3, np.nan, count, len(events))
    there = _present(state)
    progress.expect(len(there))
    whole = ranker.held_out_risk_[eligible]
    gate = metrics.gated_confidence(state.confidence, state.level(tau))[eligible]
    table = []
    # All families are looked at, so each interval gets its share of what may fail.
    level = 1 - (1 - PAPER.interval_level) / len(there)
    for family in there:
        progress.step(f"without {family}")
        leave_out = (*ranker.leave_out, family)
        with notices.collected():
            less = GatedRisk(leave_out=leave_out, random_state=ranker.random_state)
            without = less.fit(state, wrong, tau).held_out_risk_[eligible]
        loss, low, high = difference_interval(events, whole, without, design, level)
        table.append(
            {
                "family": family,
                "what": FAMILIES[family],
                "auroc_without": metrics.fc_auroc(events, without, sample_weight=weight),
                "loss": loss,
                "low": low,
                "high": high,
            }
        )
    frame = pd.DataFrame(table).sort_values("loss", ascending=False, ignore_index=True)
    return Contributions(
        frame,
        difference_interval(events, whole, gate, design),
        metrics.fc_auroc(events, whole, sample_weight=weight),
        count,
        len(events),
    )


def _present(state: State) -> list[str]:
    """Return the families of which this state has a signal."""
    return [
        family
        for family in FAMILIES
        if signal_columns(state, set(FAMILIES) - {family})
        or (family == "features" and features(state).shape[1])
    ]
