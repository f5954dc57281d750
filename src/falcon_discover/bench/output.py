"""Build tables and write them as Markdown, CSV and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from falcon_discover.bench import plan
from falcon_discover.bench.check import implied_events
from falcon_discover.bench.claims import evaluation_contract
from falcon_discover.bench.coverage import calibration, guarantee, in_the_large
from falcon_discover.bench.loading import Study
from falcon_discover.bench.ranker_study import Beyond, grid, permuted, rankings
from falcon_discover.bench.store import RunKey
from falcon_discover.bench.tables import TABLES, Cell, Table
from falcon_discover.exceptions import InputError
from falcon_discover.runtime.atomic import write_text

WHOLE = {
    "events", "prior_at20", "family_at20", "gated_at20", "events_to_learn_from", "events_here",
    "all_errors_here",
}  # fmt: skip
COUNTS = {
    "datasets", "positive_delta_auroc", "positive_delta_cap20", "positive_threshold_settings",
    "learned_selected", "stability_selected", "gated_above_family_cap20",
}  # fmt: skip
# Tables that the paper does not have.
OURS = {"evaluation_contract": evaluation_contract, "implied_events": implied_events}
REGION_NOTE = (
    "Clusters are numbered by the confident errors of the rows they are judged on, as in the "
    "paper: top1_mass is the largest of six, and too high for new rows."
)
BASELINE_NOTE = (
    "Each model from lightgbm to saint_rows is a base model of its own: its own confident errors, "
    "ranked by its own confidence, the surest first. realmlp_smoothed has its authors' defaults "
    "and stands beside the paper's RealMLP; realmlp has no label smoothing. saint has attention "
    "between columns and stands beside the paper's SAINT: a row's score depends on that row alone. "
    "saint_rows has attention between rows too and scores a row against fixed training rows."
)
NOTES = {
    "tab:appendix_full_baselines": BASELINE_NOTE,
    "tab:appendix_region_quality_full": REGION_NOTE,
    "tab:extended_validation_compact_b": REGION_NOTE,
}


def build(study: Study, names: Sequence[str] | None = None) -> dict[str, Table]:
    """Return tables by label; all if none is named."""
    makers = {**TABLES, **OURS}
    for name in names or []:
        if name not in makers:
            raise InputError(f"there is no table {name!r}: choose one of {', '.join(makers)}.")
    return {name: study.once(name, makers[name]) for name in names or makers}


def write_tables(built: dict[str, Table], study: Study, folder: Path) -> None:
    """Write each table as Markdown, CSV and LaTeX, and all numbers seed by seed."""
    folder.mkdir(parents=True, exist_ok=True)
    for label, table in built.items():
        stem = folder / label.removeprefix("tab:")
        frame = wide(table)
        parts = [f"# {label}", *([NOTES[label]] if label in NOTES else []), markdown(frame)]
        write_text(stem.with_suffix(".md"), "\n\n".join(parts) + "\n")
        write_text(stem.with_suffix(".csv"), frame.rename_axis("row").to_csv())
        write_text(stem.with_suffix(".tex"), latex(frame, label) + "\n")
    write_text(folder / "runs.csv", runs_frame(study).to_csv(index=False))
    lines = pd.concat([tidy(label, table, study.seeds) for label, table in built.items()])
    write_text(folder / "seed_level.csv", lines.to_csv(index=False))


def runs_frame(study: Study) -> pd.DataFrame:
    """Return one line per run: its out-of-fold AUROC, seconds, peak memory and versions."""
    return pd.DataFrame([_run_line(study, key) for key in study.wanted()])


def _run_line(study: Study, key: RunKey) -> dict[str, Any]:
    report = study.store.report(key)
    try:
        return {
            "dataset": key.dataset,
            "seed": key.seed,
            "backbone": key.backbone,
            "oof_auroc": f"{report['oof_auroc']:.6f}",
            "seconds": f"{sum(report['seconds'].values()):.1f}",
            "peak_memory_mb": report["peak_memory_mb"],
            "settings_hash": report["settings_hash"],
            "versions": " ".join(f"{n}=={v}" for n, v in report["versions"].items()),
        }
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise InputError(
            f"the report of run {key} has changed since it was written: delete that run."
        ) from error


def beyond_tables(study: Study) -> dict[str, pd.DataFrame]:
    """Return the tables of what goes beyond the paper, by file name."""
    found = Beyond(study)
    if not found.done:
        raise InputError("the store has no scores beyond the paper: make them with 'bench run'.")
    return {
        "rankers": rankings(found),
        "grid": grid(found),
        "guarantee": guarantee(found),
        "risk_calibration": calibration(found),
        "risk_in_the_large": in_the_large(found),
        "permuted": permuted(found),
    }


def write_beyond(built: dict[str, pd.DataFrame], folder: Path) -> None:
    """Write each of them as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in built.items():
        write_text(folder / f"{name}.csv", frame.to_csv(index=False, float_format="%.6g"))


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
    rows = [["", *frame.columns], *frame.itertuples()]
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    lines.insert(1, "|---" * (frame.shape[1] + 1) + "|")
    return "\n".join(lines)


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
