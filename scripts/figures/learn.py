"""What learning from reviewed rows brings, over simulated weeks."""

from __future__ import annotations

from functools import partial

import pandas as pd

from figures.common import results, table

METHODS = ("frozen", "marks alone", "refit", "learn", "learn weekly")
TENTHS = range(1, 11)


def learn_table(name: str) -> str:
    """Return what each way of learning finds and foresees, over all runs."""
    known, rows = results(f"{name}.csv"), []
    for world in known["world"].unique():
        for method in METHODS:
            runs = known[(known["world"] == world) & (known["method"] == method)]
            rows.append([world, method, *_figures(runs)])
    heads = [
        "world", "method", "confident errors found", "mean share found", "expected / observed, all",
        "in the reviewed 5%", "total gap over tenths",
    ]  # fmt: skip
    return table(heads, rows)


def _figures(runs: pd.DataFrame) -> list[str]:
    total = runs.sum(numeric_only=True)
    # How far the expected number is from the observed one in each tenth of the risk, added up.
    gap = sum(abs(total[f"expected_{k}"] - total[f"events_{k}"]) for k in TENTHS)
    return [
        f"{total['captured']:,.0f} of {total['events']:,.0f}",
        f"{(runs['captured'] / runs['events']).mean():.3f}",
        f"{total['expected'] / total['events']:.2f}",
        f"{total['expected_reviewed'] / total['captured']:.2f}",
        f"{gap / total['events']:.2f}",
    ]


def learn_by_data(name: str) -> str:
    """Return the share found by data set."""
    known, rows = results(f"{name}.csv"), []
    for data in known["dataset"].unique():
        for world in known["world"].unique():
            runs = known[(known["dataset"] == data) & (known["world"] == world)]
            by = runs.groupby("method")[["captured", "events", "expected"]].sum()
            share, level = by["captured"] / by["events"], by["expected"] / by["events"]
            shown = [f"{share[m]:.3f} ({level[m]:.2f})" for m in METHODS]
            rows.append([str(data), str(world), f"{by['events'].iloc[0]:,.0f}", *shown])
    return table(["data", "world", "confident errors", *METHODS], rows)


TABLES = {
    "learn": partial(learn_table, "learn"),
    "learn_by_data": partial(learn_by_data, "learn"),
    "learn_outside": partial(learn_table, "learn_outside"),
    "learn_outside_by_data": partial(learn_by_data, "learn_outside"),
    "learn_unseen": partial(learn_table, "learn_unseen"),
    "learn_unseen_by_data": partial(learn_by_data, "learn_unseen"),
}
