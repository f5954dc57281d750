"""Whether scores can be what they are said to be: the right way round, of rows not learned from.

Nothing here is certain. Each check has a high threshold, so that an honest model is rarely accused
(`docs/limits.md` has the measured rates), and each ends in a sentence that says what to do.
"""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from falcon_discover.data.labels import label_repr
from falcon_discover.metrics import fc_auroc
from falcon_discover.metrics.clustered import area_interval
from falcon_discover.metrics.intervals import upper_bound
from falcon_discover.runtime.types import FloatArray
from falcon_discover.signals.catalogue import OPINIONS
from falcon_discover.signals.state import State

# Scores are backwards below this AUROC, where chance explains it less than once in a thousand.
# A useless model has an AUROC near 0.5 and is left alone.
BACKWARDS = 0.4
BACKWARDS_LEVEL = 0.998
FEWEST_OF_A_CLASS = 10
# Scores look learned by heart where they leave at most this part of what second opinions leave
# between their AUROC and 1, and are right on at least this share of the rows on which every opinion
# is wrong: many of those have an unusual label, which only memory gets right.
LEFT_BY_MEMORY = 0.05
RIGHT_BY_MEMORY = 0.6
THE_LABELS = (
    "These scores are the labels themselves: each is 0 or 1 and equals its row's label. Pass the "
    "probabilities that the model predicted."
)


def alerts(
    state: State, codes: npt.NDArray[np.int8], classes: npt.NDArray[Any], scored: int = 1
) -> tuple[str, ...]:
    """Return what is wrong with the scores of labelled rows, in sentences; mostly nothing.

    The score in `state` is the probability of the last of `classes`; `scored` says of which of them
    it was when it was given.

    Examples
    --------
    >>> p = np.linspace(0.01, 0.99, 100)
    >>> alerts(State.from_scores(p), (p < 0.5).astype(np.int8), np.array(["no", "yes"]))[0][:56]
    'These scores rank the labels backwards (AUROC 0.00). If '
    """
    if state.p.ndim == 2:
        return _of_more_classes(state, codes)
    if len(codes) and np.array_equal(state.p, codes):
        return (THE_LABELS,)
    found = _backwards(state, codes, classes, scored), _learned_by_heart(state, codes)
    return tuple(alert for alert in found if alert)


def _of_more_classes(state: State, codes: npt.NDArray[np.int8]) -> tuple[str, ...]:
    """Return what is wrong with the scores of more than two classes."""
    n_classes = state.n_classes
    if len(codes) and np.array_equal(state.p, np.eye(n_classes)[codes]):
        return (THE_LABELS,)
    right = int((state.decision == codes).sum())
    # Guessing is right in about one of as many rows as there are classes, or more often.
    if upper_bound(right, len(codes), BACKWARDS_LEVEL) >= BACKWARDS / n_classes:
        return ()
    return (
        f"These scores are right in {right:,} of {len(codes):,} rows, less often than a guess "
        f"among {n_classes} classes. Check that the columns are in the order of the classes.",
    )


def _backwards(
    state: State, codes: npt.NDArray[np.int8], classes: npt.NDArray[Any], scored: int
) -> str | None:
    if np.bincount(codes, minlength=2).min() < FEWEST_OF_A_CLASS:
        return None
    area = fc_auroc(codes, state.p, sample_weight=state.weight)
    highest = area_interval(codes, state.p, state.design, BACKWARDS_LEVEL)[1]
    if area >= BACKWARDS or not highest < 0.5:
        return None
    head = f"These scores rank the labels backwards (AUROC {area:.2f})."
    if state.has_stability:
        return (
            f"{head} Check that {label_repr(classes[0])} and {label_repr(classes[1])} mean the "
            "same in the model as in the labels."
        )
    other = classes[1 - scored]
    return (
        f"{head} If they are the probability of {label_repr(other)}, add --positive "
        f"{shlex.quote(str(other))} (in Python: positive={label_repr(other)})."
    )


def _learned_by_heart(state: State, codes: npt.NDArray[np.int8]) -> str | None:
    """Return a sentence where scores are far better than models cross-fitted on the same rows."""
    names = [name for name in OPINIONS.values() if name in state.evidence]
    if not names or len(np.unique(codes)) < 2:
        return None
    sign = np.where(state.decision, 1.0, -1.0)[:, None]
    odds = sign * state.evidence[names].to_numpy(dtype=np.float64)
    reached, missed = second_opinions(codes, expit(odds))
    area, right = fc_auroc(codes, state.p), state.decision == codes
    if not by_heart(area, reached, right[missed]):
        return None
    return (
        "The model seems to have been trained on these rows: its AUROC is "
        f"{area:.3f}, while models cross-fitted on the same rows reach {reached:.2f}, and it is "
        f"right on {int(right[missed].sum()):,} of {int(missed.sum()):,} rows that all of those "
        "get wrong. If so, its errors are hidden and no figure here is valid: audit rows that it "
        "was not trained on. If not, it uses more than the columns of this table."
    )


def second_opinions(
    codes: npt.NDArray[np.int8], opinions: FloatArray
) -> tuple[float, npt.NDArray[np.bool_]]:
    """Return the best AUROC of other models' scores, and the rows that all of them get wrong."""
    areas = [fc_auroc(codes, scores) for scores in opinions.T]
    areas.append(fc_auroc(codes, np.log(opinions / (1.0 - opinions)).mean(axis=1)))
    return max(areas), np.all((opinions >= 0.5) != codes[:, None], axis=1)


def by_heart(area: float, reached: float, right: npt.NDArray[np.bool_]) -> bool:
    """Return whether scores are better than an honest model's can be expected to be.

    `area` is their AUROC, `reached` the best of models cross-fitted on the same rows, and `right`
    says where the scores are right, on the rows that all those models get wrong.
    """
    wrong = len(right) - int(right.sum())
    enough = 1.0 - upper_bound(wrong, len(right)) >= RIGHT_BY_MEMORY if len(right) else False
    return 1.0 - area <= LEFT_BY_MEMORY * (1.0 - reached) and enough
