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
from falcon_discover.runtime.format import identifier, text
from falcon_discover.runtime.types import FloatArray, IntArray
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


def _positions(found: Finding, review: pd.DataFrame) -> IntArray:
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
    top = _positions(found, review)
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
    mean: `signals`, `columns`, `regions` in short and in full, `classes`.
    """
    top = _positions(found, review)[:MAX_ROWS]
    review = review.head(len(top))
    state, risk = found.state.take(top), found.risk()
    regions = list(dict.fromkeys(number for number in review["region_id"] if number))
    short, full = found.regions.names(), found.regions.words(np.array(regions, dtype=np.intp))
    signals = [signal for signal in SHOWN if state.column(signal.name) is not None]
    fields: dict[str, list[Any]] = {
        "row": row_numbers(found)[top].tolist(),
        "id": [] if identity is None else [identifier(v) for v in identity.to_numpy()[top]],
        "predicted": state.decision.astype(int).tolist(),
        "actual": [] if found.codes is None else found.codes[top].astype(int).tolist(),
        "confidence": _rounded(state.confidence),
        "suspicion": _rounded(review["suspicion"].to_numpy(dtype=np.float64)),
        "risk": [] if risk is None else _rounded(risk[top]),
        "label_doubt": [] if doubts is None else _rounded(doubts[top]),
        "region": [regions.index(n) if n else -1 for n in review["region_id"]],
        "reason": [text(reason, 400) for reason in review["reason"]],
        "neighbours": _neighbours(state),
        "signals": _transposed([_rounded(_shown(state, signal)) for signal in signals]),
        "doubt": _transposed([_doubt(found, state, signal) for signal in signals]),
        "values": _transposed(_cells(found.table, top)),
    }
    names = [name for name, values in fields.items() if values]
    rows = _within_budget([list(row) for row in zip(*(fields[n] for n in names), strict=True)])
    return {
        "names": names,
        "rows": rows,
        "identity": None if identity is None else text(identity.name, MAX_NAME),
        "classes": [text(label) for label in found.classes],
        "regions": [text(short[number - 1], MAX_REGION) for number in regions],
        "region_words": [text(rule, MAX_REGION) for rule in full],
        "signals": [{"label": s.label, "unit": FORMATS.get(s.unit, "number")} for s in signals],
        "columns": [text(name, MAX_NAME) for name in list(found.table.kinds)[:MAX_COLUMNS]],
        "columns_left_out": max(0, len(found.table.kinds) - MAX_COLUMNS),
    }


def _within_budget(rows: list[list[Any]]) -> list[list[Any]]:
    """Return as many of the first rows as the page has room for."""
    sizes = np.cumsum([len(json.dumps(row)) for row in rows])
    return rows[: int(np.searchsorted(sizes, MAX_BYTES, side="right"))]


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


def _doubt(found: Finding, chosen: State, signal: Signal) -> list[float | None]:
    """Return the share of confident predictions on which the signal casts less doubt."""
    everywhere, here = found.state.column(signal.name), chosen.column(signal.name)
    assert everywhere is not None
    assert here is not None
    usual = np.sort(signal.sign * everywhere[found.state.eligible(found.tau)])
    below = np.searchsorted(usual, signal.sign * here, side="left")
    return _rounded(below / max(len(usual), 1), 2)


def _cells(table: Table, rows: IntArray) -> list[list[str]]:
    columns = []
    for name, kind in list(table.kinds.items())[:MAX_COLUMNS]:
        values = table.frame[name].iloc[rows]
        if kind == "datetime":
            moments = pd.to_datetime(values, unit="s")
            columns.append(["missing" if pd.isna(v) else str(v) for v in moments])
        else:
            columns.append([text(value) for value in values])
    return columns


def _rounded(values: FloatArray, digits: int = 4) -> list[float | None]:
    return [None if np.isnan(v) else round(float(v), digits) for v in values]


def _transposed(columns: list[list[Any]]) -> list[list[Any]]:
    return [list(row) for row in zip(*columns, strict=True)]
