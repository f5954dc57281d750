"""What `auto` finds with more than two classes, and whether its risk holds."""

from __future__ import annotations

import pandas as pd

from figures.common import results, table

# With fewer confident errors a difference of two AUROCs means nothing.
MIN_EVENTS = 5


def gains() -> pd.DataFrame:
    """Return the runs with confident errors enough to compare."""
    known = results("multiclass.csv")
    return known[known["events"] >= MIN_EVENTS]


def multiclass_table() -> str:
    """Return the mean AUROCs of each data set, and how often one ranking is clearly better."""
    known, rows = gains(), []
    every = results("multiclass.csv")
    for data, all_runs in every.groupby("data", sort=False):
        own = known[known["data"] == data]
        rows.append([str(data), *_figures(own, all_runs)])
    rows.append(["**all**", *_figures(known, every)])
    heads = [
        "data", "classes", "confident errors", "runs compared", "gated confidence", "auto",
        "mean gain", "clearly above / below", "risk tenths within their interval",
    ]  # fmt: skip
    return table(heads, rows)


def _figures(runs: pd.DataFrame, every: pd.DataFrame) -> list[str]:
    classes = sorted(every["classes"].unique())
    shown = [
        f"{classes[0]}" if len(classes) == 1 else f"{classes[0]} to {classes[-1]}",
        f"{int(every.loc[every['tau'] == 0.8, 'events'].sum()):,}",
        f"{len(runs)} of {len(every)}",
    ]
    held = f"{every['tenths_held'].mean():.1f} of 10"
    if runs.empty:
        return [*shown, "", "", "", "", held]
    above, below = int((runs["low"] > 0).sum()), int((runs["high"] < 0).sum())
    return [
        *shown,
        f"{runs['gated_confidence'].mean():.3f}",
        f"{runs['auto'].mean():.3f}",
        f"{runs['gain'].mean():+.3f}",
        f"{above} / {below}",
        held,
    ]


def multiclass_risk_table() -> str:
    """Return in how many tenths of the risk the predicted rate lies in the observed interval."""
    known, rows = results("multiclass_risk.csv"), []
    for (model, tau), bins in known.groupby(["model", "tau"], sort=False):
        inside = (bins["predicted"] >= bins["low"]) & (bins["predicted"] <= bins["high"])
        near = (bins["predicted"] - bins["observed"]).abs() <= bins["reach"]
        predicted = (bins["predicted"] * bins["rows"]).sum()
        rows.append(
            [
                str(model),
                f"{tau:g}",
                f"{bins['rows'].sum():,}",
                f"{predicted:,.0f}",
                f"{bins['events'].sum():,}",
                f"{int(near.sum())} of {len(bins)}",
                f"{int(inside.sum())} of {len(bins)}",
            ]
        )
    heads = [
        "model", "tau", "eligible rows", "errors predicted", "found",
        "risk tenths within their interval", "as if rows were independent",
    ]  # fmt: skip
    return table(heads, rows)


TABLES = {"multiclass": multiclass_table, "multiclass_risk": multiclass_risk_table}
