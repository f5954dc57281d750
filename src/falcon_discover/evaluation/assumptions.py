"""What a bound assumes about the rows, which bound it is, and what it can be asked for."""

from __future__ import annotations

import numpy as np

from falcon_discover.evaluation.betting import fewest_groups
from falcon_discover.evaluation.bounds import Unread, fewest_rows
from falcon_discover.exceptions import InputError, check_number
from falcon_discover.metrics.design import Design
from falcon_discover.runtime.words import amount, shortened

ASSUMED = "assuming independent rows like these"
EXACT = "exact bound on rows"
BETTING_GROUPS = "betting bound on groups"
BETTING_ROWS = "betting bound on weighted rows"


def resting_on(rows: Unread, design: Design | None) -> tuple[str, str]:
    """Return which bound it is, and what it assumes about the rows."""
    if design is None:
        return EXACT, ASSUMED
    most = amount(rows.largest)
    if not design.grouped:
        return BETTING_ROWS, f"{ASSUMED} (none with a weight above {most})"
    size = (
        f"none with confident predictions of total weight above {most}"
        if design.weighted
        else f"none with more than {most} confident predictions"
    )
    return BETTING_GROUPS, f"assuming independent groups like these ({size})"


def said(method: str) -> str:
    """Return which bound it is, to be added to a statement; nothing for the exact one."""
    return "" if method == EXACT else f" ({method})"


def needed(method: str, max_residual_rate: float, confidence_level: float) -> str:
    """Return how many unreviewed rows it takes to show a rate, in words."""
    if method == EXACT:
        rows = fewest_rows(max_residual_rate, confidence_level)
        return f"that takes at least {rows:,} unreviewed ones"
    groups = fewest_groups(max_residual_rate, confidence_level)
    each = (
        "groups of the largest size" if method == BETTING_GROUPS else "rows of the largest weight"
    )
    return f"that takes at least as many unreviewed ones as in {groups:,} {each}"


def doubted(doubt: str) -> str:
    """Return why a statement may be invalid, to stand before it."""
    return f"{doubt} Settle that before you rely on this:\n" if doubt else ""


def copies(twins: int) -> str:
    """Return what was done about rows with a twin."""
    if not twins:
        return ""
    return (
        f" {twins:,} labelled rows have a twin with the same values and label, and may be copies: "
        "the bound is the larger of two, one from all rows and one from a single row of each."
    )


# Beyond it the bound is that of the long run, and takes minutes.
LARGEST_BATCH = 10**9


def check_batch(batch: int | None, design: Design | None = None) -> None:
    """Raise if the size of a batch is not a number of rows, or there is no bound for one."""
    whole = isinstance(batch, int | np.integer) and not isinstance(batch, bool)
    if batch is not None and not (whole and 1 <= batch <= LARGEST_BATCH):
        raise InputError(
            f"batch is {shortened(repr(batch))}: give the number of rows in the next batch, 1 to "
            f"{LARGEST_BATCH:,}, or None for the long run."
        )
    if batch is not None and design is not None:
        what = "rows in groups" if design.grouped else "weighted rows"
        raise InputError(
            f"batch is {batch:,}, but there is no bound for the next batch of {what}: leave "
            "batch out to get a bound for the long run."
        )


def check_share(value: float, name: str) -> None:
    """Raise if a rate or a confidence is not between 0 and 1."""
    check_number(name, value, lambda share: 0.0 < share < 1.0, "it must lie between 0 and 1")
