"""The paper's finite-sample quantities and their neighbours: arrays in, numbers out.

A score is always a suspicion: higher is reviewed first. Where a quantity is not defined (no
event, no eligible row) it is NaN, never 0 and never an exception.
"""

from falcon_discover.metrics.calibration import brier, cumulative_calibration_error, ece, nll
from falcon_discover.metrics.decisions import (
    confidence,
    decided,
    false_confidence,
    gated,
    gated_confidence,
    surprise,
)
from falcon_discover.metrics.ranking import (
    SEVERE_TAUS,
    aurc,
    capture_at,
    captured_surprise,
    eligible_auroc,
    eligible_average_precision,
    errors_among_surest,
    fc_auroc,
    fc_count_at,
    label_auroc,
    review_order,
    review_size,
)

__all__ = [
    "SEVERE_TAUS", "aurc", "brier", "capture_at", "captured_surprise", "confidence",
    "cumulative_calibration_error", "decided", "ece", "eligible_auroc",
    "eligible_average_precision", "errors_among_surest", "false_confidence", "fc_auroc",
    "fc_count_at", "gated", "gated_confidence", "label_auroc", "nll", "review_order",
    "review_size", "surprise",
]  # fmt: skip
