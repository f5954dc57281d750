"""Time and memory."""

from __future__ import annotations

import numpy as np
import pandas as pd

from figures.common import results, table

TABLE_NAMES = {"adult": "Adult", "nomao": "Nomao", "synthetic": "synthetic"}


def _by_rows(runs: pd.DataFrame) -> str:
    rows = [
        [f"{int(r.rows):,}", f"{r.seconds:,.1f}", f"{r.cpu_seconds:,.1f}", f"{r.peak_mb:,.0f}"]
        for r in runs.itertuples()
    ]
    return table(["rows", "seconds", "processor seconds", "peak memory, MB"], rows)


def scale_monitor_table() -> str:
    """Return time and memory of monitoring by number of rows."""
    return _by_rows(results("scale_monitor.csv").sort_values("rows"))


def scale_table() -> str:
    """Return time and memory of scoring by number of rows, and the exponents of growth."""
    runs = results("scale.csv").sort_values("rows")
    start, grown = runs.iloc[0], runs.iloc[1:]
    slopes = [
        np.polyfit(np.log(grown["rows"]), np.log(grown[name] - start[name]), 1)[0]
        for name in ("cpu_seconds", "seconds")
    ]
    growth = (
        f"Exponent of growth beyond the start: {slopes[0]:.3f} in processor seconds, "
        f"{slopes[1]:.3f} in seconds."
    )
    return f"{_by_rows(runs)}\n\n{growth}"


def reference_table() -> str:
    """Return what saving a sample of the reference rows, or none, costs."""
    runs = results("saved_reference.csv")
    means = runs.drop(columns="seed").groupby("reference", sort=False).mean()
    rows = [
        [
            f'`"{kept}"`',
            f"{r.rows:,.0f}",
            f"{r.file_mb:.1f}",
            f"{r.eligible_auroc:.3f}",
            f"{r.capture_20:.3f}",
            f"{r.capture_05:.3f}",
        ]
        for kept, r in means.iterrows()
    ]
    heads = ["reference", "rows", "file, MB", "eligible AUROC", "Capture@20", "Capture@5"]
    return table(heads, rows) + f"\n\nMeans over {runs['seed'].nunique()} seeds."


def floor_table() -> str:
    """Return the time of the state over its floor, and plain loops over the state."""
    rows = [
        [
            f"{TABLE_NAMES[r.table]}, {r.backbone}",
            f"{r.reference_rows:,} x {r.coordinates}",
            f"{r.rows:,}",
            f"{r.floor:.2f} ({r.searching:.2f})",
            f"{r.state:.2f}",
            f"**{r.over_floor:.2f}**",
            f"{r.over_floor_cpu:.2f}",
            f"{r.extended_over_floor:.2f}",
            f"{r.plain_loop_over_state:.1f}",
            f"{r.row_loop_over_state:.0f}",
        ]
        for r in results("performance", "state_floor.csv").itertuples()
    ]
    heads = [
        "table, model", "reference", "rows", "floor (search), s", "state, s",
        "state / floor", "in processor time", "all signals / floor", "plain loop / state",
        "loop over rows / state",
    ]  # fmt: skip
    return table(heads, rows)


def peers_table() -> str:
    """Return time and peak memory beside other tools."""
    known = results("performance", "peers.csv")
    rows = []
    for case, sides in known.groupby("case", sort=False):
        ours = sides.set_index("tool").loc["ours"]
        for r in sides.itertuples():
            ratio = r.seconds / ours["seconds"]
            limit = "more than " if r.stopped else ""
            rows.append(
                [
                    case,
                    r.tool,
                    f"{limit}{r.seconds:,.2f}",
                    "" if r.tool == "ours" else f"{limit}{ratio:,.2g}",
                    "" if pd.isna(r.peak_mb) else f"{r.peak_mb:,.0f}",
                ]
            )
    return table(["", "", "seconds", "times ours", "peak memory, MB"], rows)


def fit_memory_table() -> str:
    """Return the peak memory of a fit."""
    rows = [
        [
            f"{r.rows:,} x {r.columns}",
            str(len(r.candidates.split())),
            r.selected,
            f"{r.cpu_seconds / 60:,.0f}",
            f"**{r.peak_mb / 1000:.2f}**",
        ]
        for r in results("performance", "fit_memory.csv").itertuples()
    ]
    heads = ["table", "candidates", "selected", "processor minutes", "peak memory, GB"]
    return table(heads, rows)


def sizing_table() -> str:
    """Return what scoring costs by reference rows, columns and model."""
    rows = []
    for r in results("performance", "sizing.csv").itertuples():
        hours = [r.microseconds_per_row * millions / 3600 for millions in (1, 100)]
        rows.append(
            [
                r.model,
                f"{r.reference_rows:,}",
                str(r.columns),
                f"{r.microseconds_per_row:,.0f}",
                *(f"{hour:,.2g}" for hour in hours),
                f"{r.peak_mb:,.0f}",
                f"{r.audit_mb:,.0f}",
            ]
        )
    heads = [
        "model", "reference rows", "columns", "microseconds per row", "core-hours, 1 million rows",
        "100 million (extrapolated)", "memory per process, MB", "audit, MB",
    ]  # fmt: skip
    return table(heads, rows)


TABLES = {
    "scale": scale_table,
    "scale_monitor": scale_monitor_table,
    "reference": reference_table,
    "floor": floor_table,
    "peers": peers_table,
    "fit_memory": fit_memory_table,
    "sizing": sizing_table,
}
