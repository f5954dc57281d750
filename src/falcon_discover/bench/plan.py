"""What the benchmark consists of: data sets, seeds, backbones, sweeps."""

from __future__ import annotations

from typing import Any

from falcon_discover.settings import PAPER
from falcon_discover.signals.catalogue import of_paper

# The paper's order of tables. The full MiniBooNE is run where a user can provide it.
DATASETS = (
    "adult",
    "bank_marketing",
    "miniboone_subset",
    "magic_telescope",
    "nomao",
    "spambase",
    "phoneme",
)
# Stands for MiniBooNE and is not it: means over "full data sets" leave it out.
SAMPLE = "miniboone_subset"
TITLES = {
    "adult": "Adult",
    "bank_marketing": "Bank Marketing",
    "miniboone": "MiniBooNE",
    "miniboone_subset": "MiniBooNE sample",
    "magic_telescope": "Magic Telescope",
    "nomao": "Nomao",
    "spambase": "Spambase",
    "phoneme": "Phoneme",
}
COMPARATOR = "lightgbm"
FIXED_BACKBONES = ("hist_gradient_boosting", "xgboost", "catboost")  # tab:appendix_fixed_backbone
BACKBONES = (*PAPER.candidates, COMPARATOR)

LAMBDAS = (0.05, 0.10, 0.20, 0.30)  # tab:extended_validation_compact_a, panel C
NEIGHBOURHOODS = (5, 10, 20)  # the same
# tab:extended_validation_compact_a, panel A: which signals each variant of the witness uses.
CERTAINTY = of_paper("confidence")
SUPPORT = of_paper("support", "neighbours")
STABILITY = of_paper("stability")
ABLATIONS = {
    "no_certainty": (*SUPPORT, *STABILITY),
    "no_support": (*CERTAINTY, *STABILITY),
    "no_stability": (*CERTAINTY, *SUPPORT),
    "certainty_only": CERTAINTY,
    "support_only": SUPPORT,
    "stability_only": STABILITY,
}


def at(tau: float) -> str:
    """Return the mark of a threshold in stored columns and tables.

    Examples
    --------
    >>> at(0.90)
    't90'
    """
    return f"t{round(100 * tau)}"


# The sweeps by the mark of their stored columns.
LAMBDA_MARKS = {f"l{round(100 * weight):02d}": weight for weight in LAMBDAS}
K_MARKS = {f"k{k}": k for k in NEIGHBOURHOODS}
SWEEPS = (*LAMBDA_MARKS, *K_MARKS)
PRIORS = ("confidence", "temperature", "platt", "isotonic", "beta", "trustscore")
FAMILY = ("learned", "s_disc", "s_stab")


# Folders of what goes beyond the paper, inside the store.
STATES, RANKERS, ACTIONS = "states", "rankers", "actions"
# Stronger predictors, frozen, and the trees to compare them with.
FROZEN = "frozen"
DEEP_MODELS = ("ft_transformer", "realmlp", "realmlp_smoothed", "saint", "saint_rows")
FROZEN_MODELS = ("lightgbm", "xgboost", *DEEP_MODELS)
# Beyond the paper: the thresholds and base models over which the ranker must hold.
GRID_TAUS = (0.80, 0.85, 0.90, 0.95)
GRID_BACKBONES = (
    "xgboost",
    "catboost",
    "logistic_regression",
    "hist_gradient_boosting",
    "random_forest",
)


def settings() -> dict[str, Any]:
    """Return everything that decides the numbers of a run; its hash marks the store."""
    return {
        **PAPER.to_dict(),
        "bench_lambdas": list(LAMBDAS),
        "bench_neighbourhoods": list(NEIGHBOURHOODS),
        "bench_ablations": {name: list(signals) for name, signals in ABLATIONS.items()},
        "bench_version": 1,
    }
