"""The paper's numbers beside ours."""

from __future__ import annotations

from typing import Any

import pandas as pd

from falcon_discover.bench import plan
from falcon_discover.bench.check import (
    INTERVALS,
    NOT_RUN,
    SAMPLE,
    counted,
    paper_values,
    reasons,
)
from falcon_discover.bench.verdicts import (
    AGREES,
    CANNOT_TELL,
    CHANCE,
    CHOICE,
    DIFFERS,
    KINDS,
    NOT_DEFINED,
    operating,
)
from figures.common import ROOT, results, table

TITLES = {**plan.TITLES, "mean_of_three": "mean of three", "all": "all data sets"}
EXPECTED_BY_CHANCE = 0.05


def lines() -> pd.DataFrame:
    """Return the check; a value that repeats another names the table that has it first."""
    known = results("check.csv")
    known["repeats"] = known["repeats"].fillna("")
    return known


def judged(known: pd.DataFrame) -> pd.DataFrame:
    """Return distinct values that were judged."""
    return known[known["verdict"].isin([AGREES, DIFFERS, CANNOT_TELL]) & (known["repeats"] == "")]


def verdict_table() -> str:
    """Return how many values have which verdict, and how they spread over the data sets."""
    known = lines()
    order = [AGREES, DIFFERS, CANNOT_TELL, NOT_DEFINED, SAMPLE, NOT_RUN]
    counts = counted(known).reindex(order).dropna(how="all").fillna(0)
    rows = [
        [name, f"{row['printed']:.0f}", f"{row['distinct']:.0f}"] for name, row in counts.iterrows()
    ]
    own = judged(known)
    sets = pd.crosstab(own["dataset"], own["verdict"])
    by_set = [
        [TITLES[name], *(str(sets.loc[name].get(v, 0)) for v in (AGREES, DIFFERS, CANNOT_TELL))]
        for name in plan.DATASETS
        if name in sets.index
    ]
    aside = known[known["verdict"].isin([SAMPLE, NOT_RUN])]
    return (
        f"The paper prints {len(known)} values; {int((known['repeats'] == '').sum())} of them are "
        "distinct, because some figures are in two or three tables.\n"
        f"{len(aside)} cannot be compared (MiniBooNE, of which we have a sample, with every mean "
        "that includes it).\n\n"
        f"{table(['verdict', 'printed values', 'distinct'], rows)}\n\n"
        f"{table(['distinct, by data set', AGREES, DIFFERS, CANNOT_TELL], by_set)}"
    )


def margin_table() -> str:
    """Return the margins and their reasons."""
    rows = []
    for kind in KINDS:
        size = f"{kind.margin:g}"
        if kind.relative:
            size = f"{100 * kind.margin:.0f}%"
        elif kind is CHANCE:
            size = f"factor {kind.margin:g}"
        elif kind is CHOICE:
            size = "none"
        rows.append([kind.name, size, kind.why])
    return table(["figure", "margin", "reason"], rows)


def operating_words() -> str:
    """Return what the verdicts do when the truth is known."""
    own = judged(lines())
    share = operating(own)

    def said(shift: float) -> str:
        parts = (f"*{name}* in {100 * share.loc[shift, name]:.0f}%" for name in share.columns)
        return ", ".join(parts)

    return (
        f"Simulated with the spread of our seeds: in an exact replication the verdict is "
        f"{said(0.0)} of the figures.\nIf the paper's figure is off by one standard deviation of "
        f"a seed, it is {said(1.0)}; by two, {said(2.0)}."
    )


def differing_list() -> str:
    """Return every differing value under its reason."""
    known = lines()
    own = known[(known["verdict"] == DIFFERS) & (known["repeats"] == "")]
    chance = EXPECTED_BY_CHANCE * len(judged(known))
    parts = [
        f"{len(own)} distinct values differ. If all figures were truly the same, up to "
        f"{chance:.0f} would differ by chance."
    ]
    for reason in reasons():
        cells = own[own["reason"] == reason.key]
        if len(cells):
            rows = [_row(line) for line in cells.itertuples()]
            heads = ["data set", "figure", "paper", "ours", "difference, 95% interval"]
            parts.append(f"### {reason.title}\n\n{reason.text}\n\n{table(heads, rows)}")
    return "\n\n".join(parts)


def _row(line: Any) -> list[str]:
    gap = "" if pd.isna(line.difference) else f"{line.difference:+.3f}"
    if not pd.isna(line.half_width):
        low, high = line.difference - line.half_width, line.difference + line.half_width
        gap += f" [{low:+.3f}, {high:+.3f}]"
    return [TITLES[line.dataset], f"`{line.figure}`", _number(line.paper), _number(line.ours), gap]


def _number(value: str) -> str:
    try:
        number = float(value)
    except ValueError:
        return value
    if number and abs(number) < 0.001:
        return f"{number:.1g}"
    return f"{number:g}" if number.is_integer() and number >= 1 else f"{number:.3f}"


def implied_table() -> str:
    """Return the numbers of events that the printed null intervals imply."""
    # As it was written: counts that are missing for some data sets would turn into 117.0.
    path = ROOT / "results" / "tables" / "implied_events.csv"
    known = pd.read_csv(path, dtype=str, keep_default_na=False)
    heads = [
        "data set", "test rows", "printed null interval", "events it implies", "printed p",
        "events it implies", "events printed", "events here", "errors of any confidence here",
    ]  # fmt: skip
    return table(heads, known.to_numpy().tolist())


def symmetric_words() -> str:
    """Return how many of the paper's intervals are symmetric."""
    # A percentile bootstrap of four values is symmetric only by accident.
    gaps = [
        abs(row[f"{name}_low"] + row[f"{name}_high"] - 2 * mean)
        for row in paper_values()[INTERVALS].values()
        for name, mean in row.items()
        if not name.endswith(("_low", "_high"))
    ]
    return (
        f"{sum(gap < 1e-9 for gap in gaps)} of the {len(gaps)} bootstrap intervals over seeds are "
        "symmetric about their mean to the last digit."
    )


def contract_table() -> str:
    """Return the verdict of the evaluation contract by data set."""
    known = results("tables", "evaluation_contract.csv")
    rows = [
        [row["row"], row["verdict"], f"{float(row['delta_gated_over_family']):+.3f}"]
        for _, row in known.iterrows()
    ]
    return table(["data set", "verdict", "gated confidence over the family, Capture@20"], rows)


TABLES = {
    "verdicts": verdict_table,
    "margins": margin_table,
    "operating": operating_words,
    "differing": differing_list,
    "implied": implied_table,
    "symmetric": symmetric_words,
    "contract": contract_table,
}
