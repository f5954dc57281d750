"""Scores in the columns of a file: one of two classes, or one column for each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.exceptions import InputError
from falcon_discover.models.proba import if_percent
from falcon_discover.runtime.records import scalar
from falcon_discover.runtime.types import FloatArray


def scores_in(
    table: pd.DataFrame, columns: Sequence[str], classes: npt.NDArray[Any]
) -> FloatArray | None:
    """Return the scores of one column, or those of each class in the classes' order.

    Without any column there are none.
    """
    if not columns:
        return None
    if len(columns) == 1:
        return column_scores(table[columns[0]])
    ordered = in_class_order(columns, classes)
    return np.column_stack([column_scores(table[column]) for column in ordered])


def in_class_order(columns: Sequence[str], classes: npt.NDArray[Any]) -> list[str]:
    """Return columns that are called by their class, in the order of the classes.

    They may all begin alike: `p_a`, `p_b`, `p_c`.

    Examples
    --------
    >>> import numpy as np
    >>> in_class_order(["p_b", "p_a"], np.array(["a", "b"]))
    ['p_a', 'p_b']
    """
    names = [str(scalar(label)) for label in classes]
    prefixes = {column.removesuffix(name) for column in columns for name in names}
    for prefix in sorted(prefixes, key=len):
        ordered = [f"{prefix}{name}" for name in names]
        if sorted(ordered) == sorted(columns):
            return ordered
    raise InputError(
        f"--proba names {', '.join(columns)}, but the classes are {', '.join(names)}: name one "
        "column per class that ends in the class, such as "
        f"{','.join(f'p_{name}' for name in names)}."
    )


def column_scores(column: pd.Series) -> FloatArray:
    """Return the scores of a column, or say which one cannot be a probability."""
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    texts = np.flatnonzero(np.isnan(numbers) & column.notna().to_numpy())
    bad = texts if len(texts) else np.flatnonzero(~((numbers >= 0) & (numbers <= 1)))
    if not len(bad):
        return numbers
    value = column.iloc[bad[0]]
    percent = "%" in str(value) and isinstance(value, str)
    hint = " Write percentages as shares: divide by 100." if percent else if_percent(numbers)
    held = repr(value) if len(texts) else "nothing" if pd.isna(value) else str(value)
    raise InputError(
        f"--proba names the column {column.name!r}, which holds {held} in row {bad[0]} "
        f"({len(bad):,} such row{'s' if len(bad) > 1 else ''}): give numbers between 0 and "
        f"1.{hint}"
    )
