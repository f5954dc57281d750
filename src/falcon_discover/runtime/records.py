"""What is written as JSON: plain values, rows of a table, the text, and what differs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from falcon_discover.runtime.words import is_count

if TYPE_CHECKING:
    import pandas as pd


def scalar(value: Any) -> Any:
    """Return a number or text of numpy's as Python's own, and anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def plain(value: Any) -> Any:
    """Return dicts, lists, numbers and texts that JSON can carry; None for what is not defined.

    Examples
    --------
    >>> plain({"rows": np.int64(3), "rate": np.nan, "range": (0.5, np.float64(1))})
    {'rows': 3, 'rate': None, 'range': [0.5, 1.0]}
    """
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    value = scalar(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain dicts."""
    return [plain(row) for row in frame.to_dict("records")]


def framed(lines: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return lines as a frame in which budgets stay what they are: numbers of rows, or shares."""
    import pandas as pd

    frame = pd.DataFrame(lines)
    if "budget" in frame and len({is_count(line["budget"]) for line in lines}) > 1:
        frame["budget"] = pd.Series([line["budget"] for line in lines], dtype=object)
    return frame


def json_text(content: Any) -> str:
    """Return JSON text that every language can read."""
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def first_difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Return in words what two records first differ in when written as JSON, or None.

    Examples
    --------
    >>> first_difference({"part_rows": 10}, {"part_rows": 20})
    'part_rows was 10 and is 20'
    >>> first_difference({"taus": [0.9], "seed": 7}, {"seed": 7, "taus": (0.9,)})
    """
    for key in {**now, **before}:
        then, value = before.get(key), now.get(key)
        if json.dumps(then, sort_keys=True) != json.dumps(value, sort_keys=True):
            return f"{key} was {then!r} and is {value!r}"
    return None
