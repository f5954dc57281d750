"""When our figure agrees with a printed one, when it differs, and when nobody can tell.

A figure differs if the 95% interval of the difference excludes 0. It agrees if the difference lies
within a margin in both directions, each tested at 5%: its 90% interval is inside. That comes
first: a difference that is certainly too small to matter is none. Otherwise four seeds cannot tell.
The intervals are of two means over seeds. The seeds of one data set share rows, so they are less
independent than the intervals take them to be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student

from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

AGREES, DIFFERS, CANNOT_TELL = "agrees", "differs", "cannot tell"
NOT_DEFINED = "not defined"
SIGNIFICANT = 1 - PAPER.interval_level
# Two one-sided tests at 5% each are one two-sided interval at 90%.
EQUIVALENCE_LEVEL = 1 - 2 * SIGNIFICANT


@dataclass(frozen=True)
class Kind:
    """A kind of figure: how large a difference does not matter, and why.

    `rounding` is half a unit of the last printed digit.
    """

    name: str
    margin: float
    why: str
    relative: bool = False
    rounding: float = 0.0005


AUROC = Kind("AUROC", 0.038, "the smallest difference that the paper counts as a gain (Nomao)")
CAPTURE = Kind(
    "share of events found or held",
    0.074,
    "the smallest difference that the paper counts as a gain (Nomao)",
)
COUNT = Kind(
    "number of events",
    0.20,
    "relative: a fifth fewer events make an interval a tenth wider",
    relative=True,
    rounding=0.05,
)
ECE = Kind("ECE", 0.002, "the paper's effects are 0.001 to 0.003")
BRIER = Kind("Brier score", 0.005, "half of the paper's effect on Bank (0.010)")
NLL = Kind("NLL", 0.015, "below the paper's smallest effect (0.019)")
AURC = Kind("AURC", 0.005, "a third of the paper's mean (0.016)")
REGION = Kind("support or correctness of a region", 0.03, "shares close to 1")
DRIFT = Kind("instability of a region", 0.005, "half of the paper's mean (0.012)")
NULL = Kind("random slices", 0.02, "a tenth of the wider intervals' width")
CHANCE = Kind("p", 2.0, "a factor; a p-value has no interval")
CHOICE = Kind("choice", 0.0, "the same or not")
KINDS = (
    AUROC, CAPTURE, COUNT, ECE, BRIER, NLL, AURC, REGION, DRIFT, NULL, CHANCE, CHOICE,
)  # fmt: skip
# Kinds by the name of a figure, and by a part of it.
OF_FIGURE = {
    **dict.fromkeys(("regime", "best_lambda", "best_k", "stability_selected"), CHOICE),
    **dict.fromkeys(("events", "prior_at20", "family_at20"), COUNT),
    **{"support": REGION, "correctness": REGION, "instability": DRIFT, "aurc": AURC},
}
OF_PART = {"auroc": AUROC, "ece": ECE, "brier": BRIER, "nll": NLL, "null": NULL}


def kind_of(figure: str) -> Kind:
    """Return the kind of a figure by its name in the tables.

    Examples
    --------
    >>> kind_of("family_auroc").name, kind_of("family_cap20").margin
    ('AUROC', 0.074)
    """
    if figure in OF_FIGURE:
        return OF_FIGURE[figure]
    if figure.startswith("p_"):
        return CHANCE
    if figure.startswith(("positive", "learned_s")):
        return CHOICE
    return next((OF_PART[part] for part in OF_PART if part in figure.split("_")), CAPTURE)


@dataclass(frozen=True)
class Comparison:
    """One figure of ours against one printed: difference, half of its 95% interval, verdict."""

    difference: float
    half_width: float
    margin: float
    verdict: str


def compare(
    ours: float,
    seeds: Sequence[float],
    paper: float,
    kind: Kind,
    paper_half_width: float | None = None,
    finest: float = 0.0,
) -> Comparison:
    """Return the verdict on a figure that has a spread over seeds.

    Parameters
    ----------
    ours, paper : the two figures
    seeds : our figure in each seed; of a bound, the figure it bounds, since a bound moves
        with its centre
    kind : what sort of figure it is
    paper_half_width : half the interval that the paper prints; without one, its mean over seeds is
        given the spread that ours has
    finest : the least spread that can be believed; seeds may agree by accident

    Examples
    --------
    >>> compare(0.85, (0.84, 0.85, 0.86, 0.85), 0.847, AUROC).verdict
    'agrees'
    >>> compare(0.48, (0.45, 0.50, 0.48, 0.49), 0.221, CAPTURE).verdict
    'differs'
    >>> compare(0.35, (0.0, 0.7, 0.2, 0.5), 0.333, CAPTURE).verdict
    'cannot tell'
    """
    margin = kind.margin * (abs(paper) if kind.relative else 1.0)
    difference = ours - paper
    known = [value for value in seeds if math.isfinite(value)]
    if not math.isfinite(ours):
        return Comparison(math.nan, math.nan, margin, NOT_DEFINED)
    if len(known) < 2:
        return Comparison(difference, math.nan, margin, CANNOT_TELL)
    spread = max(float(np.std(known, ddof=1)), finest)
    wide, narrow = _half_widths(spread, len(known), paper_half_width, kind.rounding)
    verdict = str(_verdict(difference, wide, narrow, margin))
    return Comparison(difference, float(wide), margin, verdict)


def compare_chance(ours: float, paper: float, draws: int) -> Comparison:
    """Return the verdict on a p-value.

    Both count as at least 1 / draws, the smallest that the paper's number of draws can show. Within
    a factor of two they agree; otherwise they differ if one is significant and the other is not.

    Examples
    --------
    >>> compare_chance(1e-30, 0.0001, 10_000).verdict
    'agrees'
    >>> compare_chance(0.0001, 0.317, 10_000).verdict
    'differs'
    """
    if not math.isfinite(ours):
        return Comparison(math.nan, math.nan, CHANCE.margin, NOT_DEFINED)
    one, other = max(ours, 1 / draws), max(paper, 1 / draws)
    if max(one, other) <= CHANCE.margin * min(one, other):
        verdict = AGREES
    else:
        verdict = DIFFERS if (one < SIGNIFICANT) != (other < SIGNIFICANT) else CANNOT_TELL
    return Comparison(ours - paper, math.nan, CHANCE.margin, verdict)


def operating(figures: pd.DataFrame, *, draws: int = 2_000, seed: int = 0) -> pd.DataFrame:
    """Return how often each verdict is given, by how far the paper's figure is from ours in truth.

    Both sides draw seeds anew from a normal distribution with the spread that ours has (the paper's
    mean with its printed interval, where there is one), so 0 is an exact replication. `figures` are
    lines of the check.
    """
    rng = np.random.default_rng(seed)
    there = figures[(figures["seed_sd"] > 0) & figures["half_width"].notna()]
    counts = {}
    for shift in (0.0, 1.0, 2.0):
        shares = []
        for line in there.itertuples():
            n, spread = int(line.seeds), max(line.seed_sd, line.finest)
            printed = None if math.isnan(line.paper_half_width) else line.paper_half_width
            error = spread / math.sqrt(n) if printed is None else printed / norm.ppf(0.975)
            draw = rng.normal(0.0, spread, (draws, n))
            paper = shift * spread + rng.normal(0.0, error, draws)
            rounding = kind_of(line.figure).rounding
            drawn = np.maximum(draw.std(axis=1, ddof=1), line.finest)
            halves = _half_widths(drawn, n, printed, rounding)
            verdicts = _verdict(draw.mean(axis=1) - paper, *halves, line.margin)
            shares.append([(verdicts == word).mean() for word in (AGREES, DIFFERS, CANNOT_TELL)])
        counts[shift] = np.mean(shares, axis=0)
    frame = pd.DataFrame(counts, index=[AGREES, DIFFERS, CANNOT_TELL]).T
    return frame.rename_axis("shift in seed standard deviations")


def seed_half_width(seeds: Sequence[float], level: float = PAPER.interval_level) -> float:
    """Return half the t interval of a mean over seeds; NaN with fewer than two."""
    known = [value for value in seeds if math.isfinite(value)]
    if len(known) < 2:
        return math.nan
    quantile = student.ppf(0.5 + level / 2, len(known) - 1)
    return float(quantile * np.std(known, ddof=1) / math.sqrt(len(known)))


def _half_widths(
    spread: float | FloatArray, n: int, printed: float | None, rounding: float
) -> tuple[float | FloatArray, float | FloatArray]:
    """Return half the 95% interval of a difference, and half the 90% one."""
    halves = []
    for level in (PAPER.interval_level, EQUIVALENCE_LEVEL):
        own = student.ppf(0.5 + level / 2, n - 1) * spread / math.sqrt(n)
        if printed is None:
            # Two means over n seeds each, with one spread.
            half = own * math.sqrt(2)
        else:
            scale = norm.ppf(0.5 + level / 2) / norm.ppf(0.5 + PAPER.interval_level / 2)
            half = np.hypot(own, printed * scale)
        halves.append(half + rounding)
    return halves[0], halves[1]


def _verdict(
    difference: float | FloatArray,
    wide: float | FloatArray,
    narrow: float | FloatArray,
    margin: float,
) -> npt.NDArray[np.str_]:
    size = np.abs(difference)
    return np.where(size + narrow <= margin, AGREES, np.where(size > wide, DIFFERS, CANNOT_TELL))
