"""Agreement: what the nearest reference rows are labelled and predicted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.settings import PAPER


def agreement_signals(
    p: FloatArray,
    neighbours: IntArray,
    reference_labels: npt.NDArray[np.int8],
    reference_p: FloatArray,
) -> dict[str, FloatArray]:
    """Return label agreement, prediction agreement and the share labelled as predicted.

    Label agreement is the larger class share among the neighbours (eq:label_agreement).
    Prediction agreement is the share whose own out-of-fold decision equals this row's.
    The share labelled as predicted is not part of the paper's state; it is what a reason in
    words needs.

    Examples
    --------
    >>> agreement_signals(
    ...     np.array([0.9]), np.array([[0, 1, 2]]), np.array([1, 0, 0]), np.array([0.8, 0.7, 0.1])
    ... )["label_agreement"].round(3)
    array([0.667])
    """
    decision = p >= PAPER.decision_threshold
    positive = reference_labels[neighbours].mean(axis=1, dtype=np.float64)
    alike = (reference_p >= PAPER.decision_threshold)[neighbours] == decision[:, None]
    return {
        "label_agreement": np.maximum(positive, 1.0 - positive),
        "prediction_agreement": alike.mean(axis=1, dtype=np.float64),
        "labelled_as_predicted": np.where(decision, positive, 1.0 - positive),
    }
