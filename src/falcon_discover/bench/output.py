"""Build tables and write them in every format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from falcon_discover.bench.beyond import Beyond, grid, permuted, rankings
from falcon_discover.bench.contract import evaluation_contract
from falcon_discover.bench.loading import Study
from falcon_discover.bench.printed import implied_events
from falcon_discover.bench.promises import calibration, guarantee
from falcon_discover.bench.render import latex, markdown, tidy, wide
from falcon_discover.bench.risk_check import in_the_large
from falcon_discover.bench.store import RunKey
from falcon_discover.bench.tables import TABLES, Table
from falcon_discover.exceptions import InputError
from falcon_discover.runtime.atomic import write_text

# Tables that the paper does not have.
OURS = {"evaluation_contract": evaluation_contract, "implied_events": implied_events}
REGION_NOTE = (
    "Clusters are numbered by the confident errors of the rows they are judged on, as in the "
    "paper: top1_mass is the largest of six, and too high for new rows."
)
NOTES = {
    "tab:appendix_region_quality_full": REGION_NOTE,
    "tab:extended_validation_compact_b": REGION_NOTE,
}


def build(study: Study, names: Sequence[str] | None = None) -> dict[str, Table]:
    """Return tables by label; all if none is named."""
    makers = {**TABLES, **OURS}
    for name in names or []:
        if name not in makers:
            raise InputError(f"there is no table {name!r}; choose one of {', '.join(makers)}.")
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
            f"the report of run {key} is not as it was written: delete that run."
        ) from error


def beyond_tables(study: Study) -> dict[str, pd.DataFrame]:
    """Return the tables of what goes beyond the paper, by file name."""
    found = Beyond(study)
    if not found.done:
        raise InputError(
            "there are no scores beyond the paper in the store: 'bench run' makes them."
        )
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
