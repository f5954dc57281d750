"""Probabilities as log-odds."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER


def clipped_logit(p: FloatArray, clip: float = PAPER.logit_clip) -> FloatArray:
    """Return the log-odds of probabilities that are clipped to stay finite.

    Examples
    --------
    >>> clipped_logit(np.array([0.0, 0.5, 0.9]), clip=0.01).round(2)
    array([-4.6,  0. ,  2.2])
    """
    return np.asarray(logit(np.clip(p, clip, 1.0 - clip)))
