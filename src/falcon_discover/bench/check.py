"""Every printed number of the paper beside ours, with a verdict."""

from __future__ import annotations

import math
import tomllib
from importlib.resources import files
from typing import Any

import pandas as pd

from falcon_discover.bench.loading import Study
from falcon_discover.bench.tables import TABLES, Cell

INTERVALS = "tab:all_dataset_uncertainty"
MAIN = "tab:main_discrepancy_family"
PAPERS_NAME = {"miniboone_subset": "miniboone"}
# Printed numbers have three decimals at most.
ROUNDING = 0.0005

IN_INTERVAL = "within the paper's interval"
IN_SPREAD = "within our seed spread"
DIFFERS = "differs"
SAMPLE = "other data (a sample of MiniBooNE)"
NOT_RUN = "not run"


Values = dict[str, dict[str, Any]]


def paper_values() -> dict[str, Values]:
    """Return the paper's printed numbers: table, row, column."""
    return {label: table for label, table in _file().items() if label.startswith("tab:")}


def prototype_values() -> Values:
    """Return what an independent prototype of the paper's protocol measured, by data set."""
    return _file()["prototype"]


def _file() -> dict[str, Values]:
    text = files("falcon_discover.bench").joinpath("paper_values.toml").read_text()
    return tomllib.loads(text)


def check(study: Study) -> pd.DataFrame:
    """Return one line per printed number: ours, the paper's, the seeds' range, the verdict."""
    printed = paper_values()
    ours = {
        label: _by_place(study.once(label, TABLES[label])) for label in printed if label in TABLES
    }
    lines = []
    for label, table in printed.items():
        if label == INTERVALS:
            continue
        for row, columns in table.items():
            for column, value in columns.items():
                cell = ours[label].get((row, column))
                lines.append(
                    {
                        "table": label,
                        "row": row,
                        "column": column,
                        "paper": value,
                        **_judge(cell, value, _interval(printed, label, row, column)),
                        "sample": _is_sample(row, column),
                    }
                )
    frame = pd.DataFrame(lines)
    is_sample = frame.pop("sample") & (frame["verdict"] != NOT_RUN)
    frame.loc[is_sample, "verdict"] = SAMPLE
    return frame


def _by_place(table: list[Cell]) -> dict[tuple[str, str], Cell]:
    return {
        (PAPERS_NAME.get(cell.row, cell.row), PAPERS_NAME.get(cell.column, cell.column)): cell
        for cell in table
    }


def _is_sample(row: str, column: str) -> bool:
    return "miniboone" in (row, column)


def _interval(
    printed: dict[str, Values], label: str, row: str, column: str
) -> tuple[float, float] | None:
    if label != MAIN:
        return None
    found = printed[INTERVALS].get(row, {}).get(column)
    return None if found is None else (float(found[0]), float(found[1]))


def _judge(cell: Cell | None, paper: Any, interval: tuple[float, float] | None) -> dict[str, Any]:
    """Return our value, the seeds' range and the verdict.

    Examples
    --------
    >>> _judge(Cell("adult", "learned", (0.70, 0.80)), 0.718, None)["verdict"]
    'within our seed spread'
    """
    if cell is None or cell.text == NOT_RUN:
        return {"ours": None, "low": None, "high": None, "verdict": NOT_RUN}
    if isinstance(paper, str):
        verdict = "same" if cell.text == paper else DIFFERS
        return {"ours": cell.text, "low": None, "high": None, "verdict": verdict}
    known = [number for number in cell.numbers if math.isfinite(number)]
    if not known:
        return {"ours": None, "low": None, "high": None, "verdict": "not defined"}
    low, high = min(known) - ROUNDING, max(known) + ROUNDING
    if interval is not None and interval[0] <= cell.mean <= interval[1]:
        verdict = IN_INTERVAL
    elif low <= float(paper) <= high:
        verdict = IN_SPREAD
    else:
        verdict = DIFFERS
    return {"ours": round(cell.mean, 6), "low": min(known), "high": max(known), "verdict": verdict}
