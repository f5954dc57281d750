"""What may be said of a region, and whether confirmed ones hold on other labelled rows.

A confirmed rule is fixed, so all of these rows may test it. It held if they show an excess again,
at one error level for all regions. It did not hold if the excess is clearly smaller than at the
fit. Otherwise these rows cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy.stats import binom

from falcon_discover.data.twins import one_of_each
from falcon_discover.metrics.design import Design, counted, kish
from falcon_discover.regions.confirm import (
    STRATIFIERS,
    Against,
    cautious_p_value,
    expected_events,
    holm,
    influence,
    twins_of,
)
from falcon_discover.regions.rules import Figures, Rule
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER

Claim = Literal[
    "more than predicted",
    "frequent, as predicted",
    "frequent",
    "no more than predicted",
    "not frequent",
    "not confirmed",
]
# From this many times the usual rate on confident errors are called frequent.
FREQUENT_LIFT = 1.5
Outcome = Literal["held", "did not hold", "cannot tell"]
LEVEL = 1 - PAPER.interval_level


@dataclass(frozen=True)
class Retest:
    """What other labelled rows say of a confirmed region.

    Attributes
    ----------
    outcome : {"held", "did not hold", "cannot tell"}
    p_value, adjusted_p : of the excess on these rows; adjusted for all regions tested again
    weaker_p : of an excess as large as the confirmed one, adjusted likewise; small if the excess
        is clearly smaller here
    """

    outcome: Outcome
    p_value: float
    adjusted_p: float
    weaker_p: float


@dataclass(frozen=True)
class _Count:
    """Confident errors, how many are expected, and the confident predictions."""

    events: float
    expected: float
    eligible: float

    def over(self, each: float) -> _Count:
        """Return as many independent counts as vary as these do, each of so many."""
        if each == 1.0:
            return self
        return _Count(self.events / each, self.expected / each, self.eligible / each)


def retested(
    rules: Sequence[tuple[Rule, Against]],
    frame: pd.DataFrame,
    confidence: FloatArray,
    events: BoolArray,
    eligible: BoolArray,
    design: Design | None = None,
) -> list[Retest]:
    """Return what other labelled rows say of each region, given what it was confirmed against."""
    if not rules:
        return []
    twins = twins_of(frame, events, eligible)[eligible]
    sure, wrong = confidence[eligible], events[eligible]
    once = one_of_each(twins, sure)
    drawn = None if design is None else design.take(eligible)
    excess, weaker, frequent = [], [], []
    for rule, against in rules:
        inside = rule.holds(frame)[eligible]
        excess.append(cautious_p_value(wrong, inside, sure, twins, against, drawn))
        here = [
            _count(wrong[part], inside[part], sure[part], against, drawn and drawn.take(part))
            for part in (np.arange(len(sure)), once)
        ]
        each = 1.0
        if drawn is not None:
            stratum = STRATIFIERS[against](sure, drawn.weight)
            effect = drawn.design_effect(influence(wrong, inside, stratum, drawn.weight))
            each = effect * kish(drawn.weight[inside & wrong])
        before = _confirmed(rule, against)
        weaker.append(
            max(
                weaker_p_value(then.over(each), now.over(each))
                for then, now in zip(before, here, strict=True)
            )
        )
        # Of a region that was compared with all rows it was told that errors are frequent there.
        enough = 1.0 if against == "confidence" else FREQUENT_LIFT
        frequent.append(here[0].events >= enough * here[0].expected)
    adjusted, less = holm(np.array(excess)), holm(np.array(weaker))
    held = (adjusted <= LEVEL) & np.array(frequent)
    outcomes: list[Outcome] = [
        "held" if again else "did not hold" if fewer else "cannot tell"
        for again, fewer in zip(held, less <= LEVEL, strict=True)
    ]
    return [
        Retest(outcome, p, float(q), float(r))
        for outcome, p, q, r in zip(outcomes, excess, adjusted, less, strict=True)
    ]


def weaker_p_value(before: _Count, here: _Count) -> float:
    """Return how well an excess as large as before goes with the count here.

    Given the sum of both counts, the one here is binomial if the ratio of events to expected ones
    is the same. So it is if the rate is the same; the larger p-value counts, since either
    may change with the rows around the region. Two-sided, as a region that was chosen because it
    was significant looks stronger than it is.
    """
    both = round(before.events + here.events)
    p = 0.0
    for own, other in ((here.expected, before.expected), (here.eligible, before.eligible)):
        share = own / (own + other) if own + other else 0.0
        p = max(p, float(binom.cdf(round(here.events), both, share)))
    return min(1.0, 2 * p)


def _confirmed(rule: Rule, against: Against) -> Iterator[_Count]:
    """Yield a rule's counts when it was confirmed: of all rows, and of one of each set of twins."""
    for seen in (rule.confirmation, rule.confirmed_once or rule.confirmation):
        yield _Count(seen.events, _expected(seen, against), seen.eligible)


def _expected(seen: Figures, against: Against) -> float:
    usual = seen.events / seen.lift if seen.lift > 0 else 0.0
    return seen.expected if against == "confidence" else usual


def _count(
    events: BoolArray,
    inside: BoolArray,
    confidence: FloatArray,
    against: Against,
    design: Design | None,
) -> _Count:
    weight = None if design is None else design.weight
    expected = expected_events(events, STRATIFIERS[against](confidence, weight), weight)
    expected = expected if weight is None else weight * expected
    hits, rows = counted(design, events & inside, inside)
    return _Count(hits, float(expected[inside].sum()), rows)


def excess_claim(figures: Figures) -> Claim:
    """Return what may be said of a region found for errors that confidence does not predict."""
    # As both are shown, or a line could say "12 wrong; 12.0 expected".
    more = figures.events > round(figures.expected, 1)
    return "more than predicted" if more else "no more than predicted"


def frequency_claim(figures: Figures) -> Claim:
    """Return what may be said of a region found for frequent errors.

    They are as many as predicted if the interval of their rate includes the predicted rate.

    Examples
    --------
    >>> usual = Figures(300, 200, 45, 0.225, 0.169, 0.289, 2.5, 36.2)
    >>> frequency_claim(usual)
    'frequent, as predicted'
    >>> frequency_claim(Figures(300, 191, 98, 0.513, 0.440, 0.586, 5.0, 19.2))
    'frequent'
    """
    # An undefined lift, where no prediction is wrong, is not frequent either.
    if not figures.lift >= FREQUENT_LIFT:
        return "not frequent"
    low, high = figures.low * figures.eligible, figures.high * figures.eligible
    return "frequent, as predicted" if low <= figures.expected <= high else "frequent"
