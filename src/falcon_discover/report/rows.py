"""The rows of the review list as the page carries them: figures, signals, values and a reason.

A page holds a limited number of rows whatever the data's size; the whole list is in the files
beside it.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from falcon_discover.audit.finding import Finding
from falcon_discover.data.table import Table
from falcon_discover.report.surroundings import near_values, neighbours_of, unusual
from falcon_discover.runtime.format import identifier, text
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.signals.catalogue import CATALOGUE, Signal
from falcon_discover.signals.state import State

# What a review list holds beside the column that identifies its rows.
LIST_COLUMNS = (
    "row", "suspicion", "risk", "p", "predicted", "actual", "confidence", "cost", "expected_cost",
    "region", "region_id", "reason", "label_doubt",
)  # fmt: skip
MAX_ROWS = 2_000
MAX_BYTES = 1_500_000
MAX_COLUMNS = 40
MAX_NAME = 60
# A region is told in full, unless its values are documents.
MAX_REGION = 2_000


SHOWN = tuple(signal for signal in CATALOGUE if signal.label)
# Logarithms are shown as what they are of; the page has its own names for that.
FORMATS = {"share": "share", "log ratio": "ratio", "log-odds": "odds"}


def row_numbers(found: Finding) -> pd.Index:
    """Return how rows are called: by their own numbers, or else by position."""
    index = found.index
    own = index.is_unique and pd.api.types.is_integer_dtype(index.dtype)
    return index if own else pd.Index(found.places)


def positions(found: Finding, review: pd.DataFrame) -> IntArray:
    """Return where the listed rows stand among those of the finding."""
    return np.searchsorted(found.places, review["row"].to_numpy())


def listed(
    found: Finding,
    review: pd.DataFrame,
    identity: pd.Series | None = None,
    doubts: FloatArray | None = None,
) -> pd.DataFrame:
    """Return a review list for readers of the rows' file: row numbers, known labels, identity.

    `doubts` are the probabilities that rows carry a wrong label, NaN where none contradicts.
    """
    top = positions(found, review)
    table = review.assign(row=row_numbers(found)[top]).reset_index(drop=True)
    if found.codes is not None:
        table.insert(4, "actual", found.classes[found.codes[top].astype(int)])
    if doubts is not None:
        table["label_doubt"] = doubts[top]
    if identity is not None:
        table.insert(0, str(identity.name), identity.to_numpy()[top])
    return table


def page_rows(
    found: Finding,
    review: pd.DataFrame,
    identity: pd.Series | None = None,
    doubts: FloatArray | None = None,
) -> dict[str, Any]:
    """Return the first rows of `found.review()` with all the page shows of each.

    There are `names` of the fields of a row, `rows` as lists in that order, and what the fields
    mean: `signals`, `columns`, `regions` in short and in full, `classes`. Cells of columns are
    places in `texts`.
    """
    top = positions(found, review)[:MAX_ROWS]
    review = review.head(len(top))
    state, risk = found.state.take(top), found.risk()
    regions = _regions_of(found, top)
    short, full = found.regions.names(), [rule.words for rule in found.regions.numbered]
    signals = [signal for signal in SHOWN if state.column(signal.name) is not None]
    ranks = [_ranks(found, state, signal) for signal in signals]
    columns = list(found.table.kinds)[:MAX_COLUMNS]
    near = neighbours_of(found, top)
    seen = [unusual(found, top, name) for name in columns]
    fields: dict[str, list[Any]] = {
        "row": row_numbers(found)[top].tolist(),
        "id": [] if identity is None else [identifier(v) for v in identity.to_numpy()[top]],
        "predicted": state.decision.astype(int).tolist(),
        "actual": [] if found.codes is None else found.codes[top].astype(int).tolist(),
        "confidence": _rounded(_short_of_certain(state.confidence)),
        "suspicion": _rounded(review["suspicion"].to_numpy(dtype=np.float64)),
        "risk": [] if risk is None else _rounded(risk[top]),
        "label_doubt": [] if doubts is None else _rounded(doubts[top]),
        **_costs(review),
        "regions": [[] for _ in top] if regions else [],
        "reason": [text(reason, 400) for reason in review["reason"]],
        "neighbours": _neighbours(state),
        "signals": _transposed([_rounded(_shown(state, signal)) for signal in signals]),
        "doubt": _transposed([doubt for doubt, _ in ranks]),
        "trust": _transposed([trust for _, trust in ranks]),
        "values": _transposed(_cells(found.table, top, columns)),
        "near": []
        if near is None
        else _transposed([near_values(found, near, name) for name in columns]),
        "place": _transposed([column.place for column in seen]),
        "tail": _transposed([column.tail for column in seen]),
    }
    for number, inside in enumerate(regions.values()):
        for place in np.flatnonzero(inside):
            fields["regions"][place].append(number)
    names = [name for name, values in fields.items() if values]
    rows = [list(row) for row in zip(*(fields[n] for n in names), strict=True)]
    rows, texts = _packed(rows, [names.index(n) for n in ("values", "near") if n in names])
    return {
        "names": names,
        "rows": rows,
        "texts": texts,
        "identity": None if identity is None else text(identity.name, MAX_NAME),
        "classes": [text(label) for label in found.classes],
        "region_ids": list(regions),
        "regions": [text(short[number - 1], MAX_REGION) for number in regions],
        "region_words": [text(full[number - 1], MAX_REGION) for number in regions],
        "signals": [{"label": s.label, "unit": FORMATS.get(s.unit, "number")} for s in signals],
        "columns": [text(name, MAX_NAME) for name in columns],
        "kinds": [found.table.kinds[name] for name in columns],
        "columns_left_out": max(0, len(found.table.kinds) - MAX_COLUMNS),
    }


def _regions_of(found: Finding, rows: IntArray) -> dict[int, BoolArray]:
    """Return which of the rows each confirmed region holds, by its number."""
    frame = found.table.frame.iloc[rows]
    return {
        number: rule.holds(frame)
        for number, rule in enumerate(found.regions.numbered, start=1)
        if rule.confirmed
    }


def _costs(review: pd.DataFrame) -> dict[str, list[Any]]:
    names = [name for name in ("cost", "expected_cost") if name in review]
    return {name: _rounded(review[name].to_numpy(dtype=np.float64), 2) for name in names}


def _packed(rows: list[list[Any]], fields: list[int]) -> tuple[list[list[Any]], list[str]]:
    """Return as many of the first rows as the page has room for, and the texts of their cells.

    Cells repeat each other, so each text is kept once and a cell is its place.
    """
    texts: dict[str, int] = {}
    kept: list[list[Any]] = []
    size = 0
    for row in rows:
        new = {cell for field in fields for cell in row[field]}.difference(texts)
        for field in fields:
            row[field] = [texts.setdefault(cell, len(texts)) for cell in row[field]]
        size += len(json.dumps(row)) + sum(len(json.dumps(cell)) for cell in new)
        if size > MAX_BYTES:
            break
        kept.append(row)
    return kept, list(texts)


def _neighbours(state: State) -> list[list[int]]:
    """Return how many neighbours each row has, and how many carry the predicted label."""
    if "labelled_as_predicted" not in state.evidence:
        return []
    k = state.evidence["neighbours"].to_numpy(dtype=int)
    alike = np.rint(state.evidence["labelled_as_predicted"].to_numpy() * k).astype(int)
    return np.column_stack([k, alike]).tolist()


def _shown(state: State, signal: Signal) -> FloatArray:
    values = state.column(signal.name)
    assert values is not None
    if signal.unit == "log ratio":
        return np.asarray(np.exp(values))
    return np.asarray(expit(values)) if signal.unit == "log-odds" else values


def _ranks(found: Finding, chosen: State, signal: Signal) -> tuple[list[Any], list[Any]]:
    """Return the share of confident predictions on which the signal casts less doubt, and more."""
    everywhere, here = found.state.column(signal.name), chosen.column(signal.name)
    assert everywhere is not None
    assert here is not None
    usual = np.sort(signal.sign * everywhere[found.state.eligible(found.tau)])
    usual = usual[~np.isnan(usual)]
    n, own = max(len(usual), 1), signal.sign * here
    less = np.searchsorted(usual, own, side="left") / n
    more = (len(usual) - np.searchsorted(usual, own, side="right")) / n
    less[np.isnan(here)] = more[np.isnan(here)] = np.nan
    # Rounded down: nothing is called more than all others.
    return _rounded(np.floor(1_000 * less) / 1_000), _rounded(np.floor(1_000 * more) / 1_000)


def _cells(table: Table, rows: IntArray, columns: list[str]) -> list[list[str]]:
    cells = []
    for name in columns:
        values = table.frame[name].iloc[rows]
        if table.kinds[name] == "datetime":
            moments = pd.to_datetime(values, unit="s")
            cells.append(["missing" if pd.isna(v) else str(v) for v in moments])
        else:
            cells.append([text(value) for value in values])
    return cells


def _short_of_certain(confidence: FloatArray) -> FloatArray:
    """Return confidences that do not round up to 1, unless they are 1."""
    return np.where(confidence < 1.0, np.minimum(confidence, 0.9999), 1.0)


def _rounded(values: FloatArray, digits: int = 4) -> list[float | None]:
    return [None if np.isnan(v) else round(float(v), digits) for v in values]


def _transposed(columns: list[list[Any]]) -> list[list[Any]]:
    return [list(row) for row in zip(*columns, strict=True)]
