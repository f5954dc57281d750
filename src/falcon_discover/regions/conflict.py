"""Conflict amplification: error density where evidence is weak and scores are unstable.

The best slice of a grid is a choice: some slice looks bad in any table. So each is compared with
rows of the same confidence, and held against what the worst slice may show by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from falcon_discover.metrics import capture_at, fc_auroc
from falcon_discover.metrics.design import Design, counted, kish
from falcon_discover.metrics.intervals import wilson
from falcon_discover.metrics.ordering import whole
from falcon_discover.regions.chosen import beyond_confidence, expected_events
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import plain, records
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.runtime.words import amount
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import CONFLICT

EVIDENCE = tuple(name for name, (_, axis) in CONFLICT.items() if axis.kind == "evidence")
INSTABILITY = tuple(name for name, (_, axis) in CONFLICT.items() if axis.kind == "instability")
# Cuts of the grid: weakest evidence and strongest instability, as quantiles of eligible rows.
EVIDENCE_QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.75)
INSTABILITY_QUANTILES = (0.5, 0.6, 0.7, 0.8, 0.9)
FOLDS = 5


@dataclass(frozen=True)
class Slice:
    """A slice of the grid: Gamma (eq:conflict_gap), its mass (eq:slice_mass), and what holds.

    Attributes
    ----------
    gamma, low, high : the paper's Gamma and its 95% interval, as if this slice were the only one
    mass : the slice's share of all rows
    expected : events that its rows would have by the rates of rows of the same confidence
    excess : Gamma against rows of the same confidence
    excess_low : what the excess is at least, for all slices together with 95% confidence
    p_value : the chance that any slice of the grid exceeds its confidence as much as this one, if
        nothing but confidence mattered; NaN, as `excess_low`, for slices of a mass not allowed
    """

    evidence: str
    evidence_at_most: float
    instability: str
    instability_at_least: float
    gamma: float
    low: float
    high: float
    mass: float
    rows: float
    events: float
    expected: float
    excess: float
    excess_low: float
    p_value: float


@dataclass(frozen=True, repr=False)
class Conflict(Result):
    """Conflict amplification on a set of rows, and the regime it speaks for.

    Attributes
    ----------
    slices : all slices of the grid
    best : the slice of allowed mass with the lowest p-value; of several the one whose excess is
        highest at its lower bound; None where no slice is of such a mass
    regime : "strong", "mixed" or "boundary"
    events : confident errors there were to learn from
    gain : Capture@20 of the best discrepancy ranker minus that of the best prior, both chosen on
        other rows than they are judged on
    """

    slices: tuple[Slice, ...]
    best: Slice | None
    regime: str
    events: int
    gain: float

    @classmethod
    def judge(cls, slices: Sequence[Slice], events: int, gain: float) -> Conflict:
        """Return the regime by the rules of `regime_from`, with what decided it."""
        best = best_slice(slices)
        return cls(tuple(slices), best, regime_from(best, events, gain), events, gain)

    def frame(self) -> pd.DataFrame:
        """Return one row per slice."""
        return pd.DataFrame([asdict(s) for s in self.slices])

    NEXT = "finding.plot.conflict() draws the map."

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        return {
            "regime": self.regime,
            "words": self.text(),
            "best": None if self.best is None else plain(asdict(self.best)),
            "slices": records(self.frame()),
        }

    def text(self) -> str:
        """Return the regime, and the slice with the clearest excess."""
        gained = (
            "too few to compare rankers"
            if math.isnan(self.gain)
            else f"at a 20% budget the best discrepancy ranker finds {self.gain:+.2f} of them "
            "compared with the best prior, both chosen on other rows"
        )
        verdict = (
            f"Regime: {self.regime}. Confident errors to learn from: {self.events:,}; {gained}."
        )
        best = self.best
        if best is None:
            return f"{verdict}\nNo slice of the grid is within the allowed size range."
        tested = sum(math.isfinite(s.p_value) for s in self.slices)
        shown = (
            f"at least {100 * best.excess_low:+.1f} with 95% confidence, even as the best of "
            f"{tested} slices (p = {best.p_value:.3f})"
            if best.excess_low > 0
            else f"no more than chance explains for the best of {tested} slices "
            f"(p = {best.p_value:.3f})"
        )
        return (
            f"{verdict}\nBest slice: {best.evidence} <= {best.evidence_at_most:.3g} and "
            f"{best.instability} >= {best.instability_at_least:.3g}: {amount(best.events)} of "
            f"{amount(best.rows)} confident predictions wrong, {best.expected:.1f} expected from "
            f"their confidence: an excess of {100 * best.excess:+.1f} percentage points, {shown}. "
            f"In the paper's terms: Gamma {best.gamma:.3f}, mass {best.mass:.3f}."
        )


def regime_from(best: Slice | None, events: int, gain: float) -> str:
    """Return the regime: boundary with few events, strong with conflict and gain, else mixed.

    Examples
    --------
    >>> regime_from(None, events=12, gain=0.3), regime_from(None, events=80, gain=0.3)
    ('boundary', 'mixed')
    """
    if events < PAPER.boundary_events:
        return "boundary"
    conflicting = best is not None and best.excess_low > 0
    return "strong" if conflicting and gain >= PAPER.strong_gain else "mixed"


def conflict_grid(
    signals: Mapping[str, FloatArray],
    events: BoolArray,
    confidence: FloatArray,
    tau: float | FloatArray = PAPER.tau,
    distinct: IntArray | None = None,
    design: Design | None = None,
) -> list[Slice]:
    """Return every slice of the grid both of whose conditions leave rows out.

    Where rows have copies, `distinct` are the positions of one row of each set of twins: the more
    cautious of the tests with all rows and with these counts. `design` has weights and groups.
    """
    eligible = np.flatnonzero(np.asarray(confidence) >= tau)
    hits, sure = events[eligible], np.asarray(confidence)[eligible]
    drawn = None if design is None else design.take(eligible)
    weight = None if drawn is None else drawn.weight
    grid = list(_cuts({name: np.asarray(values)[eligible] for name, values in signals.items()}))
    if weight is not None:
        # Rows of weight 0 are no rows.
        there = weight > 0
        grid = [one for one in grid if one[-1][there].any() and not one[-1][there].all()]
    if not grid:
        return []
    inside = np.array([rows for *_, rows in grid])
    if weight is None:
        counts, found = inside.sum(axis=1), (inside & hits).sum(axis=1)
    else:
        counts, found = inside @ weight, (inside & hits) @ weight
    expected = expected_events(inside, hits, sure, weight)
    least, most = PAPER.strong_mass
    mass = counts / (len(events) if design is None else design.weight.sum())
    low, p_value = np.full((2, len(grid)), np.nan)
    tested = np.flatnonzero((least <= mass) & (mass <= most))
    if len(tested):
        low[tested], p_value[tested] = beyond_confidence(inside[tested], hits, sure, drawn)
    if len(tested) and distinct is not None:
        alone = np.isin(eligible, distinct)
        again = beyond_confidence(
            inside[tested][:, alone], hits[alone], sure[alone], drawn and drawn.take(alone)
        )
        low[tested] = np.minimum(low[tested], again[0])
        p_value[tested] = np.maximum(p_value[tested], again[1])
    return [
        Slice(
            evidence, e, instability, s,
            *_gap(inside[i], hits, drawn),
            float(mass[i]), whole(float(counts[i])), whole(float(found[i])), float(expected[i]),
            float((found[i] - expected[i]) / counts[i]), float(low[i]), float(p_value[i]),
        )
        for i, (evidence, e, instability, s, _) in enumerate(grid)
    ]  # fmt: skip


def _gap(inside: BoolArray, events: BoolArray, design: Design | None) -> tuple[float, float, float]:
    """Return Gamma of a slice and its interval; of groups, for as many independent rows."""
    rows, hits, total, base = counted(
        design, inside, inside & events, events, np.ones(len(events), dtype=bool)
    )
    if design is None or not 0 < hits < rows or rows == base:
        each = 1.0 if design is None else kish(design.weight)
    else:
        each = design.design_effect(inside * (events - hits / rows)) * kish(design.weight)
    return gap_interval(hits / each, rows / each, total / each, base / each)


def _cuts(signals: Mapping[str, FloatArray]) -> Iterator[tuple[str, float, str, float, BoolArray]]:
    """Yield the conditions of each slice and the rows inside; none that all rows meet."""
    known = {
        name: 1.0 - signals[signal.name] if axis.complement else signals[signal.name]
        for name, (signal, axis) in CONFLICT.items()
    }
    if not len(known["support"]):
        return
    for evidence in EVIDENCE:
        for e in np.unique(np.quantile(known[evidence], EVIDENCE_QUANTILES)):
            weak = known[evidence] <= e
            for instability in INSTABILITY:
                for s in np.unique(np.quantile(known[instability], INSTABILITY_QUANTILES)):
                    shaky = known[instability] >= s
                    inside = weak & shaky
                    if inside.any() and not weak.all() and not shaky.all():
                        yield evidence, float(e), instability, float(s), inside


def best_slice(slices: Sequence[Slice]) -> Slice | None:
    """Return the slice of allowed mass that chance explains least, and of these the worst."""
    tested = [s for s in slices if math.isfinite(s.p_value)]
    return max(tested, key=lambda s: (-s.p_value, s.excess_low), default=None)


def chosen_gain(
    events: BoolArray,
    family: Sequence[FloatArray],
    priors: Sequence[FloatArray],
    fold: IntArray,
    budget: float = PAPER.main_budget,
    weight: FloatArray | None = None,
) -> float:
    """Return the Capture@budget of the best of a family minus that of the best prior.

    Rows are ranked within their fold. Each winner is chosen by what it finds in the other folds,
    ties by AUROC, and judged by what it finds in this one, so that the luck of the choice is not
    in it. NaN without events.
    """
    parts = [np.flatnonzero(fold == number) for number in np.unique(fold[events])]
    if not parts:
        return math.nan
    hits = events if weight is None else weight * events
    counts = np.array([hits[rows].sum() for rows in parts])
    mine, theirs = (
        sum(
            _judged_apart(
                np.array([_merits(events, s, parts, budget, weight) for s in scores]) * counts
            )
        )
        for scores in (family, priors)
    )
    return float((mine - theirs) / counts.sum())


def _merits(
    events: BoolArray,
    score: FloatArray,
    parts: Sequence[IntArray],
    budget: float,
    weight: FloatArray | None,
) -> list[list[float]]:
    """Return the capture and the AUROC of a ranker in each part; AUROC 0 where all are events."""
    found, areas = [], []
    for rows in parts:
        own = None if weight is None else weight[rows]
        found.append(capture_at(events[rows], score[rows], budget, sample_weight=own))
        areas.append(fc_auroc(events[rows], score[rows], sample_weight=own))
    return [found, list(np.nan_to_num(areas))]


def _judged_apart(merits: FloatArray) -> Iterator[float]:
    """Yield what the ranker that was best in the other parts finds in each part.

    `merits` are rankers x (found, AUROC) x parts.
    """
    for part in range(merits.shape[2]):
        elsewhere = np.delete(merits, part, axis=2).sum(axis=2)
        best = max(range(len(merits)), key=lambda ranker: tuple(elsewhere[ranker]))
        yield float(merits[best, 0, part])


def folds_by_confidence(confidence: FloatArray, group: IntArray | None = None) -> IntArray:
    """Return a fold for each row: every fifth by confidence; of groups, by their least confident.

    Examples
    --------
    >>> folds_by_confidence(np.array([0.6, 0.9, 0.7, 0.8, 0.5, 1.0])).tolist()
    [1, 4, 2, 3, 0, 0]
    """
    if group is not None:
        _, place = np.unique(group, return_inverse=True)
        least = np.full(place.max(initial=-1) + 1, np.inf)
        np.minimum.at(least, place, confidence)
        return folds_by_confidence(least)[place]
    fold = np.empty(len(confidence), dtype=np.intp)
    fold[np.argsort(confidence, kind="stable")] = np.arange(len(confidence)) % FOLDS
    return fold


def gap_interval(
    found: float, rows: float, total: float, base: float
) -> tuple[float, float, float]:
    """Return Gamma and its 95% interval for a slice of `rows` within `base` rows.

    Gamma is the slice's rate minus that of the whole, which is the share outside the slice times
    the difference of slice and rest; the interval is Newcombe's for that difference.

    Examples
    --------
    >>> tuple(round(v, 3) for v in gap_interval(10, 50, 20, 1000))
    (0.18, 0.096, 0.304)
    """
    rest, found_rest = base - rows, total - found
    inside, outside = found / rows, found_rest / rest
    z = float(norm.ppf((1 + PAPER.interval_level) / 2))
    (l1, u1), (l2, u2) = wilson(inside, rows, z), wilson(outside, rest, z)
    low = inside - outside - math.hypot(inside - l1, u2 - outside)
    high = inside - outside + math.hypot(u1 - inside, outside - l2)
    share = rest / base
    return share * (inside - outside), share * low, share * high
