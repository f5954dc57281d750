"""What the figures of a region bear out: all that the terminal and the report may say of it."""

from __future__ import annotations

from typing import Literal

from falcon_discover.regions.rules import Figures

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
