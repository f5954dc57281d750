"""What simulations with known truth say about each claim."""

from __future__ import annotations

import pandas as pd

from figures.common import results, table

AREAS = {
    "ties": "Order of rows, and few distinct scores",
    "batches": "Batches, bands and copies",
    "groups": "Rows in groups",
    "weights": "Weighted rows",
    "intervals": "Intervals of AUROC with few events",
    "pooled": "Gains pooled over seeds",
    "conflict": "Chosen slices",
    "regions": "Regions",
    "risk": "The risk",
    "leak": "Rows of the fit",
    "time": "Rows that change with time",
    "monitor": "Batches without labels",
}


# Such a line shows a figure, such as what a guarantee costs, and claims nothing.
NOTHING = "at least 0%"


def claims_table() -> str:
    """Return claim, nominal, before and after, by area."""
    after, before = (results("statistics", f"{name}.csv") for name in ("after", "before"))
    keys = ["area", "claim"]
    both = after.merge(before[[*keys, "value"]], on=keys, how="left", suffixes=("", "_before"))
    rows = []
    for area, part in both.groupby("area", sort=False):
        rows.append([f"**{AREAS[area]}**", "", "", "", "", ""])
        rows += [
            [
                line.claim,
                "" if line.nominal == NOTHING else line.nominal,
                f"{line.value_before:.3f}" if pd.notna(line.value_before) else "",
                f"{line.value:.3f} [{line.low:.3f}, {line.high:.3f}]",
                f"{line.draws:,}",
                "" if line.nominal == NOTHING else "yes" if line.holds else "**no**",
            ]
            for line in part.itertuples()
        ]
    return table(["claim", "nominal", "0.1.0", "now [95% interval]", "draws", "holds"], rows)


def summary_table() -> str:
    """Return how many claims of each area hold, and how many of these failed a release ago."""
    after, before = (results("statistics", f"{name}.csv") for name in ("after", "before"))
    rows = []
    for area, part in after[after["nominal"] != NOTHING].groupby("area", sort=False):
        failed = before[(before["area"] == area) & ~before["holds"]]["claim"]
        fixed = int((part["holds"] & part["claim"].isin(failed)).sum())
        low, high = part["draws"].min(), part["draws"].max()
        draws = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        held = int(part["holds"].sum())
        rows.append([AREAS[area], str(len(part)), draws, str(held), str(fixed)])
    return table(["claims about", "claims", "draws of each", "hold", "fixed since 0.1.0"], rows)


TABLES = {"claims": claims_table, "claims_summary": summary_table}
