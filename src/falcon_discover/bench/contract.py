"""The paper's evaluation contract: what would confirm or falsify its claim, per data set.

Four conditions, all against the validation-selected prior: FalseConf-AUROC improves, Capture@20
improves, the gain is positive at every threshold, and the leading region has a discrepancy profile
(less support or agreement, or more instability, than the other eligible rows, in every seed). The
claim is supported if all hold, falsified if neither ranking figure improves or if random slices
catch as much (exact p of all seeds together above 0.05), and weakened otherwise. Gated confidence
stands beside it, since it needs neither labels nor a state.
"""

from __future__ import annotations

import numpy as np

from falcon_discover.bench import plan
from falcon_discover.bench.loading import Run, Study
from falcon_discover.bench.tables import TABLES
from falcon_discover.bench.tables.cells import Cell, Table, per_seed
from falcon_discover.settings import PAPER

PROFILE = {"support": -1, "label_agreement": -1, "mean_drift": 1}


def evaluation_contract(study: Study) -> Table:
    """Return the verdict of each data set with the figures that decide."""
    main = _means(study, "tab:main_discrepancy_family")
    gains = _means(study, "tab:operational_robustness")
    null = _means(study, "tab:null_concentration")
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        stable = all(gains[name, f"delta_{plan.at(tau)}"] > 0 for tau in PAPER.taus)
        profile = _profile(runs)
        conditions = {
            "auroc_improves": main[name, "delta_auroc"] > 0,
            "capture_improves": main[name, "delta_cap20"] > 0,
            "stable_over_thresholds": stable,
            "region_has_a_profile": bool(profile),
        }
        diffuse = null[name, "p_exact_pooled"] > 0.05
        cells += [Cell(name, key, text=_word(value)) for key, value in conditions.items()]
        cells += [
            Cell(name, "profile", text=", ".join(profile) or "none"),
            Cell(name, "delta_auroc", (main[name, "delta_auroc"],)),
            Cell(name, "delta_cap20", (main[name, "delta_cap20"],)),
            Cell(name, "p_exact_pooled", (null[name, "p_exact_pooled"],)),
            Cell(name, "verdict", text=_verdict(conditions, diffuse=diffuse)),
            per_seed(
                name,
                "delta_gated_over_family",
                runs,
                lambda r: r.capture("gated_confidence") - r.capture(r.family()),
            ),
        ]
    return cells


def _means(study: Study, table: str) -> dict[tuple[str, str], float]:
    return {(cell.row, cell.column): cell.mean for cell in study.once(table, TABLES[table])}


def _profile(runs: list[Run]) -> list[str]:
    """Return the signals in which the leading region differs as expected, in every seed."""
    held = []
    for signal, direction in PROFILE.items():
        gaps = []
        for run in runs:
            test = run.part("test")
            eligible = (test["confidence"] >= PAPER.tau).to_numpy()
            top = (test["region"] == 1).to_numpy()
            values = test[signal].to_numpy()
            if (top & eligible).any() and (~top & eligible).any():
                gaps.append(values[top & eligible].mean() - values[~top & eligible].mean())
        if gaps and all(np.sign(gap) == direction for gap in gaps):
            held.append(signal)
    return held


def _verdict(conditions: dict[str, bool], *, diffuse: bool) -> str:
    if diffuse or not (conditions["auroc_improves"] or conditions["capture_improves"]):
        return "falsified"
    return "supported" if all(conditions.values()) else "weakened"


def _word(value: bool) -> str:
    return "yes" if value else "no"
