"""How a row's values compare: with those of its neighbours, and with those of all known rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.audit.finding import Finding
from falcon_discover.data.table import Kind
from falcon_discover.runtime.format import text
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray

# Of more rows than this a part says how usual a value is.
MOST_KNOWN = 50_000
# Enough candidates that of a row of the fit so many are left without those of its own fold.
CANDIDATES = 3
# Which of the ordered neighbours are told: the middle one, and the ends of the middle half.
QUARTERS = (0.5, 0.25, 0.75)


@dataclass(frozen=True, eq=False)
class Near:
    """The neighbours of some rows, by their places in the table of the fit.

    Attributes
    ----------
    rows : one line each, nearest first
    known : which of them there are: a row may have fewer
    """

    rows: IntArray
    known: BoolArray


def neighbours_of(found: Finding, rows: IntArray) -> Near | None:
    """Return the nearest rows of the fit; None where they are not there to be shown.

    A row of the fit is compared with rows of other folds only, as its signals are.
    """
    audit, features = found.audit, found.state.features
    if audit.reference is None or audit.builder is None or features is None or not len(rows):
        return None
    if found.is_fit_rows and audit.held_out is not None:
        # Those rows were compared with earlier ones only, some of which are not kept.
        return None
    k = audit.builder.n_neighbors
    wanted = CANDIDATES * k if found.is_fit_rows else k
    near = audit.reference.index.query(features[rows], wanted, by_class=True).rows
    known = np.ones(near.shape, dtype=bool)
    if audit.held_out is not None:
        known = audit.held_out[near]
        near = (np.cumsum(audit.held_out) - 1)[near]
    fold = found.state.fold
    if found.is_fit_rows and fold is not None:
        known = fold[near] != fold[rows][:, None]
    known &= np.cumsum(known, axis=1) <= k
    return Near(near, known)


def near_values(found: Finding, near: Near, name: str) -> list[str]:
    """Return what the neighbours of each row have in a column, in few words."""
    column = found.audit.table.frame[name]
    if found.table.kinds[name] == "categorical":
        return _most_frequent(column, near)
    return _middle(column.to_numpy(dtype=np.float64), near, found.table.kinds[name])


def _middle(values: FloatArray, near: Near, kind: Kind) -> list[str]:
    # Missing values, and neighbours that are not there, come last.
    ordered = np.sort(np.where(near.known, values[near.rows], np.nan), axis=1)
    there = np.isfinite(ordered).sum(axis=1)
    ends = [
        ordered[np.arange(len(ordered)), np.maximum(np.rint((there - 1) * share), 0).astype(int)]
        for share in QUARTERS
    ]
    middle, low, high = (_shown(end, kind) for end in ends)
    return [
        "missing" if not n else m if a == b else f"{m} ({a} to {b})"
        for n, m, a, b in zip(there, middle, low, high, strict=True)
    ]


def _shown(values: FloatArray, kind: Kind) -> list[str]:
    if kind == "datetime":
        return [f"{moment:%Y-%m-%d}" for moment in pd.to_datetime(values, unit="s").fillna(0)]
    return [text(float(f"{value:.4g}")) for value in values]


def _most_frequent(column: pd.Series, near: Near) -> list[str]:
    codes, names = pd.factorize(column)
    words = [*map(text, names), "missing"]
    found = np.where(codes < 0, len(names), codes)[near.rows]
    told = []
    for line, known in zip(found, near.known, strict=True):
        counts = np.bincount(line[known], minlength=1)
        most, n = int(counts.argmax()), int(known.sum())
        told.append(f"{words[most]} ({counts[most]} of {n})" if n else "")
    return told


@dataclass(frozen=True, eq=False)
class Unusual:
    """How unusual values are among known rows.

    Attributes
    ----------
    place : of a number, the share of known rows with a smaller one (equal ones count half); of
        anything else and of a missing value, the share of known rows that have the same
    tail : the share of known rows with a value that is as unusual, or more so
    """

    place: list[float | None]
    tail: list[float | None]


def unusual(found: Finding, rows: IntArray, name: str) -> Unusual:
    """Return how unusual each row's value in a column is among the rows of the fit."""
    # An audit that was saved without rows knows none but these.
    frame = found.audit.table.frame
    frame = frame if name in frame else found.table.frame
    step = -(-len(frame) // MOST_KNOWN)
    known, values = frame[name].iloc[::step], found.table.frame[name].iloc[rows]
    if found.table.kinds[name] == "categorical":
        return _of_categories(known, values)
    return _of_numbers(known.to_numpy(np.float64), values.to_numpy(np.float64))


def _of_categories(known: pd.Series, values: pd.Series) -> Unusual:
    shares = known.value_counts(normalize=True, dropna=False)
    same = values.map(shares[shares.index.notna()]).fillna(0.0).to_numpy(np.float64)
    place = np.where(values.isna(), float(known.isna().mean()), same)
    # Rarer categories, and those that are as rare, together.
    ordered = np.sort(shares.to_numpy(np.float64))
    totals = np.append(0.0, np.cumsum(ordered))
    tail = totals[np.searchsorted(ordered, place, side="right")]
    return Unusual(_rounded(place), _rounded(tail))


def _of_numbers(known: FloatArray, values: FloatArray) -> Unusual:
    there = np.sort(known[~np.isnan(known)])
    n, missing = max(len(there), 1), np.isnan(values)
    below = np.searchsorted(there, values, side="left") / n
    above = 1.0 - np.searchsorted(there, values, side="right") / n
    gaps = float(np.isnan(known).mean()) if len(known) else 0.0
    # Half of the equal ones count as smaller: the most frequent value lies in the middle.
    place = np.where(missing, gaps, (below + 1.0 - above) / 2)
    tail = np.where(missing, gaps, np.minimum(1.0, 2 * np.minimum(place, 1 - place)))
    return Unusual(_rounded(place), _rounded(tail))


def _rounded(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 3) for value in values]
