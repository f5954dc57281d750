"""What all groups share."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[2]


def results(*parts: str) -> pd.DataFrame:
    """Return a committed table by its path below `results/`."""
    return pd.read_csv(ROOT.joinpath("results", *parts))


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
