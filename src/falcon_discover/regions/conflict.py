"""Conflict amplification: error density where evidence is weak and scores are unstable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm

from falcon_discover.settings import PAPER

EVIDENCE = ("support", "label_agreement")
INSTABILITY = ("mean_drift", "label_inconsistency")
# Cuts of the grid: weakest evidence and strongest instability, as quantiles of eligible rows.
EVIDENCE_QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.75)
INSTABILITY_QUANTILES = (0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Slice:
    """A slice of the grid: Gamma (eq:conflict_gap), its interval, and its mass (eq:slice_mass)."""

    evidence: str
    evidence_at_most: float
    instability: str
    instability_at_least: float
    gamma: float
    low: float
    high: float
    mass: float
    rows: int
    events: int


@dataclass(frozen=True)
class Conflict:
    """Conflict amplification on a set of rows, and the regime it speaks for.

    Attributes
    ----------
    slices : all slices of the grid
    best : the slice of allowed mass whose Gamma is highest at its lower bound, or None
    regime : "strong", "mixed" or "boundary"
    events : confident errors there were to learn from
    gain : Capture@20 of the best discrepancy ranker minus that of the best prior
    """

    slices: tuple[Slice, ...]
    best: Slice | None
    regime: str
    events: int
    gain: float

    @classmethod
    def judge(cls, slices: Iterable[Slice], events: int, gain: float) -> Conflict:
        """Return the regime by the rules of `regime_from`, with what decided it."""
        found = tuple(slices)
        best = best_slice(found)
        return cls(found, best, regime_from(best, events, gain), events, gain)

    def frame(self) -> pd.DataFrame:
        """Return one row per slice."""
        return pd.DataFrame([asdict(s) for s in self.slices])

    def __repr__(self) -> str:
        verdict = (
            f"Regime: {self.regime} ({self.events:,} confident errors to learn from; the best "
            f"discrepancy ranker finds {self.gain:+.2f} of them against the best prior at 20 %)."
        )
        best = self.best
        if best is None:
            return f"{verdict}\nNo slice of the grid is of a size that counts."
        return (
            f"{verdict}\nBest slice: {best.evidence} <= {best.evidence_at_most:.3g} and "
            f"{best.instability} >= {best.instability_at_least:.3g}: {best.events:,} of "
            f"{best.rows:,} confident predictions wrong, Gamma {best.gamma:.3f} "
            f"[{best.low:.3f}, {best.high:.3f}], mass {best.mass:.3f}."
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
    conflicting = best is not None and best.low > 0
    return "strong" if conflicting and gain >= PAPER.strong_gain else "mixed"


def conflict_grid(
    signals: Mapping[str, npt.NDArray[np.float64]],
    events: npt.NDArray[np.bool_],
    confidence: npt.NDArray[np.float64],
    tau: float = PAPER.tau,
) -> Iterator[Slice]:
    """Yield every slice of the grid that holds at least one row and leaves one out."""
    eligible = np.asarray(confidence) >= tau
    base = int(eligible.sum())
    known = {
        **{name: np.asarray(signals[name]) for name in (*EVIDENCE, "mean_drift")},
        "label_inconsistency": 1.0 - np.asarray(signals["label_consistency"]),
    }
    if not base:
        return
    total = int(events[eligible].sum())
    for evidence in EVIDENCE:
        for e in np.unique(np.quantile(known[evidence][eligible], EVIDENCE_QUANTILES)):
            weak = eligible & (known[evidence] <= e)
            for instability in INSTABILITY:
                shaky = known[instability]
                for s in np.unique(np.quantile(shaky[eligible], INSTABILITY_QUANTILES)):
                    inside = weak & (shaky >= s)
                    rows, found = int(inside.sum()), int(events[inside].sum())
                    if 0 < rows < base:
                        gamma, low, high = gap_interval(found, rows, total, base)
                        yield Slice(
                            evidence, float(e), instability, float(s), gamma, low, high,
                            rows / len(events), rows, found,
                        )  # fmt: skip


def best_slice(slices: Iterable[Slice]) -> Slice | None:
    """Return the slice of allowed mass with the highest lower bound of Gamma."""
    low, high = PAPER.strong_mass
    allowed = [s for s in slices if low <= s.mass <= high]
    return max(allowed, key=lambda s: s.low, default=None)


def gap_interval(found: int, rows: int, total: int, base: int) -> tuple[float, float, float]:
    """Return Gamma and its 95 % interval for a slice of `rows` within `base` rows.

    Gamma is the slice's rate minus that of the whole, which is the share outside the slice times
    the difference of slice and rest; the interval is Newcombe's for that difference.

    Examples
    --------
    >>> tuple(round(v, 3) for v in gap_interval(10, 50, 20, 1000))
    (0.18, 0.096, 0.304)
    """
    rest, found_rest = base - rows, total - found
    inside, outside = found / rows, found_rest / rest
    (l1, u1), (l2, u2) = _wilson(found, rows), _wilson(found_rest, rest)
    low = inside - outside - math.hypot(inside - l1, u2 - outside)
    high = inside - outside + math.hypot(u1 - inside, outside - l2)
    share = rest / base
    return share * (inside - outside), share * low, share * high


def _wilson(count: int, n: int) -> tuple[float, float]:
    z = float(norm.ppf((1 + PAPER.interval_level) / 2))
    rate = count / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, centre - reach), min(1.0, centre + reach)
