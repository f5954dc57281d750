"""The rows of the paper's protocol: training, validation and test."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from falcon_discover.runtime.types import IntArray
from falcon_discover.settings import PAPER


def paper_split(y: Any, seed: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return positions of the training, validation and test rows of the paper's protocol.

    Examples
    --------
    >>> [len(part) for part in paper_split(np.tile([0, 1], 500), seed=7)]
    [700, 100, 200]
    """
    y = np.asarray(y)
    rest, test = train_test_split(
        np.arange(len(y)), test_size=PAPER.test_share, stratify=y, random_state=seed
    )
    train, validation = train_test_split(
        rest,
        test_size=PAPER.validation_share_of_rest,
        stratify=y[rest],
        random_state=seed + PAPER.validation_seed_offset,
    )
    return train, validation, test
