"""Shares of simulated draws, judged so that hardly any seed fails where the claim holds."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

# Some thousand checks under every seed: 4 standard errors fail by chance in 1 of 30,000.
FAR = 4.0


def often(outcomes: Iterable[bool], share: float) -> bool:
    """Return whether outcomes are compatible with happening in at least this share of draws."""
    seen = np.asarray(list(outcomes), dtype=float)
    return bool(seen.mean() >= share - FAR * math.sqrt(share * (1 - share) / len(seen)))


def rarely(outcomes: Iterable[bool], share: float) -> bool:
    """Return whether outcomes are compatible with happening in at most this share of draws."""
    return often([not one for one in outcomes], 1 - share)
