"""The rows of the review list as the page carries them: figures, signals, values and a reason.

A page holds a limited number of rows whatever the data's size; the whole list is in the files
beside it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from falcon_discover.data.table import Table
from falcon_discover.evaluation.curves import Finding
from falcon_discover.runtime.format import identifier, text
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.signals.state import State

# What a review list holds beside the column that identifies its rows.
LIST_COLUMNS = (
    "row", "suspicion", "risk", "p", "predicted", "actual", "confidence", "region", "region_id",
    "reason",
)  # fmt: skip
MAX_ROWS = 2_000
MAX_BYTES = 1_500_000
MAX_COLUMNS = 40
MAX_NAME = 60
# A region is told in full, unless its values are documents.
MAX_REGION = 2_000


@dataclass(frozen=True)
class Shown:
    """How a signal is shown: its label, its unit, and whether large values raise doubt."""

    label: str
    unit: str = "number"
    doubtful_if_large: bool = True


SIGNALS = {
    "support": Shown("Support: how many reference rows are like it", "share", False),
    "labelled_as_predicted": Shown("Neighbours with the predicted label", "share", False),
    "label_agreement": Shown("Neighbours that agree among themselves", "share", False),
    "prediction_agreement": Shown("Neighbours the model decides alike", "share", False),
    "mean_drift": Shown("Mean move of the score when mixed with neighbours"),
    "max_drift": Shown("Largest move of the score when mixed"),
    "label_consistency": Shown("Mixes that keep the decision", "share", False),
    "logit_variance": Shown("Variance of the log-odds over mixes"),
    "log_trust_1": Shown(
        "Distance to the other class over that to the predicted (TrustScore)", "ratio", False
    ),
    "nearest_distance": Shown("Distance to the nearest reference row"),
    "opinion_boosting": Shown("Boosted trees: probability of the predicted class", "odds", False),
    "opinion_forest": Shown("Extra trees: probability of the predicted class", "odds", False),
    "opinion_linear": Shown(
        "Logistic regression: probability of the predicted class", "odds", False
    ),
    "entropy": Shown("Entropy of the score"),
}


def row_numbers(found: Finding) -> pd.Index:
    """Return how rows are called: by their own numbers, or else by position."""
    index = found.index
    own = index.is_unique and pd.api.types.is_integer_dtype(index.dtype)
    return index if own else pd.RangeIndex(len(index))


def listed(found: Finding, review: pd.DataFrame, identity: pd.Series | None = None) -> pd.DataFrame:
    """Return a review list for readers of the rows' file: row numbers, known labels, identity.

    Parameters
    ----------
    review : as `found.review` returns it
    identity : what else identifies the rows of the finding
    """
    top = review["row"].to_numpy()
    table = review.assign(row=row_numbers(found)[top]).reset_index(drop=True)
    if found.codes is not None:
        table.insert(4, "actual", found.classes[found.codes[top].astype(int)])
    if identity is not None:
        table.insert(0, str(identity.name), identity.to_numpy()[top])
    return table


def page_rows(
    found: Finding, review: pd.DataFrame, identity: pd.Series | None = None
) -> dict[str, Any]:
    """Return the first rows of the review list with all the page shows of each.

    Parameters
    ----------
    review : as `found.review` returns it

    Returns
    -------
    dict with `names` of the fields of a row, `rows` as lists in that order, and what the
    fields mean: `signals`, `columns`, `regions` in short and in full, `classes`
    """
    top = review["row"].to_numpy()[:MAX_ROWS]
    review = review.head(len(top))
    state = found.state.take(top)
    regions = list(dict.fromkeys(number for number in review["region_id"] if number))
    short, full = found.regions.names(), found.regions.words(np.array(regions, dtype=np.intp))
    signals = [name for name in SIGNALS if _values(state, name) is not None]
    fields: dict[str, list[Any]] = {
        "row": row_numbers(found)[top].tolist(),
        "id": [] if identity is None else [identifier(v) for v in identity.to_numpy()[top]],
        "predicted": state.decision.astype(int).tolist(),
        "actual": [] if found.codes is None else found.codes[top].astype(int).tolist(),
        "confidence": _rounded(state.confidence),
        "suspicion": _rounded(review["suspicion"].to_numpy(dtype=np.float64)),
        "risk": _risk(found, top),
        "region": [regions.index(n) if n else -1 for n in review["region_id"]],
        "reason": [text(reason, 400) for reason in review["reason"]],
        "neighbours": _neighbours(state),
        "signals": _transposed([_rounded(_shown(state, name)) for name in signals]),
        "doubt": _transposed([_doubt(found, state, name) for name in signals]),
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
        "signals": [{"label": SIGNALS[n].label, "unit": SIGNALS[n].unit} for n in signals],
        "columns": [text(name, MAX_NAME) for name in list(found.table.kinds)[:MAX_COLUMNS]],
        "columns_left_out": max(0, len(found.table.kinds) - MAX_COLUMNS),
    }


def _within_budget(rows: list[list[Any]]) -> list[list[Any]]:
    """Return as many of the first rows as the page has room for."""
    sizes = np.cumsum([len(json.dumps(row)) for row in rows])
    return rows[: int(np.searchsorted(sizes, MAX_BYTES, side="right"))]


def _risk(found: Finding, top: IntArray) -> list[float | None]:
    risk = found.risk()
    return [] if risk is None else _rounded(risk[top])


def _neighbours(state: State) -> list[list[int]]:
    """Return how many neighbours each row has, and how many carry the predicted label."""
    if "labelled_as_predicted" not in state.evidence:
        return []
    k = state.evidence["neighbours"].to_numpy(dtype=int)
    alike = np.rint(state.evidence["labelled_as_predicted"].to_numpy() * k).astype(int)
    return np.column_stack([k, alike]).tolist()


def _values(state: State, name: str) -> FloatArray | None:
    for frame in (state.signals, state.evidence):
        if name in frame:
            return frame[name].to_numpy(dtype=np.float64)
    return None


def _shown(state: State, name: str) -> FloatArray:
    values = _values(state, name)
    assert values is not None
    unit = SIGNALS[name].unit
    if unit == "ratio":
        return np.asarray(np.exp(values))
    return np.asarray(expit(values)) if unit == "odds" else values


def _doubt(found: Finding, chosen: State, name: str) -> list[float | None]:
    """Return the share of confident predictions on which the signal casts less doubt."""
    everywhere, here = _values(found.state, name), _values(chosen, name)
    assert everywhere is not None
    assert here is not None
    sign = 1.0 if SIGNALS[name].doubtful_if_large else -1.0
    usual = np.sort(sign * everywhere[found.state.eligible(found.tau)])
    below = np.searchsorted(usual, sign * here, side="left")
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
