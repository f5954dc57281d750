"""Whether `label_doubt()` tells flipped labels from errors of the model."""

from __future__ import annotations

import pandas as pd

from figures.common import results, table

# With fewer flipped labels, or fewer errors of the model, an AUROC means nothing.
MIN_EACH = 3
SCORES = {
    "label_doubt": "label_doubt",
    "confidence": "confidence",
    "self_confidence": "cleanlab: self-confidence",
    "normalized_margin": "cleanlab: normalized margin",
    "opinion_mean": "second opinions",
    "neighbours": "neighbours' labels",
}


def ranked(known: pd.DataFrame) -> pd.DataFrame:
    """Return the runs in which there is enough to tell apart."""
    errors = known["errors"] - known["flipped"]
    return known[(known["flipped"] >= MIN_EACH) & (errors >= MIN_EACH)]


def auroc_table() -> str:
    """Return the mean AUROC of each score, by share of flipped labels and by data set."""
    known = ranked(results("label_doubt.csv"))
    rows = [
        [f"**all, {noise:.0%} flipped**", *_aurocs(runs)] for noise, runs in known.groupby("noise")
    ]
    at_one = known[known["noise"] == 0.01]
    rows += [
        [f"{data}, 1% flipped", *_aurocs(runs)] for data, runs in at_one.groupby("data", sort=False)
    ]
    return table(["data", "runs", "flipped", *SCORES.values()], rows)


def _aurocs(runs: pd.DataFrame) -> list[str]:
    means = [f"{runs[name].mean():.3f}" for name in SCORES]
    return [str(len(runs)), str(int(runs["flipped"].sum())), *means]


def count_table() -> str:
    """Return expected against flipped labels, and how often the interval covers it."""
    known, rows = results("label_doubt.csv"), []
    known["kind"] = known["data"].isin(["bent", "three"]).map({True: "generated", False: "real"})
    for noise, runs in known.groupby("noise"):
        for kind in ("real", "generated"):
            part = runs[runs["kind"] == kind]
            held = (part["low"] <= part["flipped"]) & (part["flipped"] <= part["high"])
            rows.append(
                [
                    f"{noise:.0%}",
                    kind,
                    str(len(part)),
                    f"{int(part['errors'].sum()):,}",
                    str(int(part["flipped"].sum())),
                    f"{part['expected'].sum():.0f}",
                    f"{int(held.sum())} of {len(part)}",
                ]
            )
    heads = [
        "labels flipped", "tables", "runs", "confident errors", "flipped among them",
        "expected to be wrong", "covered by the 95% interval",
    ]  # fmt: skip
    return table(heads, rows)


def bins_table() -> str:
    """Return doubts against what came of them, over all runs with flipped labels."""
    known = results("label_doubt_bins.csv")
    known = known[known["noise"] > 0].groupby(["from", "to"], as_index=False).sum()
    rows = [
        [
            f"{line['from']:g} to {line['to']:g}",
            f"{int(line['labels']):,}",
            f"{line['expected']:.0f}",
            f"{line['flipped']:.0f}",
        ]
        for line in known.to_dict("records")
    ]
    return table(["label_doubt", "labels", "expected to be wrong", "flipped"], rows)


TABLES = {
    "label_doubt_auroc": auroc_table,
    "label_doubt_count": count_table,
    "label_doubt_bins": bins_table,
}
