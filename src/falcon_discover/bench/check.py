"""Every printed number of the paper beside ours: verdicts, reasons, and what the paper's imply."""

from __future__ import annotations

import math
import tomllib
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from falcon_discover import datasets
from falcon_discover.bench import plan
from falcon_discover.bench.loading import Study
from falcon_discover.bench.tables import TABLES, Cell, Table
from falcon_discover.bench.verdicts import (
    AGREES,
    CAPTURE,
    CHANCE,
    CHOICE,
    DIFFERS,
    NULL,
    Comparison,
    compare,
    compare_chance,
    kind_of,
)
from falcon_discover.metrics import review_size
from falcon_discover.settings import PAPER

SAMPLE = "other data (a sample of MiniBooNE)"
NOT_RUN = "not run"

MAIN = "tab:main_discrepancy_family"
INTERVALS = "tab:all_dataset_uncertainty"
GAINS = "tab:appendix_interval_summary"
COUNTS = "tab:operational_robustness"
SYNTHESIS = "tab:appendix_benchmark_synthesis"
# Events of a split that are thought of where printed intervals imply their number.
MOST_EVENTS = 600
# In these the rows are figures and the columns data sets.
BY_FIGURE = (
    "tab:extended_validation_compact_a",
    "tab:extended_validation_compact_b",
    "tab:appendix_full_baselines",
)
# One figure under several names: what a table calls it, and what it is called here.
SAME = {
    (COUNTS, "delta_t90"): "delta_cap20",
    ("tab:extended_validation_compact_a", "full"): "learned",
    ("tab:extended_validation_compact_b", "top_support"): "support",
    ("tab:extended_validation_compact_b", "top_instability"): "instability",
    ("tab:extended_validation_compact_b", "failure_cap20"): "failure",
    ("tab:appendix_full_baselines", "best_prior"): "prior_cap20",
    ("tab:appendix_full_baselines", "best_family"): "family_cap20",
    (GAINS, "delta_mean"): "resampled_gain",
    (GAINS, "low"): "gain_low",
    (GAINS, "high"): "gain_high",
    ("tab:appendix_weighted_calibration_full", "delta_cap20"): "calibration_delta_cap20",
    ("tab:null_concentration", "observed"): "family_cap20",
}
# Whom a printed row stands beside. The paper does not say how it set RealMLP: it is taken to have
# its authors' defaults, with label smoothing.
BESIDE = {("tab:appendix_full_baselines", "realmlp"): "realmlp_smoothed"}
# What single numbers, made from all seeds at once, move with.
CENTRES = {"resampled_gain": "delta_cap20", "gain_low": "delta_cap20", "gain_high": "delta_cap20"}

Values = dict[str, dict[str, Any]]
Places = dict[tuple[str, str], Cell]


def paper_values() -> dict[str, Values]:
    """Return the paper's printed numbers: table, row, column."""
    text = files("falcon_discover.bench").joinpath("paper_values.toml").read_text()
    return {label: table for label, table in tomllib.loads(text).items() if label[:4] == "tab:"}


def figure_of(label: str, row: str, column: str) -> tuple[str, str]:
    """Return the data set and the name of the figure in a cell; equal figures have equal names.

    Examples
    --------
    >>> figure_of("tab:appendix_full_baselines", "best_family", "adult")
    ('adult', 'family_cap20')
    """
    if label == SYNTHESIS:
        return "all", row
    dataset, name = (column, row) if label in BY_FIGURE else (row, column)
    name = BESIDE.get((label, name), name)
    return dataset, SAME.get((label, name), name)


def check(study: Study) -> pd.DataFrame:
    """Return one line per printed number: ours, the paper's, their difference, the verdict."""
    tables = {label: study.once(label, make) for label, make in TABLES.items()}
    return judged(tables, sample=plan.SAMPLE in study.datasets)


def judged(tables: dict[str, Table], *, sample: bool = True) -> pd.DataFrame:
    """Return the check of tables by label; figures of MiniBooNE's `sample` are not judged."""
    printed = paper_values()
    ours = {label: _by_place(table) for label, table in tables.items()}
    known = {figure_of(MAIN, *place): cell for place, cell in ours[MAIN].items()}
    events = {row: c.mean for (row, column), c in ours[COUNTS].items() if column == "events"}
    # Counts and means over the data sets stand beside the paper's only if all seven are there.
    whole = {row for row, _ in ours[MAIN]} >= set(printed[MAIN])
    seen: dict[tuple[Any, ...], str] = {}
    lines = []
    for label, table in printed.items():
        for row, columns in table.items():
            for column, value in columns.items():
                dataset, figure = figure_of(label, row, column)
                own = (BESIDE.get((label, row), row), column)
                cell = ours[label].get(own) if whole or dataset != "all" else None
                spread = _spread(known, dataset, figure, cell)
                line = _line(
                    cell,
                    spread,
                    value,
                    figure,
                    half=_printed_half(printed, dataset, figure),
                    events=events.get(dataset, math.nan),
                )
                if sample and dataset in ("miniboone", "mean_of_three", "all"):
                    line["verdict"] = NOT_RUN if line["verdict"] == NOT_RUN else SAMPLE
                differs = line["verdict"] == DIFFERS
                lines.append(
                    {
                        "table": label,
                        "row": row,
                        "column": column,
                        "dataset": dataset,
                        "figure": figure,
                        "repeats": seen.setdefault((dataset, figure, value), label),
                        **line,
                        "reason": reason_of(label, dataset, figure) if differs else "",
                    }
                )
    frame = pd.DataFrame(lines)
    frame.loc[frame["repeats"] == frame["table"], "repeats"] = ""
    return frame


def counted(lines: pd.DataFrame) -> pd.DataFrame:
    """Return how many printed values have each verdict, all and without repetitions.

    A value that two tables print alike for one figure is one distinct value.
    """
    distinct = lines[lines["repeats"].fillna("") == ""]
    return pd.DataFrame(
        {"printed": lines["verdict"].value_counts(), "distinct": distinct["verdict"].value_counts()}
    ).sort_values("printed", ascending=False)


def _by_place(table: Table) -> Places:
    """Return the cells by row and column; MiniBooNE's sample takes MiniBooNE's place."""
    paper = {plan.SAMPLE: "miniboone"}
    return {
        (paper.get(cell.row, cell.row), paper.get(cell.column, cell.column)): cell for cell in table
    }


def _centre(figure: str) -> str:
    return CENTRES.get(figure, figure.removesuffix("_low").removesuffix("_high"))


def _spread(known: Places, dataset: str, figure: str, cell: Cell | None) -> tuple[float, ...]:
    """Return the seeds by which a figure is judged: its own, or those of what it moves with."""
    if cell is not None and len(cell.numbers) > 1:
        return cell.numbers
    centre = known.get((dataset, _centre(figure)))
    return () if centre is None else centre.numbers


def _printed_half(printed: dict[str, Values], dataset: str, figure: str) -> float | None:
    """Return half the interval that the paper prints for a figure, if it prints one."""
    if figure in CENTRES:
        row = printed[GAINS].get(dataset, {})
        low, high = row.get("low"), row.get("high")
    else:
        row = printed[INTERVALS].get(dataset, {})
        low, high = (row.get(f"{_centre(figure)}_{end}") for end in ("low", "high"))
    return None if low is None or high is None else (high - low) / 2


def _line(
    cell: Cell | None,
    spread: tuple[float, ...],
    paper: Any,
    figure: str,
    *,
    half: float | None = None,
    events: float = math.nan,
) -> dict[str, Any]:
    """Return what is known about one printed value, with its verdict.

    A share of events is not believed to be known better than to half an event of a split.

    Examples
    --------
    >>> _line(Cell("adult", "regime", text="mixed"), (), "strong", "regime")["verdict"]
    'differs'
    """
    kind = kind_of(figure)
    finest = 0.5 / events if kind in (CAPTURE, NULL) and events > 0 else 0.0
    seeds = [value for value in spread if np.isfinite(value)]
    line: dict[str, Any] = {
        "paper": paper,
        "paper_half_width": half,
        "ours": None,
        "seeds": len(seeds),
        "seed_sd": float(np.std(seeds, ddof=1)) if len(seeds) > 1 else None,
        "finest": finest,
    }
    if cell is None or cell.text == NOT_RUN:
        return {**line, **asdict(Comparison(np.nan, np.nan, np.nan, NOT_RUN))}
    line["ours"] = cell.text or round(cell.mean, 6)
    if kind is CHOICE:
        same = line["ours"] == paper
        found = Comparison(np.nan, np.nan, 0.0, AGREES if same else DIFFERS)
    elif kind is CHANCE:
        draws = PAPER.bootstrap_resamples if figure == "p_not_positive" else PAPER.null_draws
        found = compare_chance(cell.mean, paper, draws)
    else:
        found = compare(cell.mean, spread, paper, kind, half, finest)
    return {**line, **asdict(found)}


@dataclass(frozen=True)
class Reason:
    """One reason and where it holds.

    `cells` are patterns of "table dataset figure", with the table without its "tab:".
    """

    key: str
    title: str
    text: str
    cells: tuple[str, ...]

    def explains(self, label: str, dataset: str, figure: str) -> bool:
        """Return whether a cell is among those that the reason is known to hold for."""
        place = f"{label.removeprefix('tab:')} {dataset} {figure}"
        return any(fnmatchcase(place, pattern) for pattern in self.cells)


@cache
def reasons() -> tuple[Reason, ...]:
    """Return the reasons in the order in which they are tried; the last takes what is left."""
    text = files("falcon_discover.bench").joinpath("paper_reasons.toml").read_text()
    return tuple(
        Reason(key, entry["title"], entry["text"].strip(), tuple(entry["cells"]))
        for key, entry in tomllib.loads(text).items()
    )


def reason_of(label: str, dataset: str, figure: str) -> str:
    """Return the key of the first reason that holds for a cell.

    Examples
    --------
    >>> reason_of("tab:dataset_regimes", "magic_telescope", "regime")
    'regimes'
    """
    return next(r.key for r in reasons() if r.explains(label, dataset, figure))


def events_of_interval(rows: int, low: float, high: float) -> list[int]:
    """Return the numbers of events whose exact null interval has these bounds.

    Both bounds may be off by half an event, since the printed ones are means over seeds.

    Examples
    --------
    >>> found = events_of_interval(9_769, 0.132, 0.274)
    >>> 117 in found, 60 in found
    (True, False)
    """
    size = review_size(rows, PAPER.main_budget)
    events = np.arange(1, min(rows, MOST_EVENTS))
    possible = np.ones(len(events), dtype=bool)
    for bound, q in ((low, 0.025), (high, 0.975)):
        # The nearest whole number of events is the quantile of the null.
        count = np.floor(bound * events + 0.5)
        possible &= hypergeom.cdf(count, rows, events, size) >= q
        possible &= hypergeom.cdf(count - 1, rows, events, size) < q
    return events[possible].tolist()


def events_of_chance(rows: int, capture: float, chance: float) -> list[int]:
    """Return the numbers of events for which a capture has this exact p, to half an event."""
    size = review_size(rows, PAPER.main_budget)
    events = np.arange(1, min(rows, MOST_EVENTS))
    tails = [
        hypergeom.sf(np.ceil(capture * events + off) - 1, rows, events, size) for off in (-0.5, 0.5)
    ]
    return events[(tails[1] <= chance) & (chance <= tails[0])].tolist()


def implied_events(study: Study) -> Table:
    """Return the numbers of events that the printed null test implies, beside printed and ours."""
    values = paper_values()
    cells = []
    for name, null in values["tab:null_concentration"].items():
        rows = math.ceil(PAPER.test_share * datasets.entry(name).rows)
        printed = values["tab:operational_robustness"].get(name, {}).get("events")
        interval = events_of_interval(rows, null["null_low"], null["null_high"])
        # A p below what the draws can show is a bound and implies nothing.
        chance = null["p_simulated_pooled"]
        by_chance = (
            events_of_chance(rows, null["observed"], chance)
            if chance > 1 / PAPER.null_draws
            else []
        )
        cells += [
            Cell(name, "test_rows", text=f"{rows:,}"),
            Cell(name, "printed_interval", text=f"[{null['null_low']}, {null['null_high']}]"),
            Cell(name, "events_by_interval", text=_range(interval)),
            Cell(name, "printed_p", text=f"{chance:g}" if by_chance else f"< {chance:g}"),
            Cell(name, "events_by_p", text=_range(by_chance)),
            Cell(name, "events_printed", text="" if printed is None else f"{printed:g}"),
        ]
        if name in study.datasets:
            runs = study.runs(name)
            cells += [
                Cell(name, "events_here", tuple(float(run.events().sum()) for run in runs)),
                Cell(name, "all_errors_here", tuple(float(run.wrong.sum()) for run in runs)),
            ]
    return cells


def _range(events: list[int]) -> str:
    return f"{min(events)} to {max(events)}" if events else ""
