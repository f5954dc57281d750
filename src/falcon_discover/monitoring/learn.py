"""`learn`: a new audit whose ranking and risk also learned from reviewed rows.

The correction itself, and why rows that were chosen by their risk may teach it, is in
`falcon_discover.rankers.correction`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from falcon_discover import rankers
from falcon_discover.audit.absent import LEFT_OUT
from falcon_discover.audit.fitted import DUPLICATE_DISTANCE, FittedAudit, share_of_twins
from falcon_discover.audit.learned import Learned
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import review_order, review_size
from falcon_discover.rankers import GatedRisk
from falcon_discover.rankers.correction import LEVEL_COLUMNS, LEVEL_PRECISION
from falcon_discover.rankers.training import LabelledState
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.signals.state import State

# The top of the list whose rows are compared before and after.
TOP_SHARE = 0.05
# In a table where most rows occur more than once, rows of the fit cannot be told from new ones.
MANY_TWINS = 0.5


def check_can_learn(audit: FittedAudit) -> None:
    """Raise if an audit lacks what it takes to learn from reviewed rows."""
    if not audit.has_rows:
        raise InputError(f"learning from reviewed rows needs {LEFT_OUT}")
    if not isinstance(rankers.make(audit.spec), GatedRisk):
        raise InputError(
            f"the ranker {rankers.name_of(audit.spec)!r} estimates no risk that reviewed rows "
            "could correct: fit the audit with ranker='auto'."
        )


def enough_marks(judged: int, wrong: int) -> bool:
    """Return whether marks say more about the level of the risk than is believed without them.

    Marks of which `wrong` are wrong know the log-odds of an error with the precision
    `wrong * right / judged`; a correction begins with a belief of its own about its level.

    Examples
    --------
    >>> enough_marks(30, 6), enough_marks(50, 10), enough_marks(50, 0)
    (False, True, False)
    """
    return judged > 0 and wrong * (judged - wrong) / judged >= LEVEL_COLUMNS * LEVEL_PRECISION


def learned(audit: FittedAudit, reviewed: LabelledState) -> FittedAudit:
    """Return the audit with what reviewed rows teach; the given one stays as it is.

    Parameters
    ----------
    reviewed : rows as the audit measures new ones, with their labels; a label may be `UNKNOWN`
    """
    check_can_learn(audit)
    fresh = _is_new(audit, reviewed)
    new = LabelledState(reviewed.state.take(fresh), reviewed.codes[fresh])
    sure = new.state.eligible(audit.tau)
    if not sure.any():
        raise InputError(_nothing_new(fresh))
    before = audit.ranker
    training = audit.training.learning(new)
    assert training.reviewed is not None
    other = replace(audit, training=training)
    after = other.ranker
    assert isinstance(before, GatedRisk)
    assert isinstance(after, GatedRisk)
    seen, eligible = training.reviewed, training.reviewed.state.eligible(audit.tau)
    fit_rows = len(audit.training.oof.codes)
    confident = audit.training.oof.state.eligible(audit.tau)
    top, still = (_top(audit, ranker.held_out_[:fit_rows]) for ranker in (before, after))
    return replace(
        other,
        learned=Learned(
            rounds=1 if audit.learned is None else audit.learned.rounds + 1,
            rows=int(eligible.sum()),
            wrong=int((seen.errors() & eligible).sum()),
            new_rows=int(sure.sum()),
            new_wrong=int((new.errors() & sure).sum()),
            expected=float(before.risk(new.state).sum()),
            below=int((~sure).sum()),
            already_known=int((~fresh).sum()),
            rate_before=_mean(before.held_out_risk_[:fit_rows], confident, audit),
            rate_after=_mean(after.held_out_risk_[:fit_rows], confident, audit),
            top=len(top),
            top_kept=len(np.intersect1d(top, still)),
        ),
    )


def _is_new(audit: FittedAudit, rows: LabelledState) -> BoolArray:
    """Return which rows are neither rows of the fit nor rows that were learned from before.

    They are told by their values, never by their labels, so leaving them out is fair. Where many
    rows are alike, only a file that is given again, or has grown, can be told.
    """
    told_apart = share_of_twins(audit.training.oof.state) <= MANY_TWINS
    fresh = np.ones(len(rows.codes), dtype=np.bool_)
    if told_apart or audit.are_rows_of_fit(rows.state):
        distance = rows.state.evidence["nearest_distance"].to_numpy()
        fresh &= ~(distance < DUPLICATE_DISTANCE)
    before = audit.training.reviewed
    if before is None:
        return fresh
    if told_apart:
        known = set(_contents(before.state))
        fresh &= np.array([row not in known for row in _contents(rows.state)], dtype=np.bool_)
    else:
        left = np.flatnonzero(fresh)
        again = _given_again(before, LabelledState(rows.state.take(left), rows.codes[left]))
        fresh[left[again]] = False
    return fresh


def _given_again(before: LabelledState, rows: LabelledState) -> BoolArray:
    """Return which rows are a run of earlier ones, in their order and with their labels.

    Either all of them are, or there are all of the earlier ones among them.
    """
    again = np.zeros(len(rows.codes), dtype=np.bool_)
    if not len(again):
        return again
    old, new = (_contents(one.state, one.codes) for one in (before, rows))
    if len(new) <= len(old):
        again[:] = _place(new, old) is not None
    elif (place := _place(old, new)) is not None:
        again[place : place + len(old)] = True
    return again


def _place(run: list[bytes], among: list[bytes]) -> int | None:
    """Return where a run of rows begins among others, or None."""
    wanted, every, width = b"".join(run), b"".join(among), len(run[0])
    found = every.find(wanted)
    # Bytes may also agree across the borders of rows.
    while found >= 0 and found % width:
        found = every.find(wanted, found + 1)
    return None if found < 0 else found // width


def _contents(state: State, *more: npt.NDArray[np.integer]) -> list[bytes]:
    """Return what tells rows apart: their transformed features, the model's scores, and more."""
    p = state.p.reshape(len(state), -1)
    features = np.empty((len(state), 0)) if state.features is None else state.features
    every = np.column_stack([p, features.astype(np.float64), *more])
    return [row.tobytes() for row in np.ascontiguousarray(every, dtype=np.float64)]


def _nothing_new(fresh: BoolArray) -> str:
    if not fresh.any():
        return (
            "the audit knows these rows already: it was fitted on them, or has learned from them. "
            "Give rows that were reviewed since."
        )
    return (
        f"none of the {int(fresh.sum()):,} new rows is a confident prediction: there is nothing "
        "to learn about confident errors."
    )


def _top(audit: FittedAudit, suspicion: FloatArray) -> IntArray:
    """Return the rows of the fit that are reviewed first."""
    ties = audit.examine().ties
    return review_order(suspicion, ties)[: review_size(len(suspicion), TOP_SHARE)]


def _mean(risk: FloatArray, confident: BoolArray, audit: FittedAudit) -> float:
    """Return the mean risk of the confident rows of the fit; 0 where there are none."""
    weight = audit.training.oof.state.weight
    counts = confident.astype(np.float64) if weight is None else confident * weight
    return float(counts @ risk / counts.sum()) if counts.sum() else 0.0
