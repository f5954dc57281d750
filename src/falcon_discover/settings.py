"""Every number of the paper's study, and of our decisions where the paper is silent.

Nothing else in the package repeats these values. The comment on each field says where it
comes from: an equation or table of the paper by its LaTeX label, "artifact" for the authors'
public artifact, or "ours" for a decision of this project.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


def _weights(**values: float) -> Any:
    """Return a dataclass default for a read-only mapping."""
    return field(default_factory=lambda: MappingProxyType(values))


@dataclass(frozen=True)
class PaperSettings:
    """The constants of the FALCON-Discover study in one frozen record.

    Examples
    --------
    >>> from falcon_discover import PAPER
    >>> PAPER.tau, PAPER.budgets
    (0.9, (0.05, 0.1, 0.15, 0.2))
    """

    # Protocol
    seeds: tuple[int, ...] = (7, 13, 21, 42)  # artifact
    test_share: float = 0.20  # artifact: first stratified split, random_state=seed
    validation_share_of_rest: float = 0.125  # artifact: second split, 10% of all rows
    validation_seed_offset: int = 17  # artifact: random_state=seed + 17
    n_folds: int = 5  # Experimental Design: "five-fold cross-fitting"
    candidates: tuple[str, ...] = (  # Method: the candidate library, in the paper's order
        "logistic_regression",
        "random_forest",
        "extra_trees",
        "hist_gradient_boosting",
        "mlp",
        "xgboost",
        "catboost",
    )

    # Event and review
    decision_threshold: float = 0.5  # eq:hard_prediction
    tau: float = 0.90  # Experimental Design: the main threshold
    taus: tuple[float, ...] = (0.85, 0.90, 0.95)  # tab:operational_robustness
    budgets: tuple[float, ...] = (0.05, 0.10, 0.15, 0.20)  # Experimental Design
    main_budget: float = 0.20  # tab:main_discrepancy_family: Capture@20

    # State
    support_quantiles: tuple[float, float] = (0.50, 0.95)  # eq:support
    support_epsilon: float = 1e-6  # eq:support_distance has an epsilon without a value; ours
    n_neighbors: int = 25  # artifact: neighbours for agreement
    n_mix_neighbors: int = 6  # artifact: neighbours that are mixed in
    mix: tuple[float, ...] = (0.10, 0.20, 0.30)  # eq:perturbation; all are used, ours
    logit_clip: float = 1e-6  # eq:logit_var needs finite logits; ours

    # Rankers
    stability_weights: Mapping[str, float] = _weights(  # eq:stability_score
        mean_drift=0.7, label_inconsistency=0.3
    )
    discrepancy_weights: Mapping[str, float] = _weights(  # eq:analytic_discrepancy
        confidence=1.30,
        mean_drift=1.00,
        max_drift=0.80,
        label_inconsistency=1.00,
        missing_support=0.80,
        label_disagreement=0.70,
    )
    witness_eta: float = 2.0  # eq:weights leaves eta open; artifact
    witness_c: float = 1.0  # artifact: L2 logistic regression, C=1
    failure_weight: float = 2.0  # artifact: weight of errors in the failure predictor

    # Regions
    n_regions: int = 6  # artifact: k-means clusters
    region_n_init: int = 20  # artifact: k-means restarts

    # Calibration
    calibration_weights: Mapping[str, float] = _weights(  # eq:cal_weight
        confidence=1.2,
        missing_support=1.0,
        label_disagreement=0.9,
        mean_drift=1.2,
        label_inconsistency=1.0,
        false_confidence=2.0,
    )
    calibration_weight_floor: float = 0.5  # artifact: lower clip of w_cal in training
    calibration_weight_quantile: float = 0.98  # artifact: upper clip, a quantile of w_cal
    platt_c: float = 1.0  # artifact: weighted Platt is logistic regression on logit(p), C=1
    ece_bins: int = 15  # artifact: equal-width bins on confidence

    # Inference
    bootstrap_resamples: int = 300  # artifact: resamples for gains
    null_draws: int = 10_000  # Null Concentration Test: B = 10,000
    interval_level: float = 0.95  # tab:all_dataset_uncertainty

    # Regimes, made checkable; all ours
    boundary_events: int = 30  # fewer calibration events than this is a boundary regime
    strong_mass: tuple[float, float] = (0.01, 0.30)  # slice mass of a strong regime
    strong_gain: float = 0.10  # family over prior in Capture@20, on validation

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain dicts, lists and numbers.

        Examples
        --------
        >>> PaperSettings().to_dict()["stability_weights"]
        {'mean_drift': 0.7, 'label_inconsistency': 0.3}
        """
        # dataclasses.asdict cannot copy a read-only mapping.
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


PAPER = PaperSettings()
