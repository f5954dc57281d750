"""Whether predicted risks match what happened: overall, and in the riskiest tenth."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from scipy.stats import chi2, norm

from falcon_discover.metrics.design import Design, kish
from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import plain
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.runtime.words import amount
from falcon_discover.settings import PAPER

# The riskiest share of the rows, which is judged by itself: it is what people review.
TOP_SHARE = 0.1
# With fewer events a slope says nothing.
MIN_EVENTS = 10
STEPS = 25


@dataclass(frozen=True, repr=False)
class RiskCalibration(Result):
    """Predicted against observed confident errors, over all eligible rows and the riskiest.

    Attributes
    ----------
    rows, events : eligible rows, and the confident errors among them
    expected : what their risks add up to
    ratio, low, high : observed per expected, with its interval
    slope, slope_low, slope_high : of the observed log-odds on those of the risk; 1 is ideal, below
        1 the risks differ too much from each other, above 1 too little. Not defined with few events
    top_rows, top_events, top_expected, top_ratio, top_low, top_high : the same for the riskiest
        tenth
    """

    rows: float
    events: float
    expected: float
    ratio: float
    low: float
    high: float
    slope: float
    slope_low: float
    slope_high: float
    top_rows: float
    top_events: float
    top_expected: float
    top_ratio: float
    top_low: float
    top_high: float

    @classmethod
    def of(
        cls,
        risk: FloatArray,
        events: BoolArray,
        level: float = PAPER.interval_level,
        *,
        design: Design | None = None,
    ) -> RiskCalibration:
        """Compare the risks of eligible rows with what came of them.

        Parameters
        ----------
        design : weights and groups of the rows; None where they are independent and count alike

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> risk = rng.beta(1, 20, 4_000)
        >>> found = RiskCalibration.of(risk, rng.uniform(size=4_000) < risk)
        >>> found.low < 1 < found.high, found.slope_low < 1 < found.slope_high
        (True, True)
        """
        # Rows of equal risk go together into the tenth or stay out.
        if design is not None:
            top = risk >= _least_of_top(risk, design.weight)
            return cls._drawn(risk, events, top, design, level)
        least = np.quantile(risk, 1 - TOP_SHARE, method="lower") if len(risk) else 0.0
        top = risk >= least
        slope = (math.nan,) * 3
        if MIN_EVENTS <= events.sum() < len(events):
            slope = slope_interval(risk, events, level=level)
        return cls(
            len(risk),
            int(events.sum()),
            float(risk.sum()),
            *observed_per_expected(int(events.sum()), float(risk.sum()), level),
            *slope,
            int(top.sum()),
            int(events[top].sum()),
            float(risk[top].sum()),
            *observed_per_expected(int(events[top].sum()), float(risk[top].sum()), level),
        )

    @classmethod
    def _drawn(
        cls, risk: FloatArray, events: BoolArray, top: BoolArray, design: Design, level: float
    ) -> RiskCalibration:
        slope = (math.nan,) * 3
        if MIN_EVENTS <= events.sum() < len(events):
            slope = slope_interval(risk, events, design.unit, level, weight=design.weight)

        def compared(part: Design, own: FloatArray, hits: BoolArray) -> tuple[float, ...]:
            """Return rows, events, expected ones, and the ratio with its interval."""
            count, expected = part.total(hits), float(part.weight @ own)
            # As many independent events as vary as much as the groups' sums do.
            each = part.design_effect(hits - own) * kish(part.weight[hits])
            ratio = observed_per_expected(count / each, expected / each, level)
            return (part.total(), count, expected, *ratio)

        top_part = compared(design.take(top), risk[top], events[top])
        return cls(*[*compared(design, risk, events), *slope, *top_part])

    def words(self) -> str:
        """Return the finding in a sentence or two."""
        if not self.rows:
            return "The risk cannot be checked: there is no confident prediction."
        text = (
            f"{self._judgement()}: they predict {self.expected:.1f} errors among "
            f"{amount(self.rows)} confident predictions, and there were {amount(self.events)} "
            f"(ratio {self.ratio:.2f}, 95% interval {self.low:.2f} to {self.high:.2f})."
        )
        if not math.isnan(self.slope):
            text += (
                f" Their slope is {self.slope:.2f} [{self.slope_low:.2f}, {self.slope_high:.2f}]; "
                "1 is ideal."
            )
        return (
            f"{text} In the riskiest tenth they predict {self.top_expected:.1f}; there were "
            f"{amount(self.top_events)}."
        )

    def _judgement(self) -> str:
        if self.low <= 1 <= self.high:
            return "The risks match what happened"
        return f"The risks are too {'high' if self.ratio < 1 else 'low'} here"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, None for what is not defined, and the sentence."""
        return {**plain(asdict(self)), "words": self.words()}

    NEXT = "if the risks are off on these rows, fit the audit on labelled rows like them."

    def text(self) -> str:
        """Return the finding in a sentence or two."""
        return self.words()


def _least_of_top(risk: FloatArray, weight: FloatArray) -> float:
    """Return the least risk of the riskiest share of what the rows stand for."""
    order = np.argsort(risk, kind="stable")
    reached = np.cumsum(weight[order])
    place = math.floor((1 - TOP_SHARE) * max(float(reached[-1]) - 1.0, 0.0))
    least = min(int(np.searchsorted(reached, place, side="right")), len(risk) - 1)
    return float(risk[order[least]])


def observed_per_expected(
    count: float, expected: float, level: float = PAPER.interval_level
) -> tuple[float, float, float]:
    """Return observed per expected events with the exact Poisson interval.

    Events with different chances vary less than a Poisson count, so the interval is on the safe
    side.

    Examples
    --------
    >>> [round(v, 2) for v in observed_per_expected(0, 4.0)]
    [0.0, 0.0, 0.92]
    """
    if expected <= 0:
        return math.nan, math.nan, math.nan
    low, high = (1 - level) / 2, (1 + level) / 2
    least = chi2.ppf(low, 2 * count) / 2 if count else 0.0
    most = chi2.ppf(high, 2 * count + 2) / 2
    return count / expected, float(least / expected), float(most / expected)


def slope_interval(
    risk: FloatArray,
    events: BoolArray,
    groups: npt.ArrayLike | None = None,
    level: float = PAPER.interval_level,
    *,
    weight: FloatArray | None = None,
) -> tuple[float, float, float]:
    """Return the slope of the observed log-odds on those of the risk, with its interval.

    Rows of the same group count as one where the interval is concerned; `weight` is how many rows
    each stands for.
    """
    odds = clipped_logit(risk)
    centred = odds - odds.mean()
    design = np.column_stack([np.ones(len(odds)), centred])
    # Rows as columns of the design that are weighed once, in sums over rows.
    weighed = design if weight is None else design * weight[:, None]
    theta = np.array([logit((events.sum() + 0.5) / (len(events) + 1.0)), 1.0])
    for _ in range(STEPS):
        p = expit(design @ theta)
        curvature = (weighed * (p * (1 - p))[:, None]).T @ design + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, weighed.T @ (events - p))
        theta = theta + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-9:
            break
    pulls = weighed * (events - expit(design @ theta))[:, None]
    if groups is not None:
        _, group = np.unique(np.asarray(groups), return_inverse=True)
        pulls = np.column_stack([np.bincount(group.ravel(), column) for column in pulls.T])
    inverse = np.linalg.inv(curvature)
    covariance = inverse @ (pulls.T @ pulls) @ inverse
    reach = float(norm.ppf((1 + level) / 2)) * math.sqrt(covariance[1, 1])
    return float(theta[1]), float(theta[1] - reach), float(theta[1] + reach)
