"""Every table of the paper, from stored fields alone, by its LaTeX label."""

from __future__ import annotations

from collections.abc import Callable

from falcon_discover.bench.loading import Study
from falcon_discover.bench.tables.cells import Cell, Table
from falcon_discover.bench.tables.chance import interval_summary, null_concentration
from falcon_discover.bench.tables.extended import (
    extended_validation_a,
    extended_validation_b,
    fixed_backbone_full,
    full_baselines,
    perturbation_summary,
    region_quality_full,
    weighted_calibration_full,
)
from falcon_discover.bench.tables.main import (
    all_dataset_uncertainty,
    benchmark_synthesis,
    dataset_regimes,
    family_ablation,
    main_discrepancy_family,
    operational_robustness,
)

__all__ = ["TABLES", "Cell", "Table"]

TABLES: dict[str, Callable[[Study], Table]] = {
    "tab:main_discrepancy_family": main_discrepancy_family,
    "tab:operational_robustness": operational_robustness,
    "tab:family_ablation": family_ablation,
    "tab:extended_validation_compact_a": extended_validation_a,
    "tab:extended_validation_compact_b": extended_validation_b,
    "tab:appendix_benchmark_synthesis": benchmark_synthesis,
    "tab:dataset_regimes": dataset_regimes,
    "tab:appendix_full_baselines": full_baselines,
    "tab:appendix_fixed_backbone_full": fixed_backbone_full,
    "tab:appendix_interval_summary": interval_summary,
    "tab:appendix_region_quality_full": region_quality_full,
    "tab:appendix_weighted_calibration_full": weighted_calibration_full,
    "tab:appendix_perturbation_summary": perturbation_summary,
    "tab:all_dataset_uncertainty": all_dataset_uncertainty,
    "tab:null_concentration": null_concentration,
}
