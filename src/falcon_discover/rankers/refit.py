"""What a refit gains: how much less often the final model is wrong than its fold models were.

The risk is learned from fold models, each fitted without one part of the rows. New rows are judged
by the model that was refitted on all of them, which is a little better, so their risks are a little
too high. How much a part is worth is seen one step below: models that were fitted without two parts
score the same rows. A calibration of their own doubt, applied to the fold models, predicts too many
confident errors, and by how much is measured with no row beyond those of the fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from falcon_discover.metrics.decisions import Tau
from falcon_discover.metrics.design import summed
from falcon_discover.rankers.inputs import doubt as own_doubt
from falcon_discover.runtime import notices
from falcon_discover.runtime.threads import one_blas_thread
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.signals.state import State

# Before anything is measured, a refit is believed to change the odds of a confident error by about
# so much, up or down.
USUAL_GAIN = 0.15
# A gain that is carried one step further is believed to be off by about half of itself.
STEP_DOUBT = 0.5
# Two fits of one model err on other rows: beyond chance, the number of confident errors of the one
# that is in use differs by about so much from what such models do on average.
LUCK_OF_A_FIT = 0.08
# Confident errors, with and without one more part, below which nothing can be measured.
MIN_ERRORS = 8
# The shift of log-odds is looked for within these.
FURTHEST = 5.0


@dataclass(frozen=True)
class RefitGain:
    """By how much log-odds of an error fall when a model is refitted on all rows.

    Attributes
    ----------
    shift : of the log-odds; 0 for a model that was not refitted
    error : its standard error
    """

    shift: float = 0.0
    error: float = 0.0

    @classmethod
    def unknown(cls) -> RefitGain:
        """Return the gain of a model that was refitted, where nothing says by how much."""
        return cls(0.0, float(np.hypot(USUAL_GAIN, LUCK_OF_A_FIT)))

    def share(self, share: float) -> RefitGain:
        """Return the gain where only a share of what a risk learned from was judged by folds."""
        return RefitGain(share * self.shift, share * self.error)


# Of a model that was taken as it is.
NO_GAIN = RefitGain()


def refit_gain(
    state: State,
    codes: npt.NDArray[np.integer],
    reference_p: FloatArray,
    tau: Tau,
) -> RefitGain:
    """Return what refitting on all rows gains, by what one more part gained the fold models.

    Parameters
    ----------
    state, codes : the rows of a fit, as the fold models judge them, and their labels
    reference_p : one row per fold; in it the scores of the rows outside the fold, by models that
        saw neither it nor the row's own fold

    Examples
    --------
    >>> from dataclasses import replace
    >>> rng = np.random.default_rng(0)
    >>> n, fold = 20_000, np.arange(20_000) % 5
    >>> truth = rng.normal(0, 3, n)
    >>> codes = (rng.uniform(size=n) < expit(truth)).astype(int)
    >>> def scores(noise):
    ...     return expit(truth + rng.normal(0, noise, n))
    >>> state = replace(State.from_scores(scores(0.5)), fold=fold)
    >>> worse = np.stack([scores(1.0) for _ in range(5)])
    >>> gain, same = (refit_gain(state, codes, p, 0.9) for p in (worse, np.stack([state.p] * 5)))
    >>> round(gain.shift, 2), round(same.shift, 2)
    (0.14, 0.0)
    """
    fold = state.fold
    if fold is None or len(reference_p) < 3 or not np.isfinite(reference_p).all():
        return RefitGain.unknown()
    below = _Judged.all_of(state, codes, reference_p, fold, tau)
    own = _Judged.of(state, codes, tau, np.arange(len(state)))
    if min(own.errors, below.errors) < MIN_ERRORS:
        return RefitGain.unknown()
    step, error = _step(below, own, state)
    # Errors fall with one over the number of rows: from so many parts to all is a smaller step.
    parts = len(reference_p)
    ahead = (parts - 2) / parts
    # Models of one kind are confident about equally often, however many rows they have. Where they
    # are not (boosting that stops early from 10,000 rows on), one step says less about the next.
    apart = abs(math.log(own.total / below.total))
    doubt = math.hypot(ahead * error, STEP_DOUBT * ahead * step, apart)
    trust = USUAL_GAIN**2 / (USUAL_GAIN**2 + doubt**2)
    return RefitGain(trust * ahead * step, math.hypot(math.sqrt(trust) * doubt, LUCK_OF_A_FIT))


@dataclass(frozen=True, eq=False)
class _Judged:
    """Confident rows as some models judge them.

    Attributes
    ----------
    row : which row each is; a row may be judged by several models
    weight : how much each counts
    """

    doubt: FloatArray
    wrong: BoolArray
    row: IntArray
    weight: FloatArray

    @classmethod
    def of(cls, state: State, codes: npt.NDArray[np.integer], tau: Tau, row: IntArray) -> _Judged:
        sure = state.eligible(tau)
        weight = np.ones(len(state)) if state.weight is None else state.weight
        wrong = np.asarray(state.decision != codes)
        return cls(own_doubt(state)[sure], wrong[sure], row[sure], weight[sure])

    @classmethod
    def all_of(
        cls,
        state: State,
        codes: npt.NDArray[np.integer],
        reference_p: FloatArray,
        fold: IntArray,
        tau: Tau,
    ) -> _Judged:
        """Return the rows as the models without two parts judge them, all with one vote."""
        parts = []
        for number, p in enumerate(reference_p):
            rows = np.flatnonzero(fold != number)
            weight = np.ones(len(rows)) if state.weight is None else state.weight[rows]
            scored = State.from_scores(p[rows], state.threshold)
            judged = cls.of(scored, codes[rows], tau, rows)
            sure = scored.eligible(tau)
            parts.append((judged, weight[sure] / (len(reference_p) - 1)))
        return cls(
            np.concatenate([judged.doubt for judged, _ in parts]),
            np.concatenate([judged.wrong for judged, _ in parts]),
            np.concatenate([judged.row for judged, _ in parts]),
            np.concatenate([weight for _, weight in parts]),
        )

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    @property
    def errors(self) -> float:
        return float(self.weight @ self.wrong)

    @property
    def columns(self) -> FloatArray:
        return np.column_stack([np.ones(len(self.doubt)), self.doubt])


def _step(below: _Judged, own: _Judged, state: State) -> tuple[float, float]:
    """Return by how much one more part lowers the log-odds of an error, and its standard error.

    Both sets of models judge the same rows, so what chance did to these falls out: the error is
    that of the difference, from what each row (or group of rows) adds to it.
    """
    with one_blas_thread(), notices.solving():
        line = LogisticRegression(C=1e6, solver="newton-cholesky")
        line.fit(below.doubt[:, None], below.wrong, below.weight)
    theta = np.array([line.intercept_[0], line.coef_[0, 0]])
    foreseen = own.columns @ theta

    def excess(shift: float) -> float:
        return float(own.weight @ (expit(foreseen - shift) - own.wrong))

    if excess(-FURTHEST) <= 0 or excess(FURTHEST) >= 0:
        return 0.0, FURTHEST
    shift = float(brentq(excess, -FURTHEST, FURTHEST))
    left, there = expit(below.columns @ theta), expit(foreseen - shift)
    slack = own.weight * there * (1.0 - there)
    curvature = (below.columns * (below.weight * left * (1.0 - left))[:, None]).T @ below.columns
    pull = np.linalg.pinv(curvature) @ (slack @ own.columns)
    adds = np.bincount(own.row, own.weight * (there - own.wrong), len(state))
    adds += np.bincount(
        below.row, below.weight * (below.wrong - left) * (below.columns @ pull), len(state)
    )
    unit = np.arange(len(state)) if state.group is None else state.group
    return shift, float(
        np.sqrt((summed(unit, np.asarray(adds, dtype=np.float64)) ** 2).sum()) / slack.sum()
    )
