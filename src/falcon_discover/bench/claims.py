"""The paper's evaluation contract: what would confirm or falsify its claim, per data set.

Four conditions, all against the validation-selected prior: FalseConf-AUROC improves, Capture@20
improves, the gain is positive at every threshold, and the leading region has a discrepancy profile
(less support or agreement, or more instability, than the other eligible rows). A fifth one
is that random slices catch less. Each holds (yes), fails (no), or four seeds cannot tell: it
holds if the t interval over seeds lies above 0, and fails if it lies below. Three signals are
tried for a profile, so each has a third of the error. The claim is supported if all hold,
falsified if both ranking figures fail, weakened if any other condition does; otherwise nobody can
tell. Gated confidence stands beside it, since it needs neither labels nor a state.
"""

from __future__ import annotations

from collections.abc import Sequence

from falcon_discover.bench import plan
from falcon_discover.bench.loading import Run, Study
from falcon_discover.bench.tables import TABLES
from falcon_discover.bench.tables.cells import Cell, Table, per_seed
from falcon_discover.bench.verdicts import CANNOT_TELL, SIGNIFICANT, seed_half_width
from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import BY_NAME

PROFILE = {name: BY_NAME[name].sign for name in ("support", "label_agreement", "mean_drift")}
YES, NO = "yes", "no"


def evaluation_contract(study: Study) -> Table:
    """Return the verdict of each data set with the figures that decide."""
    main = _cells(study, "tab:main_discrepancy_family")
    gains = _cells(study, "tab:operational_robustness")
    null = _cells(study, "tab:null_concentration")
    cells = []
    for name in study.datasets:
        runs = study.runs(name)
        profile = _profile(runs)
        chance = null[name, "p_exact_pooled"].mean
        conditions = {
            "auroc_improves": _above_zero(main[name, "delta_auroc"].numbers),
            "capture_improves": _above_zero(main[name, "delta_cap20"].numbers),
            "stable_over_thresholds": _all_of(
                [_above_zero(gains[name, f"delta_{plan.at(tau)}"].numbers) for tau in PAPER.taus]
            ),
            "region_has_a_profile": _any_of(list(profile.values())),
            "beats_random_slices": _beats_chance(chance),
        }
        held = [signal for signal, word in profile.items() if word == YES]
        cells += [Cell(name, key, text=word) for key, word in conditions.items()]
        cells += [
            Cell(name, "profile", text=", ".join(held) or "none"),
            *_with_interval(name, "delta_auroc", main[name, "delta_auroc"].numbers),
            *_with_interval(name, "delta_cap20", main[name, "delta_cap20"].numbers),
            Cell(name, "p_exact_pooled", (chance,)),
            Cell(name, "verdict", text=_verdict(conditions)),
            per_seed(
                name,
                "delta_gated_over_family",
                runs,
                lambda r: r.capture("gated_confidence") - r.capture(r.family()),
            ),
        ]
    return cells


def _cells(study: Study, table: str) -> dict[tuple[str, str], Cell]:
    return {(cell.row, cell.column): cell for cell in study.once(table, TABLES[table])}


def _with_interval(row: str, column: str, seeds: tuple[float, ...]) -> Table:
    cell = Cell(row, column, seeds)
    half = seed_half_width(seeds)
    return [
        cell,
        Cell(row, f"{column}_low", (cell.mean - half,)),
        Cell(row, f"{column}_high", (cell.mean + half,)),
    ]


def _above_zero(seeds: Sequence[float], level: float = PAPER.interval_level) -> str:
    """Return whether the mean of seeds is above 0 by its interval.

    Examples
    --------
    >>> _above_zero((0.50, 0.55, 0.60, 0.52)), _above_zero((0.7, 0.0, -0.1, 0.2))
    ('yes', 'cannot tell')
    """
    half, mean = seed_half_width(seeds, level), Cell("", "", tuple(seeds)).mean
    if mean - half > 0:
        return YES
    return NO if mean + half < 0 else CANNOT_TELL


def _all_of(words: Sequence[str]) -> str:
    if NO in words:
        return NO
    return YES if set(words) == {YES} else CANNOT_TELL


def _any_of(words: Sequence[str]) -> str:
    if YES in words:
        return YES
    return NO if set(words) == {NO} else CANNOT_TELL


def _beats_chance(chance: float) -> str:
    """Return whether random slices catch less, by the chance that they catch as much."""
    if chance < SIGNIFICANT:
        return YES
    return NO if chance > 1 - SIGNIFICANT else CANNOT_TELL


def _profile(runs: list[Run]) -> dict[str, str]:
    """Return for each signal whether the leading region differs in it as expected."""
    level = 1 - SIGNIFICANT / len(PROFILE)
    words = {}
    for signal, direction in PROFILE.items():
        gaps = []
        for run in runs:
            test = run.part("test")
            eligible = (test["confidence"] >= PAPER.tau).to_numpy()
            top = (test["region"] == 1).to_numpy()
            values = test[signal].to_numpy()
            if (top & eligible).any() and (~top & eligible).any():
                gap = values[top & eligible].mean() - values[~top & eligible].mean()
                gaps.append(direction * float(gap))
        words[signal] = _above_zero(gaps, level) if gaps else CANNOT_TELL
    return words


def _verdict(conditions: dict[str, str]) -> str:
    if conditions["auroc_improves"] == conditions["capture_improves"] == NO:
        return "falsified"
    if NO in conditions.values():
        return "weakened"
    return "supported" if set(conditions.values()) == {YES} else CANNOT_TELL
