"""Eight weeks of the daily loop, as `examples/daily_loop.py` measured them."""

from __future__ import annotations

from figures.common import results, table


def weeks() -> str:
    """Return one line for each week."""
    known = results("daily_loop.csv")
    return table(list(known), [[str(value) for value in line] for line in known.to_numpy()])


TABLES = {"daily_loop": weeks}
