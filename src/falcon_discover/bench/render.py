"""Tables as Markdown, CSV and LaTeX."""

from __future__ import annotations

import math

import pandas as pd

from falcon_discover.bench import plan
from falcon_discover.bench.tables import Cell, Table

WHOLE = {
    "events", "prior_at20", "family_at20", "gated_at20", "events_to_learn_from", "events_here",
    "all_errors_here",
}  # fmt: skip
COUNTS = {
    "datasets",
    "positive_delta_auroc",
    "positive_delta_cap20",
    "positive_threshold_settings",
    "learned_selected",
    "stability_selected",
    "gated_above_family_cap20",
}


def wide(table: Table) -> pd.DataFrame:
    """Return the table as people read it: rows, columns, formatted cells."""
    table = [cell for cell in table if cell.shown]
    rows = list(dict.fromkeys(cell.row for cell in table))
    columns = list(dict.fromkeys(cell.column for cell in table))
    frame = pd.DataFrame("", index=rows, columns=columns, dtype=object)
    for cell in table:
        frame.loc[cell.row, cell.column] = shown(cell)
    return frame.rename(index=plan.TITLES, columns=plan.TITLES)


def shown(cell: Cell) -> str:
    """Return a cell as text; a mean over fewer seeds than there are says so.

    Examples
    --------
    >>> shown(Cell("adult", "learned", (0.70, 0.75, float("nan"))))
    '0.725 (2 of 3)'
    """
    if cell.text or not cell.numbers:
        return cell.text
    defined = sum(math.isfinite(value) for value in cell.numbers)
    if not defined:
        return "not defined"
    if cell.column in WHOLE:
        text = f"{cell.mean:.2f}"
    elif cell.row in COUNTS or cell.column == "best_k":
        text = f"{cell.mean:.0f}"
    elif cell.column.startswith("p_"):
        text = f"{cell.mean:.2g}"
    elif cell.column.startswith("delta") or cell.row.startswith(("mean_delta",)):
        text = f"{cell.mean:+.3f}"
    else:
        text = f"{cell.mean:.3f}"
    return text if defined == len(cell.numbers) else f"{text} ({defined} of {len(cell.numbers)})"


def tidy(name: str, table: Table, seeds: tuple[int, ...]) -> pd.DataFrame:
    """Return one line per number: table, row, column, seed (empty if not per seed), value."""
    lines: list[tuple[str, str, str, int | str, str]] = []
    for cell in table:
        if cell.text or not cell.numbers:
            lines.append((name, cell.row, cell.column, "", cell.text))
        elif len(cell.numbers) == len(seeds):
            lines += [
                (name, cell.row, cell.column, seed, f"{value:.6f}")
                for seed, value in zip(seeds, cell.numbers, strict=True)
            ]
        else:
            lines.append((name, cell.row, cell.column, "", f"{cell.numbers[0]:.6f}"))
    return pd.DataFrame(lines, columns=["table", "row", "column", "seed", "value"])


def markdown(frame: pd.DataFrame) -> str:
    """Return a Markdown table.

    Examples
    --------
    >>> print(markdown(pd.DataFrame({"a": ["1"]}, index=["x"])))
    |  | a |
    |---|---|
    | x | 1 |
    """
    lines = [["", *map(str, frame.columns)], ["---"] * (frame.shape[1] + 1)]
    lines += [
        [str(row), *map(str, values)]
        for row, values in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    return "\n".join(
        "|" + "|".join(line) + "|" if line[0] == "---" else "| " + " | ".join(line) + " |"
        for line in lines
    )


def latex(frame: pd.DataFrame, label: str) -> str:
    """Return a LaTeX table in the booktabs style."""

    def row(cells: list[str]) -> str:
        return " & ".join(cell.replace("_", r"\_").replace("%", r"\%") for cell in cells) + r" \\"

    body = [row(list(map(str, cells))) for cells in frame.itertuples()]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\label{{{label}}}",
            rf"\begin{{tabular}}{{l{'c' * frame.shape[1]}}}",
            r"\toprule",
            row(["", *map(str, frame.columns)]),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )
