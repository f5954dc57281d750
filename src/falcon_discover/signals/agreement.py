"""Agreement: what the nearest reference rows are labelled and predicted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from falcon_discover.metrics.decisions import of_class
from falcon_discover.runtime.types import FloatArray, IntArray


def agreement_signals(
    decision: IntArray,
    neighbours: IntArray,
    reference_labels: npt.NDArray[np.int8],
    reference_decision: IntArray,
    n_classes: int = 2,
) -> dict[str, FloatArray]:
    """Return label agreement, prediction agreement and the share labelled as predicted.

    Label agreement is the largest class share among the neighbours (eq:label_agreement).
    Prediction agreement is the share whose own out-of-fold decision equals this row's.
    The share labelled as predicted is not part of the paper's state; it is what a reason in
    words needs.

    Parameters
    ----------
    decision : the class decided for each row
    neighbours : positions of its nearest reference rows
    reference_labels, reference_decision : of the reference rows

    Examples
    --------
    >>> agreement_signals(
    ...     np.array([1]), np.array([[0, 1, 2]]), np.array([1, 0, 0]), np.array([1, 1, 0])
    ... )["label_agreement"].round(3)
    array([0.667])
    """
    shares = _class_shares(reference_labels[neighbours], n_classes)
    alike = reference_decision[neighbours] == decision[:, None]
    return {
        "label_agreement": shares.max(axis=1),
        "prediction_agreement": alike.mean(axis=1, dtype=np.float64),
        "labelled_as_predicted": of_class(shares, decision),
    }


def _class_shares(labels: npt.NDArray[np.int8], n_classes: int) -> FloatArray:
    """Return how large a part of the labels in each row each class is."""
    later = [(labels == c).mean(axis=1, dtype=np.float64) for c in range(1, n_classes)]
    first = np.maximum(1.0 - np.sum(later, axis=0), 0.0)
    return np.column_stack([first, *later])
